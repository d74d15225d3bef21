#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/vertex/timing_analysis.h"

namespace superstep {

/// What launches take by the timing of their code, counted once for equal work.
class LaunchCycles {
 public:
  /// The code of a vertex, by its number.
  using CodeOf = std::function<const vertex::Codelet&(std::uint32_t)>;

  LaunchCycles(const MachineConfig& machine, CodeOf code_of)
      : machine_(machine), code_of_(std::move(code_of)) {}

  /// Of all workers of a launch.
  const std::vector<vertex::WorkerTiming>& workers(std::uint32_t codelet, const Launch& launch);
  /// From the issue of the first instruction to that of the next one behind the wait for the
  /// workers.
  std::uint64_t alone(std::uint32_t codelet, const Launch& launch);

 private:
  const std::vector<vertex::WorkerTiming>& workers(std::uint32_t codelet,
                                                   std::span<const StateWord> words,
                                                   std::uint32_t worker_words);
  [[nodiscard]] std::uint64_t weighted(const Launch& launch);
  const vertex::TimingAnalysis& analysis(std::uint32_t codelet);

  const MachineConfig& machine_;
  CodeOf code_of_;
  std::map<std::uint32_t, vertex::TimingAnalysis> analyses_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::vector<vertex::WorkerTiming>>
      by_state_;
  std::map<std::pair<const void*, std::vector<std::uint32_t>>, std::uint64_t> by_identity_;
};

}  // namespace superstep
