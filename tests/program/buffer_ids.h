#pragma once

#include <cstdint>

#include "compiler/vertex/vertex_state.h"

namespace superstep {

constexpr BufferId B(std::uint32_t number) { return BufferId{number}; }

}  // namespace superstep
