#pragma once

#include "compiler/ops/graph_builder.h"

namespace superstep::narrow {

/// The type whose elements hold those of a narrow one on tiles, with the same bytes; any other type
/// is its own.
[[nodiscard]] DType stored_as(DType dtype);
/// The type in which tiles compute with elements of a narrow one.
[[nodiscard]] DType computed_as(DType dtype);

/// The numbers of elements that are stored, as `computed_as(dtype)`.
[[nodiscard]] Tensor decoded(Tensor stored, DType dtype);
/// Numbers of `computed_as(dtype)` as they are stored: floats are rounded, integers wrap.
[[nodiscard]] Tensor encoded(Tensor numbers, DType dtype);

/// What `convert` to a narrow type gives, stored: floats saturate to integers.
[[nodiscard]] Tensor converted(Tensor x, DType to);

/// A stored integer with zeros above its bits, as ui8.
[[nodiscard]] Tensor unsigned_bits(Tensor stored, DType dtype);

/// The bits of elements that are stored, as those of a type of another width, stored; the lowest
/// first.
[[nodiscard]] Tensor regrouped(Tensor stored, DType from, const TensorType& to);

/// A stored integer with its highest bit repeated above it.
[[nodiscard]] Tensor sign_extended(Tensor stored, DType dtype);

}  // namespace superstep::narrow
