#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/vertex/strips.h"
#include "isa/machine_config.h"

namespace superstep::vertex {

/// States of a vertex that moves strips, with addresses, and the cycles of a launch by `slots`,
/// which gives those of a worker from its strips and their units.
struct StripLaunch {
  std::vector<std::uint32_t> state;
  std::size_t worker_words = 0;
  std::uint64_t cycles = 0;

  StripLaunch(const MachineConfig& machine, const Strips& strips,
              const std::vector<std::uint32_t>& strides, std::uint32_t from, std::uint32_t to,
              std::int64_t (*slots)(std::int64_t strips, std::int64_t units)) {
    for (const auto& of_worker : strips) {
      worker_words = std::max(worker_words, 1 + strides.size() + 3 * of_worker.size());
    }
    for (std::size_t w = 0; w < strips.size(); ++w) {
      state.push_back(static_cast<std::uint32_t>(strips[w].size()));
      state.insert(state.end(), strides.begin(), strides.end());
      std::int64_t units = 0;
      for (const Strip& strip : strips[w]) {
        state.push_back(from + static_cast<std::uint32_t>(strip.source));
        state.push_back(to + static_cast<std::uint32_t>(strip.destination));
        state.push_back(static_cast<std::uint32_t>(strip.length));
        units += strip.length;
      }
      state.resize((w + 1) * worker_words);
      const auto its = static_cast<std::uint64_t>(slots(std::ssize(strips[w]), units));
      cycles = std::max(cycles, w + machine.issue_period() * its);
    }
  }
};

}  // namespace superstep::vertex
