#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/passes/split/graph_word.h"
#include "compiler/passes/split/host_word.h"

// Loops over words: of code that is there once, however often it runs.

namespace superstep::split {

/// The number of a turn.
struct HostTurn {
  std::size_t number;
  /// What a table has for this turn, as a word like `like`.
  [[nodiscard]] HostWord of(std::span<const std::uint32_t> table, HostWord) const {
    return {table[number]};
  }
};
struct GraphTurn {
  Tensor number;
  [[nodiscard]] GraphWord of(std::span<const std::uint32_t> table, GraphWord like) const;
};

using HostStep = std::function<std::vector<HostWord>(const std::vector<HostWord>&, HostTurn)>;
using GraphStep = std::function<std::vector<GraphWord>(const std::vector<GraphWord>&, GraphTurn)>;

/// What `step` makes of some words in so many turns; it uses no others.
inline std::vector<HostWord> loop(std::size_t turns, std::vector<HostWord> words,
                                  const HostStep& step) {
  for (std::size_t turn = 0; turn < turns; ++turn) words = step(words, {turn});
  return words;
}
[[nodiscard]] std::vector<GraphWord> loop(std::size_t turns, const std::vector<GraphWord>& words,
                                          const GraphStep& step);

}  // namespace superstep::split
