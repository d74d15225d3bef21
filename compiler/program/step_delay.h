#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/step_order.h"
#include "isa/program_image.h"

namespace superstep {

/// A step whose superstep is known.
struct TimedStep {
  enum class Kind : std::uint8_t {
    kControl,   ///< in front of the exchange of its superstep; stays
    kExchange,  ///< words that move in front of the compute sets of its superstep
    kCompute,
  };
  /// What a step takes on a tile, in cycles: `work` of its workers, or of its sending port.
  struct Load {
    TileId tile{};
    std::uint32_t work = 0;
    std::uint32_t received = 0;
  };
  Kind kind = Kind::kCompute;
  std::uint32_t superstep = 0;
  StepUses uses;
  std::vector<Load> loads = {};  ///< a tile once
};

/// The supersteps in which steps, given in an order that keeps what they depend on, are best done,
/// so that a superstep takes its slowest tile: those that nobody waits for where other tiles are
/// busy anyway. List scheduling within the slack of each step, from the last one to the first one
/// as late as is cheapest, then from the first one on as early as costs no more. Steps of one
/// superstep stay in their order. No step goes past a control step, or to an earlier superstep than
/// it has. `phase`: cycles of an exchange besides its words.
[[nodiscard]] std::vector<std::uint32_t> delay_steps(const std::vector<TimedStep>& steps,
                                                     std::size_t buffers, std::uint32_t tiles,
                                                     std::uint32_t phase);

}  // namespace superstep
