#include "compiler/cost/launch_cycles.h"

namespace superstep {
namespace {

/// Where states are interpreted: no address of a buffer is as high.
constexpr std::uint32_t kStates = 0x40000000;

/// What a vertex does depends on addresses of buffers modulo 8 only.
std::vector<std::uint32_t> state_of(std::span<const StateWord> words) {
  std::vector<std::uint32_t> state;
  state.reserve(words.size());
  for (const StateWord& word : words) {
    const bool is_address = word.base == StateWord::Base::kBuffer;
    const std::uint32_t base = word.base == StateWord::Base::kState ? kStates : 0;
    state.push_back(is_address ? word.value % 8 : base + word.value);
  }
  return state;
}

std::span<const StateWord> words_of(const Launch& launch) {
  return {launch.state.begin(), launch.state.end()};
}

}  // namespace

const std::vector<vertex::WorkerTiming>& LaunchCycles::workers(std::uint32_t codelet,
                                                               const Launch& launch) {
  return workers(codelet, words_of(launch), launch.worker_words);
}

const std::vector<vertex::WorkerTiming>& LaunchCycles::workers(std::uint32_t codelet,
                                                               std::span<const StateWord> words,
                                                               std::uint32_t worker_words) {
  const auto [at, is_new] = by_state_.try_emplace({codelet, state_of(words)});
  if (is_new) at->second = analysis(codelet).launch(at->first.second, kStates, worker_words);
  return at->second;
}

std::uint64_t LaunchCycles::alone(std::uint32_t codelet, const Launch& launch) {
  std::vector<std::uint32_t> codelets{codelet};
  for (const Launch::Stage& stage : launch.stages) {
    codelets.insert(codelets.end(), {stage.codelet, stage.blocks});
  }
  const auto [at, is_new] =
      by_identity_.try_emplace({launch.state.identity(), std::move(codelets)});
  if (is_new) {
    at->second = launch.stages.empty()
                     ? vertex::launch_cycles(machine_, workers(codelet, launch)) + 1
                     : weighted(launch);
  }
  return at->second;
}

/// Each block: a wait for the workers before, the loads of its weights, its workers. Around them
/// the place of the weights is set, and the last workers are waited for.
std::uint64_t LaunchCycles::weighted(const Launch& launch) {
  const std::size_t block_words = machine_.tile.workers * launch.worker_words;
  std::uint64_t cycles = 2;
  std::span<const StateWord> words = words_of(launch);
  for (const Launch::Stage& stage : launch.stages) {
    for (std::uint32_t b = 0; b < stage.blocks; ++b, words = words.subspan(block_words)) {
      const auto& timings = workers(stage.codelet, words.first(block_words), launch.worker_words);
      cycles += 1 + launch.weight_loads + vertex::launch_cycles(machine_, timings);
    }
  }
  return cycles;
}

const vertex::TimingAnalysis& LaunchCycles::analysis(std::uint32_t codelet) {
  const auto found = analyses_.find(codelet);
  if (found != analyses_.end()) return found->second;
  return analyses_.emplace(codelet, vertex::TimingAnalysis(machine_, code_of_(codelet)))
      .first->second;
}

}  // namespace superstep
