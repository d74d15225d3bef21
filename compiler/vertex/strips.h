#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Neighbouring units of a tensor that a worker moves one after the other.
struct Strip {
  std::int64_t source = 0, destination = 0;  ///< byte offsets of the first unit
  std::int64_t length = 0;                   ///< units
};
/// By worker.
using Strips = std::vector<std::vector<Strip>>;

/// As many of `units` for each worker; `strip_from(unit)` is the longest strip that begins there.
[[nodiscard]] Strips divide_into_strips(std::int64_t workers, std::int64_t units,
                                        const auto& strip_from) {
  Strips strips(static_cast<std::size_t>(workers));
  for (std::int64_t w = 0; w < workers; ++w) {
    std::int64_t unit = w * units / workers;
    const std::int64_t end = (w + 1) * units / workers;
    while (unit < end) {
      Strip strip = strip_from(unit);
      strip.length = std::min(strip.length, end - unit);
      unit += strip.length;
      strips[static_cast<std::size_t>(w)].push_back(strip);
    }
  }
  return strips;
}

/// The states of all workers of a vertex that moves strips, of equal length: {number of strips,
/// strides, then for each strip the addresses of source and destination and its length}.
[[nodiscard]] inline VertexState strip_state(const Strips& strips,
                                             std::span<const std::uint32_t> strides, StateWord from,
                                             StateWord to) {
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
      words.push_back(StateWord::number(strip.length));
    }
    words.resize(end, StateWord::number(0));
  }
  return words;
}

}  // namespace superstep::vertex
