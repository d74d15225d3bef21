#include "compiler/program/substitute.h"

#include <unordered_map>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/overloaded.h"

namespace superstep {
namespace {

void replace(BufferId& buffer, const std::map<BufferId, BufferId>& others) {
  if (const auto other = others.find(buffer); other != others.end()) buffer = other->second;
}

void replace(StateWord& word, const std::map<BufferId, BufferId>& others) {
  if (word.base == StateWord::Base::kBuffer) replace(word.buffer, others);
}

void replace(vertex::Scalars& scalars, const std::map<BufferId, BufferId>& others) {
  for (BufferId& input : scalars.inputs) replace(input, others);
  for (vertex::Scalars::Store& store : scalars.stores) replace(store.to, others);
}

void replace(Block& block, const std::map<BufferId, BufferId>& others) {
  for (Step& step : block.steps) substitute(step, others);
}

}  // namespace

void substitute(Movement& movement, const std::map<BufferId, BufferId>& others) {
  replace(movement.source.buffer, others);
  for (Movement::End& end : movement.destinations) replace(end.buffer, others);
}

void substitute(ComputeSet& set, const std::map<BufferId, BufferId>& others) {
  for (auto* buffers : {&set.reads, &set.writes}) {
    for (BufferId& buffer : *buffers) replace(buffer, others);
  }
  // By what they replace, which is kept so that nothing new gets its identity.
  struct Replaced {
    VertexState before, now;
  };
  std::unordered_map<const void*, Replaced> states;
  for (Launch& launch : set.launches) {
    replace(launch.weights, others);
    const auto [at, is_new] =
        states.try_emplace(launch.state.identity(), Replaced{launch.state, {}});
    if (is_new) {
      std::vector<StateWord> words(launch.state.begin(), launch.state.end());
      for (StateWord& word : words) replace(word, others);
      at->second.now = VertexState(std::move(words));
    }
    launch.state = at->second.now;
  }
}

void substitute(Superstep& superstep, const std::map<BufferId, BufferId>& others) {
  for (Movement& movement : superstep.movements) substitute(movement, others);
  for (ComputeSet& set : superstep.computes) substitute(set, others);
  for (Feed& feed : superstep.feeds) {
    if (feed.buffer) replace(*feed.buffer, others);
  }
}

void substitute(Step& step, const std::map<BufferId, BufferId>& others) {
  std::visit(Overloaded{[&](Superstep& superstep) { substitute(superstep, others); },
                        [](Call&) { SUPERSTEP_CHECK(false, "a call has bindings for that"); },
                        [&](Loop& loop) {
                          for (auto* scalars : {&loop.entry, &loop.test, &loop.step}) {
                            replace(*scalars, others);
                          }
                          replace(loop.condition, others);
                          replace(loop.body, others);
                        },
                        [&](Branch& branch) {
                          replace(branch.selector, others);
                          for (Block& arm : branch.arms) replace(arm, others);
                        },
                        [](HostVisit&) {}},
             step);
}

}  // namespace superstep
