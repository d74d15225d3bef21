#pragma once

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

inline GraphBit operator&(GraphBit a, GraphBit b) { return {a.tensor & b.tensor}; }
inline GraphBit operator|(GraphBit a, GraphBit b) { return {a.tensor | b.tensor}; }
inline GraphBit operator!(GraphBit a) { return {apply(kNotOp, a.tensor)}; }

inline GraphWord operator+(GraphWord a, GraphWord b) { return {a.tensor + b.tensor}; }
inline GraphWord operator-(GraphWord a, GraphWord b) { return {a.tensor - b.tensor}; }
inline GraphWord operator*(GraphWord a, GraphWord b) { return {a.tensor * b.tensor}; }
inline GraphWord operator/(GraphWord a, GraphWord b) { return {a.tensor / b.tensor}; }
inline GraphWord operator&(GraphWord a, GraphWord b) { return {a.tensor & b.tensor}; }
inline GraphWord operator|(GraphWord a, GraphWord b) { return {a.tensor | b.tensor}; }
inline GraphWord operator^(GraphWord a, GraphWord b) { return {apply(kXorOp, a.tensor, b.tensor)}; }
inline GraphWord shl(GraphWord a, GraphWord n) { return {apply(kShiftLeftOp, a.tensor, n.tensor)}; }
inline GraphWord shr(GraphWord a, GraphWord n) {
  return {apply(kShiftRightLogicalOp, a.tensor, n.tensor)};
}
inline GraphBit below(GraphWord a, GraphWord b) { return {compare("LT", a.tensor, b.tensor)}; }
inline GraphBit equal(GraphWord a, GraphWord b) { return {compare("EQ", a.tensor, b.tensor)}; }
inline GraphWord select(GraphBit condition, GraphWord a, GraphWord b) {
  return {superstep::select(condition.tensor, a.tensor, b.tensor)};
}
inline GraphWord one_where(GraphBit condition) { return {convert(condition.tensor, DType::kU32)}; }
inline GraphWord clz(GraphWord a) { return {apply(kCountLeadingZerosOp, a.tensor)}; }
inline GraphWord constant(GraphWord like, std::uint32_t value) {
  return {like.tensor.like(static_cast<double>(value))};
}

}  // namespace superstep::split
