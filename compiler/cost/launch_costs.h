#pragma once

#include <cstdint>
#include <vector>

#include "compiler/cost/costs.h"
#include "compiler/vertex/timing_analysis.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep {

/// Launches of a codelet, by its static timing.
class LaunchCosts {
 public:
  LaunchCosts(const MachineConfig& machine, const vertex::Codelet& codelet)
      : machine_(machine), costs_(machine), timing_(machine, codelet) {}

  /// With the state that a launch has, wherever its buffers are.
  [[nodiscard]] std::int64_t cycles(const VertexState& state) const {
    std::vector<std::uint32_t> words;
    for (const StateWord& word : state) words.push_back(word.value);
    const auto workers = timing_.launch(words, 0, 0);
    return costs_.launch_of(static_cast<std::int64_t>(vertex::launch_cycles(machine_, workers)));
  }

 private:
  const MachineConfig& machine_;
  Costs costs_;
  vertex::TimingAnalysis timing_;
};

}  // namespace superstep
