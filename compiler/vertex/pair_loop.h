#pragma once

#include <optional>

#include "compiler/vertex/lane.h"
#include "compiler/vertex/turns.h"

namespace superstep::vertex {

/// The fast elementwise loop: two f32 or four f16 at a time, loads and stores beside the
/// arithmetic, in one `rpt` loop unless inputs repeat or values go to the stack. Nothing when the
/// expression is not all of one of the two, and i1 and bits of f32 inside.
[[nodiscard]] std::optional<Codelet> elementwise_in_pairs(const MachineConfig& machine,
                                                          const Expression& expression,
                                                          const std::vector<Node>& outputs,
                                                          const std::vector<Access>& inputs);

}  // namespace superstep::vertex
