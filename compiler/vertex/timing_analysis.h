#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/vertex/codelet.h"

namespace superstep::vertex {

/// What a worker takes from its first instruction to its exit.
struct WorkerTiming {
  std::uint64_t slots = 0;
  /// A branch depends on data: counted as taken where it goes past a call, else as not taken.
  bool depends_on_data = false;
};

/// Static timing analysis of a codelet by abstract interpretation of its machine code: registers of
/// the main file and words of the worker's stack are known or not, the vertex state is known, other
/// memory is not. Turns of a loop that come out alike are counted together.
class TimingAnalysis {
 public:
  TimingAnalysis(const MachineConfig& machine, const Codelet& codelet);

  /// Of a worker whose vertex state is at `vertex_base`; `words` at `address` are all that it may
  /// know. What a branch goes past as data decides counts by `shares`, those of nested ones behind
  /// each other.
  [[nodiscard]] WorkerTiming worker(std::span<const std::uint32_t> words, std::uint32_t address,
                                    std::uint32_t vertex_base,
                                    std::span<const double> shares = {}) const;

  /// Of all workers of a launch, as `runall` gives them their states: those that the codelet's
  /// `divide` makes, or of `worker_words` each, or one for all when that is 0.
  [[nodiscard]] std::vector<WorkerTiming> launch(std::span<const std::uint32_t> state,
                                                 std::uint32_t address,
                                                 std::uint32_t worker_words) const;

 private:
  friend class WorkerAnalysis;

  /// An instruction or bundle.
  struct Decoded {
    std::optional<std::size_t> record =
        {};  ///< of what is interpreted, else its results are not known
    std::uint32_t word = 0, bytes = 4;
    std::uint64_t slots = 0;
    std::uint64_t uses = 0, defines = 0;  ///< registers, a bit each
    std::uint64_t stored = 0;             ///< that of `uses` which a store only stores
    bool is_branch = false, is_repeat = false, is_exit = false;
    /// Of the body of a repeat: its slots, what it writes, where it ends.
    std::uint64_t body_slots = 0, body_defines = 0;
    std::uint32_t body_end = 0;
    /// Of a branch past calls: where it goes.
    std::optional<std::uint32_t> past_calls = {};
    /// Of any other branch ahead where a register is 0: where it goes.
    std::optional<std::uint32_t> ahead = {};
  };

  [[nodiscard]] Decoded decode(const MachineConfig& machine,
                               const std::vector<std::uint32_t>& words, std::size_t at) const;

  std::uint32_t workers_;
  std::function<WorkerStates(std::span<const std::uint32_t>, std::uint32_t)> divide_;
  std::vector<Decoded> steps_;  ///< by word
};

/// Cycles from the issue of a launch on an idle tile to the last worker's exit.
[[nodiscard]] std::uint64_t launch_cycles(const MachineConfig& machine,
                                          std::span<const WorkerTiming> workers);

}  // namespace superstep::vertex
