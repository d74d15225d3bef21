#pragma once

#include <optional>

#include "compiler/vertex/lane.h"

namespace superstep::vertex {

/// A codelet whose workers take turns round robin: worker w takes elements from w *
/// elements_per_turn.
struct TimedCodelet {
  Codelet codelet;
  std::uint32_t elements_per_turn = 1;
  std::uint64_t idle_slots = 0;   ///< of a worker without a turn
  std::uint64_t fixed_slots = 0;  ///< of a worker with turns, besides these
  std::uint64_t turn_slots = 0;   ///< of each turn
};

/// The fast elementwise loop: two f32 at a time, loads and stores beside the arithmetic, in one
/// `rpt` loop. Nothing when the expression is not all f32 (and i1 inside) or needs more registers
/// than there are.
[[nodiscard]] std::optional<TimedCodelet> elementwise_in_pairs(const MachineConfig& machine,
                                                               const Expression& expression,
                                                               const std::vector<Node>& outputs,
                                                               const std::vector<Access>& inputs);

}  // namespace superstep::vertex
