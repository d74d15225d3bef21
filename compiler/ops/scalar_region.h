#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"

namespace superstep {

/// Whether an op only gives a scalar the form that it has, as where JAX prints a broadcast of it.
[[nodiscard]] bool is_same_scalar(const Op& op, const Graph& graph);

/// Checks that a region holds elementwise ops and constants only; `what` is its name in messages.
/// Throws Unsupported.
void check_scalar_ops(const Graph& region, std::string_view what);

/// Checks the only region of an op, which combines scalars of `types`: it takes one of each, then
/// another one of each, and returns one of each; it holds elementwise ops and constants. Throws
/// MalformedInput or Unsupported.
void check_scalar_region(const Op& op, std::span<const TensorType> types);
/// Checks a region of an op: scalars of these types, elementwise ops and constants.
void check_scalar_region(const Op& op, const Graph& region, std::span<const TensorType> arguments,
                         std::span<const TensorType> results);

/// The number of the region of `if` or `case` that a selector names; of `case` the last one's for
/// every other number.
[[nodiscard]] std::size_t branch_of(const Op& op, std::int64_t selector);
/// Whether an op chooses between regions of scalars, elementwise ops and constants, all of which
/// may as well be executed.
[[nodiscard]] bool is_scalar_branch(const Op& op, const Graph& graph);
/// Of the results of all regions those of the one that the selector names, element by element.
[[nodiscard]] std::vector<Tensor> choose_branch(const Op& op, Tensor selector,
                                                const std::vector<std::vector<Tensor>>& results);

/// Runs a region over scalars for all elements of its arguments at once.
[[nodiscard]] std::vector<HostTensor> evaluate_scalar_region(const Graph& region,
                                                             std::vector<HostTensor> arguments);

/// Tensors of one shape, by the scalar of a region that they stand for.
using RegionValues = std::vector<std::optional<Tensor>>;

/// Appends what `wanted` takes of a region over scalars, for all elements of a shape at once.
/// `values` holds the arguments, or what else is known, and gets what is appended.
void append_scalar_region(GraphBuilder& builder, const Graph& region, const Shape& shape,
                          std::span<const ValueId> wanted, RegionValues& values);
/// Appends what a region over scalars gives for all elements of tensors of one shape.
[[nodiscard]] std::vector<Tensor> apply_scalar_region(const Graph& region,
                                                      std::span<const Tensor> arguments);

/// The op of a region that returns what one op makes of its two arguments; else null.
[[nodiscard]] const Op* only_op_of(const Graph& region);
/// Whether a region adds its two arguments, which are floats.
[[nodiscard]] bool sums_floats(const Graph& region);

}  // namespace superstep
