#pragma once

#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/passes/split/graph_word.h"

namespace superstep::split {

/// A value as the tensors that stand for it: itself, or the two parts of a wide one. Those of
/// integers and of f64 are ui32, the lower word first; those of complex numbers floats, the real
/// part first.
using Parts = std::vector<Tensor>;

/// The dtype of the parts of a wide dtype.
[[nodiscard]] constexpr DType part_of(DType dtype) {
  return is_complex(dtype) ? real_of(dtype) : DType::kU32;
}

[[nodiscard]] inline Wide<GraphWord> words(const Parts& parts) { return {{parts[0]}, {parts[1]}}; }
[[nodiscard]] inline Parts parts(Wide<GraphWord> words) {
  return {words.low.tensor, words.high.tensor};
}
[[nodiscard]] inline Parts parts(GraphBit bit) { return {bit.tensor}; }

/// An elementwise op that has wide operands or results, and its operands in parts, all of one
/// shape.
struct WideOp {
  const Op& op;
  DType dtype;  ///< of its first operand
  std::vector<Parts> operands;
};

/// How an op on one kind of wide values is made of ops on their parts.
struct Rule {
  const OpDefinition* op;
  Parts (*split)(const WideOp& op);
};

[[nodiscard]] std::span<const Rule> integer_rules();
[[nodiscard]] std::span<const Rule> complex_rules();
[[nodiscard]] std::span<const Rule> double_rules();

/// As `stablehlo.convert`, of types that are not complex.
[[nodiscard]] Parts converted(const Parts& x, DType from, DType to);

/// What `compare` says, from what holds between two elements.
[[nodiscard]] GraphBit compared(const Op& op, GraphBit is_below, GraphBit is_equal,
                                GraphBit is_above);

}  // namespace superstep::split
