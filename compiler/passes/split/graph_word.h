#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/split/words.h"

namespace superstep::split {

/// A tensor of ui32 that a graph computes, as a word.
struct GraphWord {
  Tensor tensor;
};
struct GraphBit {
  Tensor tensor;
};

inline Tensor apply(const OpDefinition& op, Tensor a) { return a.builder->apply(op, {a}); }
inline Tensor apply(const OpDefinition& op, Tensor a, Tensor b) {
  return a.builder->apply(op, {a, b});
}

// What follows from constants that are one number repeated is computed here, and what changes
// nothing is left out: words of which one part is known are common.

[[nodiscard]] GraphBit operator&(GraphBit a, GraphBit b);
[[nodiscard]] GraphBit operator|(GraphBit a, GraphBit b);
[[nodiscard]] GraphBit operator!(GraphBit a);

[[nodiscard]] GraphWord operator+(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord operator-(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord operator*(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord operator/(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord operator&(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord operator|(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord operator^(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord shl(GraphWord a, GraphWord n);
[[nodiscard]] GraphWord shr(GraphWord a, GraphWord n);
[[nodiscard]] GraphBit below(GraphWord a, GraphWord b);
[[nodiscard]] GraphBit equal(GraphWord a, GraphWord b);
[[nodiscard]] GraphWord select(GraphBit condition, GraphWord a, GraphWord b);
[[nodiscard]] GraphWord one_where(GraphBit condition);
[[nodiscard]] GraphWord clz(GraphWord a);
[[nodiscard]] GraphWord constant(GraphWord like, std::uint32_t value);

/// The number that all elements of a word are, if that is known.
[[nodiscard]] std::optional<std::uint32_t> known(GraphWord a);

}  // namespace superstep::split
