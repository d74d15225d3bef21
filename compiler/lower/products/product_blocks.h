#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/lower/products/product_split.h"

namespace superstep {

/// A product whose index spaces of an operand, or of the result, are one dimension each of the
/// tensor: blocks of it can be an order in which the tensor is stored.
class BlockedDimensions {
 public:
  enum Space : std::uint8_t { kBatch, kFree, kDepth, kRows = kFree, kColumns = kDepth };
  struct Digit {
    Space space;
    std::int64_t size = 1, step = 1;
  };
  /// Of the axes of each space, with strides in the tensor on `side`; nothing when they are more
  /// than one dimension.
  [[nodiscard]] static std::optional<BlockedDimensions> of(const std::array<Axes, 3>& spaces,
                                                           Side side);
  /// Storage in the row-major order of `digits`.
  [[nodiscard]] Order order(const std::vector<Digit>& digits) const;

 private:
  Shape shape_;
  std::array<std::size_t, 3> dimensions_{};  ///< by space
};

/// Stores an argument in the order of the blocks of an operand that the AMP units take, so that
/// each tile holds a part of a block that it multiplies; `weights` are the right operand.
[[nodiscard]] LayoutPtr blocks_layout(ProgramBuilder& builder, const Product& product,
                                      const BlockedDimensions& dimensions, bool weights);

/// Keeps the result in the order of the blocks of products: a block lies on the tiles that multiply
/// parts of the depth for it, evenly.
[[nodiscard]] LayoutPtr result_blocks_layout(ProgramBuilder& builder, const Product& product,
                                             const BlockedDimensions& dimensions);

}  // namespace superstep
