#include "compiler/image/compute_cycles.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "compiler/vertex/timing_analysis.h"

namespace superstep {
namespace {

using vertex::WorkerTiming;

/// Where states are interpreted: no address of a buffer is as high.
constexpr std::uint32_t kStates = 0x40000000;

/// Slots of workers, counted once for equal work. What a vertex does depends on addresses of
/// buffers modulo 8 only.
class SlotTable {
 public:
  SlotTable(const CodeletLibrary& library, const MachineConfig& machine)
      : library_(library), machine_(machine) {}

  /// Of all workers of a launch whose state is `words`.
  const std::vector<WorkerTiming>& launch(std::uint32_t codelet, std::span<const StateWord> words,
                                          std::uint32_t worker_words) {
    const auto [at, is_new] = by_state_.try_emplace({codelet, state_of(words)});
    if (is_new) {
      at->second = analysis(codelet).launch(at->first.second, kStates, worker_words);
    }
    return at->second;
  }

 private:
  static std::vector<std::uint32_t> state_of(std::span<const StateWord> words) {
    std::vector<std::uint32_t> state;
    state.reserve(words.size());
    for (const StateWord& word : words) {
      const bool is_address = word.base == StateWord::Base::kBuffer;
      const std::uint32_t base = word.base == StateWord::Base::kState ? kStates : 0;
      state.push_back(is_address ? word.value % 8 : base + word.value);
    }
    return state;
  }

  const vertex::TimingAnalysis& analysis(std::uint32_t codelet) {
    const auto found = analyses_.find(codelet);
    if (found != analyses_.end()) return found->second;
    return analyses_.emplace(codelet, vertex::TimingAnalysis(machine_, library_.codelet(codelet)))
        .first->second;
  }

  const CodeletLibrary& library_;
  const MachineConfig& machine_;
  std::map<std::uint32_t, vertex::TimingAnalysis> analyses_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::vector<WorkerTiming>>
      by_state_;
};

class Predictor {
 public:
  Predictor(const CodeletLibrary& library, const MachineConfig& machine)
      : machine_(machine), table_(library, machine) {}

  /// Launches that run at once, from the issue of the first instruction to that of the next one
  /// behind the wait for the workers.
  std::uint64_t cycles(std::span<const PlacedLaunch> launches) {
    const PlacedLaunch& first = launches.front();
    if (launches.size() > 1) {
      std::vector<WorkerTiming> workers;
      for (const PlacedLaunch& launch : launches) {
        const std::vector<WorkerTiming>& all = slots(launch);
        workers.insert(workers.end(), all.begin(), all.begin() + launch.busy);
      }
      return vertex::launch_cycles(machine_, workers) + 1;
    }
    std::vector<std::uint32_t> codelets{first.codelet};
    for (const Launch::Stage& stage : first.launch->stages) {
      codelets.insert(codelets.end(), {stage.codelet, stage.blocks});
    }
    const auto [at, is_new] =
        by_identity_.try_emplace({first.launch->state.identity(), std::move(codelets)});
    if (is_new) {
      at->second = first.launch->stages.empty() ? vertex::launch_cycles(machine_, slots(first)) + 1
                                                : weighted_cycles(*first.launch);
    }
    return at->second;
  }

 private:
  const std::vector<WorkerTiming>& slots(const PlacedLaunch& placed) {
    return table_.launch(placed.codelet, words_of(*placed.launch), placed.launch->worker_words);
  }
  static std::span<const StateWord> words_of(const Launch& launch) {
    return {launch.state.begin(), launch.state.end()};
  }

  /// Each block: a wait for the workers before, the loads of its weights, its workers. Around them
  /// the place of the weights is set, and the last workers are waited for.
  std::uint64_t weighted_cycles(const Launch& launch) {
    const std::size_t block_words = machine_.tile.workers * launch.worker_words;
    std::uint64_t cycles = 2;
    std::span<const StateWord> words = words_of(launch);
    for (const Launch::Stage& stage : launch.stages) {
      for (std::uint32_t b = 0; b < stage.blocks; ++b, words = words.subspan(block_words)) {
        const auto& workers =
            table_.launch(stage.codelet, words.first(block_words), launch.worker_words);
        cycles += 1 + launch.weight_loads + vertex::launch_cycles(machine_, workers);
      }
    }
    return cycles;
  }

  const MachineConfig& machine_;
  SlotTable table_;
  std::map<std::pair<const void*, std::vector<std::uint32_t>>, std::uint64_t> by_identity_;
};

}  // namespace

ComputeCycles predict_compute(const std::vector<TileProgram>& tiles, std::size_t supersteps,
                              const CodeletLibrary& library, const MachineConfig& machine) {
  Predictor predictor(library, machine);
  ComputeCycles most;
  for (const TileProgram& t : tiles) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
        cycles;  // a tile may launch a set several times
    std::vector<std::uint64_t>& in_code = most.by_tile.emplace_back(supersteps);
    for (auto launch = t.launches.begin(); launch != t.launches.end();) {
      const auto first = launch++;
      while (launch != t.launches.end() && launch->is_with_previous) ++launch;
      const std::uint64_t taken = predictor.cycles(std::span(first, launch));
      cycles[{first->superstep, first->set}] += taken;
      in_code[first->superstep] += taken;
    }
    for (const auto& [set, taken] : cycles) most.of_set[set] = std::max(most.of_set[set], taken);
  }
  return most;
}

std::uint64_t call_cycles(const ComputeCycles& cycles, std::span<const Execution> executions,
                          const Steps& steps, std::span<const std::uint64_t> times) {
  if (executions.empty()) return 0;
  std::vector<std::uint64_t> of_superstep(steps.superstep.back() + 1), of_tile(of_superstep.size());
  for (const std::vector<std::uint64_t>& in_code : cycles.by_tile) {
    std::ranges::fill(of_tile, 0);
    for (std::size_t e = 0; e < executions.size(); ++e) {
      if (executions[e].superstep->computes.empty()) continue;
      of_tile[steps.superstep[e]] += times[steps.compute[e]] * in_code[executions[e].number];
    }
    for (std::size_t s = 0; s < of_tile.size(); ++s) {
      of_superstep[s] = std::max(of_superstep[s], of_tile[s]);
    }
  }
  return std::accumulate(of_superstep.begin(), of_superstep.end(), std::uint64_t{0});
}

}  // namespace superstep
