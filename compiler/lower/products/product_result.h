#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/lower/products/product_blocks.h"
#include "compiler/lower/products/product_op.h"
#include "compiler/lower/products/product_split.h"

namespace superstep {

/// The value that a product makes: the axes of its index spaces, with strides in the value on the
/// destination side.
struct ProductResult {
  ValueId target{};
  Axes batch = {}, rows = {}, columns = {};

  /// Of a product whose own result has this shape.
  [[nodiscard]] static ProductResult of(const PermutedValue& target, const Shape& shape,
                                        const Product& product);

  /// Whether columns are nearer to each other than rows.
  [[nodiscard]] bool columns_are_inside() const;
  [[nodiscard]] std::optional<BlockedDimensions> dimensions() const;
  /// Elements of a tile that adds products of parts of the depth.
  [[nodiscard]] std::int64_t per_tile(ProgramBuilder& builder, const Values& values) const;
  /// The same where sums of runs of parts are added: where the result is to lie.
  [[nodiscard]] std::int64_t kept_per_tile(const Values& values) const;

  /// Makes the value of products of dtype `partial`, adding those of all parts of the depth.
  void finish(ProgramBuilder& builder, Values& values, const Product& product,
              const Multiplied& multiplied, DType partial) const;
  /// The same of products in f32, which stay in the order of their blocks, each block on the tiles
  /// that made parts of it.
  void keep_blocks(ProgramBuilder& builder, Values& values, const Product& product,
                   const Multiplied& multiplied) const;
};

}  // namespace superstep
