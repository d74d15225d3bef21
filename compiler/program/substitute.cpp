#include "compiler/program/substitute.h"

#include <unordered_map>
#include <vector>

namespace superstep {

void substitute(Superstep& superstep, const std::map<BufferId, BufferId>& others) {
  const auto replace = [&](BufferId& buffer) {
    if (const auto other = others.find(buffer); other != others.end()) buffer = other->second;
  };
  const auto replace_in = [&](StateWord& word) {
    if (word.base == StateWord::Base::kBuffer) replace(word.buffer);
  };
  std::unordered_map<const void*, VertexState> states;  // by what they replace
  for (Movement& movement : superstep.movements) {
    replace(movement.source.buffer);
    for (Movement::End& end : movement.destinations) replace(end.buffer);
  }
  for (ComputeSet& set : superstep.computes) {
    for (auto* buffers : {&set.reads, &set.writes}) {
      for (BufferId& buffer : *buffers) replace(buffer);
    }
    for (Launch& launch : set.launches) {
      replace_in(launch.weights);
      const auto [at, is_new] = states.try_emplace(launch.state.identity(), launch.state);
      if (is_new) {
        std::vector<StateWord> words(launch.state.begin(), launch.state.end());
        for (StateWord& word : words) replace_in(word);
        at->second = VertexState(std::move(words));
      }
      launch.state = at->second;
    }
  }
}

}  // namespace superstep
