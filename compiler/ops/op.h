#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/vertex/expression.h"

namespace superstep {

/// A strided copy of one operand into the result: element (i0, i1, …) of the box moves from
/// `from_offset + Σ i*from_strides` of the operand to `to_offset + Σ i*to_strides` of the result
/// (row-major element numbers; strides may be 0 or negative).
struct StridedBox {
  std::size_t operand = 0;
  std::vector<std::int64_t> sizes, from_strides, to_strides;
  std::int64_t from_offset = 0, to_offset = 0;
};

/// Results are computed element by element from operands of the same shape (or rank 0).
struct ElementwiseLowering {
  /// Appends the op to an expression; operands are in the op's order.
  vertex::Node (*emit)(const Op& op, const Graph& graph, vertex::Expression& expression,
                       std::span<const vertex::Node> operands);
};
/// The result is made of strided copies of operands; a later box overwrites an earlier one.
struct RearrangeLowering {
  std::vector<StridedBox> (*boxes)(const Op& op, const Graph& graph);
};
/// The result does not depend on operands (constant, iota): `evaluate` gives it at compile time.
struct ConstantLowering {};
/// `stablehlo.reduce`; the region's ops are elementwise over scalars.
struct ReduceLowering {};
/// `stablehlo.dot_general`.
struct DotGeneralLowering {};

/// Everything about an op in one record.
struct OpDefinition {
  std::string_view name;  ///< `stablehlo.transpose`
  std::string_view summary;
  /// Result types, or MalformedInput/Unsupported located at the op.
  std::vector<TensorType> (*infer)(const Op& op, std::span<const TensorType> operands);
  /// Reference semantics: simple, slow, host only, independent of the lowering.
  std::vector<HostTensor> (*evaluate)(const Op& op, std::span<const HostTensor> operands);
  std::variant<ElementwiseLowering, RearrangeLowering, ConstantLowering, ReduceLowering,
               DotGeneralLowering>
      lowering;
};

/// All ops, sorted by name.
[[nodiscard]] std::span<const OpDefinition* const> all_ops();
/// Null when the op is not supported.
[[nodiscard]] const OpDefinition* find_op(std::string_view name);

/// Runs a graph with the reference semantics.
[[nodiscard]] std::vector<HostTensor> evaluate(const Graph& graph,
                                               std::span<const HostTensor> arguments);

}  // namespace superstep
