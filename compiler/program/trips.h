#pragma once

#include <cstdint>
#include <optional>

#include "compiler/program/program.h"

namespace superstep {

/// How often the body of a loop runs each time that the loop does, where constants say so: a word
/// that begins with one, is counted up or down by one and compared with one.
[[nodiscard]] std::optional<std::uint64_t> trips_of(const Loop& loop);

}  // namespace superstep
