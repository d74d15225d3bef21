#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/dtype_set.h"
#include "tests/generated/random_program.h"

namespace superstep {

/// A kind of op that programs are made of: one row in the table of its family.
struct OpKind {
  std::string_view op;  ///< `stablehlo.tanh`
  /// Adds the op, and leaves and other ops for it; false when there was no bound for its results.
  bool (*propose)(RandomProgram& builder, const OpKind& kind);
  DTypeSet dtypes = kAnyDType;  ///< of the first operand
  Wants wants = Wants::kAnything;
  unsigned weight = 1;  ///< how often, compared with others
};

[[nodiscard]] std::span<const OpKind> elementwise_kinds();  // propose_elementwise.cpp
[[nodiscard]] std::span<const OpKind> rearrange_kinds();    // propose_rearrange.cpp
[[nodiscard]] std::span<const OpKind> reduction_kinds();    // propose_reductions.cpp
[[nodiscard]] std::span<const OpKind> sort_kinds();         // propose_sort.cpp
[[nodiscard]] std::span<const OpKind> product_kinds();      // propose_products.cpp
[[nodiscard]] std::span<const OpKind> algebra_kinds();      // propose_algebra.cpp
[[nodiscard]] std::span<const OpKind> indexing_kinds();     // propose_indexing.cpp
[[nodiscard]] std::span<const OpKind> control_kinds();      // propose_control.cpp
[[nodiscard]] std::span<const OpKind> device_kinds();       // propose_device.cpp
[[nodiscard]] std::span<const OpKind> composed_kinds();     // propose_composed.cpp

using Indices = std::vector<std::int64_t>;

constexpr DTypeSet kShortFloats = only(DType::kBF16) | only(DType::kF16);
/// Floats that tiles compute with.
constexpr DTypeSet kTileFloats = kShortFloats | only(DType::kF32);
constexpr DTypeSet kSimpleFloats = kTileFloats | only(DType::kF64);
constexpr DTypeSet kBits = kBooleans | kIntegers;

[[nodiscard]] inline bool has_dimensions(const TensorType& type) { return !type.shape.empty(); }
/// 0 … n - 1 in random order.
[[nodiscard]] Indices shuffled(Random& random, std::size_t n);
/// Some of 0 … n - 1, ascending.
[[nodiscard]] Indices subset(Random& random, std::size_t n);

}  // namespace superstep
