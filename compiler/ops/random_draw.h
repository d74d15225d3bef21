#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/graph/graph.h"

namespace superstep {

/// Whether an op draws numbers of a hidden state.
[[nodiscard]] bool is_random_draw(const Op& op);

/// An attribute of such an op, an integer: how many at its place in the module are in front of it.
/// Ops of different numbers draw others. A further operand, a ui64, counts what went on before
/// where the op is executed more than once.
inline constexpr std::string_view kDrawAttribute = "draw";

}  // namespace superstep
