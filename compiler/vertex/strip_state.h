#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// The states of all workers of a vertex that moves strips, of equal length: {number of strips,
/// strides, then for each strip the addresses of source and destination and its length}.
template <class Strip, class Length>
[[nodiscard]] VertexState strip_state(const std::vector<std::vector<Strip>>& strips,
                                      std::span<const std::uint32_t> strides, StateWord from,
                                      StateWord to, Length Strip::*length) {
  std::size_t most = 0;
  for (const auto& of_worker : strips) most = std::max(most, of_worker.size());
  std::vector<StateWord> words;
  for (const auto& of_worker : strips) {
    const std::size_t end = words.size() + 1 + strides.size() + 3 * most;
    words.push_back(StateWord::number(static_cast<std::int64_t>(of_worker.size())));
    for (const std::uint32_t word : strides) words.push_back(StateWord::number(word));
    for (const Strip& strip : of_worker) {
      words.push_back(StateWord::address(from.buffer, from.value + strip.source));
      words.push_back(StateWord::address(to.buffer, to.value + strip.destination));
      words.push_back(StateWord::number(strip.*length));
    }
    words.resize(end, StateWord::number(0));
  }
  return words;
}

}  // namespace superstep::vertex
