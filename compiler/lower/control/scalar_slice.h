#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/vertex/scalars.h"

namespace superstep {

/// Whether a tensor is one word, which an exchange brings to all tiles.
[[nodiscard]] bool is_word(const TensorType& type);
/// Whether a tensor is one word or boolean, with which supervisors compute.
[[nodiscard]] bool is_scalar(const TensorType& type);

/// What values of a graph are made of, as far as supervisors can compute it.
class ScalarSlice {
 public:
  /// Values of which `is_known` need not be computed.
  ScalarSlice(const Graph& graph, std::function<bool(ValueId)> is_known)
      : graph_(graph), is_known_(std::move(is_known)) {}

  /// The words that must be known for a value to follow, besides those that are; empty when it
  /// does not follow from words.
  std::optional<std::vector<ValueId>> words_for(ValueId value) { return words_for(value, 0); }

 private:
  using Words = std::optional<std::vector<ValueId>>;
  Words words_for(ValueId value, int depth);
  [[nodiscard]] Words find_words(ValueId value, int depth);

  const Graph& graph_;
  std::function<bool(ValueId)> is_known_;
  std::map<ValueId, Words> words_;
};

/// Appends what values of a graph are made of to `scalars`; `known` has the nodes of those that
/// need not be computed.
class ScalarNodes {
 public:
  using Known = std::function<std::optional<vertex::Node>(ValueId)>;
  ScalarNodes(const Graph& graph, vertex::Scalars& scalars, Known known)
      : graph_(graph), scalars_(scalars), known_(std::move(known)) {}

  /// Of a value that follows from what is known.
  vertex::Node of(ValueId value);

 private:
  vertex::Node computed(ValueId value);

  const Graph& graph_;
  vertex::Scalars& scalars_;
  Known known_;
  std::map<ValueId, vertex::Node> nodes_;
};

}  // namespace superstep
