#include "compiler/image/tile_program.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"

namespace superstep {
namespace {

/// Orders launches of a tile by the words of their states; no codelet writes into its state.
struct LessState {
  const CodeletLibrary& library;
  [[nodiscard]] std::optional<std::uint32_t> divider(const PlacedLaunch& launch) const {
    if (!library.codelet(launch.codelet).divide) return std::nullopt;
    return launch.codelet;
  }
  bool operator()(const PlacedLaunch* a, const PlacedLaunch* b) const {
    if (const auto order = divider(*a) <=> divider(*b); order != 0) return order < 0;
    return a->launch->state < b->launch->state;
  }
};

/// The words of a launch's state among those at `states`; without `storage` every buffer is at
/// address 0.
std::vector<std::uint32_t> state_of(const PlacedLaunch& launch, const TileProgram& t,
                                    std::uint32_t states, const Storage* storage) {
  std::vector<std::uint32_t> words;
  words.reserve(launch.launch->state.size());
  for (const StateWord& word : launch.launch->state) {
    std::uint32_t base = 0;
    if (word.base == StateWord::Base::kBuffer && storage != nullptr)
      base = storage->address(word.buffer, t.tile);
    if (word.base == StateWord::Base::kState) base = states + launch.state;
    words.push_back(base + word.value);
  }
  return words;
}

/// Whether `later` reads or overwrites what `earlier` writes.
bool depends_on(const ComputeSet& later, const ComputeSet& earlier) {
  return std::ranges::any_of(earlier.writes, [&](BufferId written) {
    return std::ranges::find(later.reads, written) != later.reads.end() ||
           std::ranges::find(later.writes, written) != later.writes.end();
  });
}

}  // namespace

void place_codelets(TileProgram& t, const CodeletLibrary& library, const MachineConfig& machine) {
  const std::uint32_t workers = machine.tile.workers;
  std::vector<bool> used(library.codelets().size());
  for (const PlacedLaunch& launch : t.launches) {
    const std::vector<Launch::Stage>& stages = launch.launch->stages;
    if (stages.empty()) used[library.number(launch.codelet)] = true;
    for (const Launch::Stage& stage : stages) used[library.number(stage.codelet)] = true;
  }
  std::uint32_t at = machine.tile.memory_base;
  t.codelets.resize(used.size());
  for (std::size_t c = 0; c < used.size(); ++c) {
    if (!used[c]) continue;
    t.codelets[c] = at;
    at = align_up(at + static_cast<std::uint32_t>(library.codelets()[c].words.size()) * 4, 8);
  }
  t.stacks = at;
  t.code = align_up(t.stacks + workers * library.stack_bytes(), 8);
}

void place_states(TileProgram& t, const CodeletLibrary& library) {
  std::uint32_t at = 0;
  std::set<const PlacedLaunch*, LessState> placed{LessState{library}};
  for (PlacedLaunch& launch : t.launches) {
    if (const auto [same, is_new] = placed.insert(&launch); !is_new) {
      launch.state = (*same)->state;
      launch.worker_states = (*same)->worker_states;
      launch.stride = (*same)->stride;
      launch.busy = (*same)->busy;
      launch.shares_state = true;
      continue;
    }
    launch.state = at;
    const std::vector<std::uint32_t> words = state_of(launch, t, 0, nullptr);
    const vertex::Codelet& codelet = library.codelet(launch.codelet);
    launch.worker_states = at;
    at = vertex::worker_states_address(at, words.size());
    if (codelet.divide) {
      const vertex::WorkerStates divided = codelet.divide(words, launch.state);
      launch.worker_states = at;
      launch.stride = divided.stride;
      launch.busy = divided.busy;
      at = vertex::worker_states_address(at, divided.words.size());
    }
  }
  t.state_bytes = at;
}

void group_launches(TileProgram& t, std::span<Superstep* const> supersteps,
                    const CodeletLibrary& library, const MachineConfig& machine) {
  std::vector<ComputeSet*> group;
  std::set<std::uint32_t> codelets;
  std::uint32_t busy = 0, first_state = 0, last_state = 0;
  for (std::size_t i = 0; i < t.launches.size(); ++i) {
    PlacedLaunch& launch = t.launches[i];
    ComputeSet& set = supersteps[launch.superstep]->computes[launch.set];
    codelets.insert(library.number(launch.codelet));
    first_state = std::min(first_state, launch.worker_states);
    last_state = std::max(last_state, launch.worker_states + 4 * launch.busy * launch.stride);
    const bool fits = launch.busy > 0 && busy > 0 && busy + launch.busy <= machine.tile.workers &&
                      codelets.size() <= TileCode::kCodeletsTogether &&
                      last_state - first_state <= TileCode::kNearStates;
    launch.is_with_previous = fits && launch.superstep == t.launches[i - 1].superstep &&
                              std::ranges::none_of(group, [&](const ComputeSet* other) {
                                return depends_on(set, *other) || depends_on(*other, set);
                              });
    if (!launch.is_with_previous) {
      group.clear();
      codelets = {library.number(launch.codelet)};
      busy = 0;
      first_state = launch.worker_states;
      last_state = launch.worker_states + 4 * launch.busy * launch.stride;
    }
    for (ComputeSet* other : group) {
      other->beside = std::max(other->beside, static_cast<std::uint32_t>(&set - other));
    }
    group.push_back(&set);
    busy = launch.busy == 0 ? 0 : busy + launch.busy;
  }
}

TileCode::AnyLaunch code_of(const TileProgram& t, std::span<const PlacedLaunch> launches,
                            std::uint32_t states, const CodeletLibrary& library,
                            const MachineConfig& machine, const Storage& storage) {
  const auto code_at = [&](std::uint32_t codelet) { return t.codelets[library.number(codelet)]; };
  if (launches.size() > 1) {
    TileCode::LaunchTogether together;
    for (const PlacedLaunch& launch : launches) {
      together.push_back({code_at(launch.codelet),
                          states + launch.worker_states - machine.tile.memory_base, launch.stride,
                          launch.busy});
    }
    return together;
  }
  const PlacedLaunch& placed = launches.front();
  const Launch& launch = *placed.launch;
  if (launch.stages.empty()) {
    return TileCode::LaunchAll{code_at(placed.codelet), states + placed.worker_states,
                               launch.worker_words != 0 ? launch.worker_words : placed.stride};
  }
  TileCode::WeightedLaunch weighted{
      .stages = {},
      .state = states + placed.state,
      .weights = storage.address(launch.weights.buffer, launch.tile) + launch.weights.value,
      .workers = machine.tile.workers,
      .state_words = launch.worker_words,
      .loads = launch.weight_loads};
  for (const Launch::Stage& stage : launch.stages) {
    weighted.stages.push_back({code_at(stage.codelet), stage.blocks});
  }
  return weighted;
}

std::vector<std::uint32_t> state_words(const TileProgram& t, std::uint32_t states,
                                       const CodeletLibrary& library, const Storage& storage) {
  std::vector<std::uint32_t> words;
  const auto append = [&](const std::vector<std::uint32_t>& more) {
    words.insert(words.end(), more.begin(), more.end());
    if (words.size() % 2 != 0) words.push_back(0);
  };
  for (const PlacedLaunch& launch : t.launches) {
    if (launch.shares_state) continue;
    SUPERSTEP_CHECK(4 * words.size() == launch.state, "a vertex state has moved");
    const std::vector<std::uint32_t> state = state_of(launch, t, states, &storage);
    append(state);
    const vertex::Codelet& codelet = library.codelet(launch.codelet);
    if (codelet.divide) append(codelet.divide(state, states + launch.state).words);
  }
  return words;
}

}  // namespace superstep
