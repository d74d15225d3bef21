#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/ops/graph_builder.h"

namespace superstep {

/// An algorithm that takes f32 operands apart into numbers of fewer bits, and adds products of
/// these (openxla/xla, xla/service/gpu/transforms/dot_algorithm_rewriter.cc). All parts but the
/// last are cut off, the last is rounded to nearest even.
struct PartsAlgorithm {
  /// Numbers of the left and the right part, from 0, which has the highest bits.
  using Product = std::array<std::size_t, 2>;

  const char* precision;              ///< the type that holds a part
  std::int64_t fraction_bits;         ///< of a part, besides the leading one
  std::size_t parts;                  ///< of an operand
  std::span<const Product> products;  ///< in the order in which they are added
};

/// The one that a dot_general names, if it does.
[[nodiscard]] std::optional<PartsAlgorithm> parts_algorithm(const Op& op, DType lhs, DType rhs);

/// An operand's parts, as f32.
[[nodiscard]] std::vector<Tensor> parts_of(Tensor x, const PartsAlgorithm& algorithm);
[[nodiscard]] std::vector<HostTensor> parts_of(const HostTensor& x,
                                               const PartsAlgorithm& algorithm);

/// Refuses an algorithm of a dot_general but those of parts and the one that products of these
/// types have: of their elements as they are, each pair once, with sums in f32, or in f64 if an
/// operand is f64.
void check_algorithm(const Op& op, DType lhs, DType rhs, DType result);

/// For a product of other operands than those that the algorithm was checked for.
void erase_algorithm(Op& op);

}  // namespace superstep
