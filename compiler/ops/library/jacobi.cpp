#include "compiler/ops/library/jacobi.h"

#include <cmath>
#include <vector>

#include "compiler/ops/elimination.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

/// Convergence is quadratic: matrices of hundreds of rows take 10 sweeps.
constexpr double kMostSweeps = 40;

/// Half of the distance from 1 to the next number.
double unit_of(DType dtype) { return std::ldexp(1.0, dtype == DType::kF64 ? -53 : -24); }

/// J = [[c, s], [-conj(s), c]] of each pair, for J^H M J diagonal.
struct Rotation {
  Tensor lost;     ///< [batch, pairs], real: 1 - c, which says more than c where that is near 1
  Tensor sine;     ///< of the matrix's dtype
  Tensor removed;  ///< what the first eigenvalue is below the first diagonal element, real
};

/// Of M = [[first, between], [conj(between), second]].
Rotation rotation_of(Tensor first, Tensor second, Tensor between) {
  const DType dtype = between.dtype();
  const Tensor size = abs(between), one = size.like(1);
  const Tensor is_diagonal = size == 0.0;
  const Tensor divisor = select(is_diagonal, one, size);
  const Tensor ratio = (second - first) / (divisor + divisor);
  const Tensor least = one / (abs(ratio) + sqrt(ratio * ratio + 1.0));
  const Tensor turned = select(ratio < 0.0, -least, least);
  const Tensor tangent = select(is_diagonal, size.like(0), turned);
  const Tensor cosine = one / sqrt(tangent * tangent + 1.0);
  const Tensor phase = between / with_dtype(divisor, dtype);
  const Tensor sine = cosine * tangent;
  return {sine * sine / (cosine + 1.0), with_dtype(sine, dtype) * phase, tangent * size};
}

/// Rows of [batch, n, columns], or columns of [batch, rows, n], as the first ones and the second
/// ones of pairs.
struct Halves {
  Tensor first, second;
  std::int64_t dimension;

  Halves(Tensor one, Tensor other, std::int64_t along)
      : first(one), second(other), dimension(along) {}
  Halves(Tensor x, std::int64_t along)
      : first(half(x, along, 0)), second(half(x, along, 1)), dimension(along) {}

  static Tensor half(Tensor x, std::int64_t along, std::int64_t which) {
    Shape sizes = x.shape();
    std::vector<std::int64_t> start(sizes.size());
    std::int64_t& size = sizes[static_cast<std::size_t>(along)];
    size /= 2;
    start[static_cast<std::size_t>(along)] = which * size;
    return window(x, start, sizes);
  }

  /// [[c, -s], [conj(s), c]] times both, with 1 - c and the sine or its conjugate.
  [[nodiscard]] Halves rotated(Tensor lost, Tensor sine) const {
    const std::vector<std::int64_t> places = {0, dimension};
    const auto along = [&](Tensor x) { return spread(x, first, places); };
    const Tensor less = along(with_dtype(lost, first.dtype()));
    return {first - (less * first + along(sine) * second),
            second - (less * second - along(conjugate(sine)) * first), dimension};
  }

  /// As one tensor in the order of the next round: the first stays, and the others go around.
  [[nodiscard]] Tensor moved() const {
    const std::int64_t pairs = first.shape()[static_cast<std::size_t>(dimension)];
    const auto some = [&](Tensor x, std::int64_t from, std::int64_t count) {
      Shape sizes = x.shape();
      std::vector<std::int64_t> start(sizes.size());
      sizes[static_cast<std::size_t>(dimension)] = count;
      start[static_cast<std::size_t>(dimension)] = from;
      return window(x, start, sizes);
    };
    std::vector<Tensor> parts;
    if (pairs == 1) {
      parts = {first, second};
    } else {
      parts = {some(first, 0, 1), some(second, 0, 1)};
      if (pairs > 2) parts.push_back(some(first, 1, pairs - 2));
      parts.push_back(some(second, 1, pairs - 1));
      parts.push_back(some(first, pairs - 1, 1));
    }
    return concatenate(parts, dimension);
  }
};

/// Whether any of them is.
Tensor any(Tensor flags) {
  std::vector<std::int64_t> all;
  for (std::size_t d = 0; d < flags.shape().size(); ++d) {
    all.push_back(static_cast<std::int64_t>(d));
  }
  return superstep::reduce(flags, flags.builder->number(DType::kI1, 0), all,
                           [](Tensor a, Tensor b) { return a | b; });
}

/// [batch, count, n]: element (r, i) is 1 where i is in place r by the keys, descending or
/// ascending, of equal ones the first in front; else 0.
Tensor order_of(Tensor keys, std::int64_t count, bool descends) {
  const std::int64_t batch = keys.shape()[0], n = keys.shape()[1];
  const TensorType type{keys.dtype(), {batch, n, n}};
  const Tensor own = broadcast(keys, type.shape, {0, 1});
  const Tensor other = broadcast(keys, type.shape, {0, 2});
  const Tensor index = keys.builder->iota({DType::kI32, type.shape}, 1);
  const Tensor other_index = keys.builder->iota({DType::kI32, type.shape}, 2);
  const Tensor is_in_front = compare(descends ? "GT" : "LT", other, own) |
                             (compare("EQ", other, own) & compare("LT", other_index, index));
  const Tensor place = sum(convert(is_in_front, DType::kI32), {2});
  const Shape shape = {batch, count, n};
  const Tensor row = keys.builder->iota({DType::kI32, shape}, 1);
  return convert(compare("EQ", broadcast(place, shape, {0, 2}), row), keys.dtype());
}

/// Rows, or elements, in an order.
Tensor ordered(Tensor order, Tensor x) {
  if (x.shape().size() == 3) {
    if (!is_complex(x.dtype())) return product(order, x);
    return of_parts(product(order, real_part(x)), product(order, imaginary_part(x)), x.dtype());
  }
  const Tensor all = broadcast(x, order.shape(), {0, 2});
  return sum(select(order > 0.0, all, all.like(0)), {2});
}

Tensor padded(Tensor x, std::int64_t rows, std::int64_t columns) {
  if (rows == 0 && columns == 0) return x;
  return pad(x, x.builder->number(x.dtype(), 0), {0, 0, 0}, {0, rows, columns}, {0, 0, 0});
}

/// Keys of the rows that are there, and of one that is not, which comes last.
Tensor with_last_key(Tensor keys, std::int64_t n, double last) {
  if (keys.shape()[1] == n) return keys;
  return select(indices_along(keys, 1) == static_cast<double>(n), keys.like(last), keys);
}

/// |a|^2 summed over each matrix but its diagonal, [batch].
Tensor squares_beside_diagonal(Tensor a) {
  const Tensor squares = square_of_size(a);
  return sum(select(where_row_is("EQ", squares), squares.like(0), squares), {1, 2});
}

/// A and the adjoint vectors after the rotations of one round.
std::vector<Tensor> round_of_eigen(std::span<const Tensor> values) {
  const Tensor a = values[0], vectors = values[1];
  const DType dtype = a.dtype();
  const std::int64_t n = a.shape()[1], pairs = n / 2;
  const Tensor diagonal = real_part(diagonal_of(a));
  const Tensor first = Halves::half(diagonal, 1, 0), second = Halves::half(diagonal, 1, 1);
  const Tensor between = diagonal_of(block_of(a, 0, pairs, pairs, pairs));
  const Rotation rotation = rotation_of(first, second, between);
  const Halves rows = Halves(a, 1).rotated(rotation.lost, rotation.sine);
  const std::vector<Tensor> both_rows = {rows.first, rows.second};
  const Halves columns =
      Halves(concatenate(both_rows, 1), 2).rotated(rotation.lost, conjugate(rotation.sine));
  const std::vector<Tensor> both_columns = {columns.first, columns.second};
  const Tensor turned = concatenate(both_columns, 2);
  // The diagonal and what is zero by now, without errors of rounding.
  const std::vector<Tensor> new_diagonal = {first - rotation.removed, second + rotation.removed};
  const Tensor exact =
      with_dtype(spread(concatenate(new_diagonal, 1), real_part(turned), {0, 1}), dtype);
  const Tensor distance = abs(indices_along(a, 1) - indices_along(a, 2));
  const Tensor kept = select(distance == static_cast<double>(pairs), turned.like(0), turned);
  const Tensor next = select(distance == 0.0, exact, kept);
  return {Halves(Halves(next, 1).moved(), 2).moved(),
          Halves(vectors, 1).rotated(rotation.lost, rotation.sine).moved()};
}

/// Rows and right vectors beside each other after the rotations of one round, and whether any pair
/// was not orthogonal.
std::vector<Tensor> round_of_singular(std::span<const Tensor> values, double least_cosine) {
  const Tensor all = values[0];
  const std::int64_t n = all.shape()[1];
  const Halves rows(block_of(all, 0, n, 0, n), 1);
  const Tensor first = sum(square_of_size(rows.first), {2});
  const Tensor second = sum(square_of_size(rows.second), {2});
  const Tensor between = sum(conjugate(rows.first) * rows.second, {2});
  const Rotation rotation = rotation_of(first, second, between);
  const Tensor is_apart = compare("GT", abs(between), sqrt(first) * sqrt(second) * least_cosine);
  return {Halves(all, 1).rotated(rotation.lost, conjugate(rotation.sine)).moved(),
          values[1] | any(is_apart)};
}

/// [batch, n, columns] after rotations of its rows, of which the first n columns are orthogonal
/// then.
Tensor orthogonalized(Tensor rows) {
  const std::int64_t n = rows.shape()[1];
  GraphBuilder& builder = *rows.builder;
  const double least_cosine =
      2 * unit_of(real_part(rows).dtype()) * std::sqrt(static_cast<double>(n));
  const std::vector<Tensor> start = {rows, builder.number(DType::kI1, 1),
                                     builder.number(DType::kI32, 0)};
  return repeat_while(
      start, [](std::span<const Tensor> values) { return values[1] & (values[2] < kMostSweeps); },
      [n, least_cosine](std::span<const Tensor> values) -> std::vector<Tensor> {
        const std::vector<Tensor> from = {values[0], values[1].builder->number(DType::kI1, 0)};
        const std::vector<Tensor> next = repeat(n - 1, from, [&](std::span<const Tensor> round) {
          return round_of_singular(round, least_cosine);
        });
        return {next[0], next[1], values[2] + 1.0};
      })[0];
}

/// Rows by a power of two and with a row and a column that make their number even.
Tensor scaled_rows(Tensor rows, Tensor scale) {
  const std::int64_t missing = rows.shape()[1] % 2;
  return padded(divided_by_scale(rows, scale), missing, missing);
}

Tensor lengths_of(Tensor rows) { return sqrt(sum(square_of_size(rows), {2})); }

Tensor with_nan_of(Tensor scale, Tensor x) {
  return x + with_dtype(spread(scale * 0.0, real_part(x), {0}), x.dtype());
}

}  // namespace

Eigen eigen(Tensor a, bool sorts) {
  const std::int64_t batch = a.shape()[0], size = a.shape()[1];
  GraphBuilder& builder = *a.builder;
  const Tensor scale = scale_of(a);
  const std::int64_t missing = size % 2, n = size + missing;
  const Tensor scaled = padded(divided_by_scale(a, scale), missing, missing);
  // What is left beside the diagonal may be so large, and does not show in the values then.
  const Tensor whole = sum(square_of_size(scaled), {1, 2});
  const double unit = unit_of(whole.dtype());
  const Tensor bound = whole * (unit * unit);
  const Tensor left = squares_beside_diagonal(scaled);
  const std::vector<Tensor> start = {scaled, identity(builder, a.dtype(), batch, n, n), bound, left,
                                     builder.number(DType::kI32, 0)};
  const std::vector<Tensor> end = repeat_while(
      start,
      [](std::span<const Tensor> values) {
        return any(compare("GT", values[3], values[2])) & (values[4] < kMostSweeps);
      },
      [n](std::span<const Tensor> values) -> std::vector<Tensor> {
        const std::vector<Tensor> next = repeat(n - 1, values.first(2), round_of_eigen);
        return {next[0], next[1], values[2], squares_beside_diagonal(next[0]), values[4] + 1.0};
      });
  const Tensor values = real_part(diagonal_of(end[0]));
  // A row that was added is the last one here.
  Tensor sorted_values = window(values, {0, 0}, {batch, size});
  Tensor vectors = block_of(end[1], 0, size, 0, size);
  if (sorts) {
    const Tensor order = order_of(sorted_values, size, false);
    sorted_values = ordered(order, sorted_values);
    vectors = ordered(order, vectors);
  }
  // NaN, of which no order is known, is in all results.
  return {with_nan_of(scale, times_scale(sorted_values, scale)), with_nan_of(scale, vectors)};
}

SingularValues singular_values(Tensor transposed) {
  const std::int64_t batch = transposed.shape()[0], size = transposed.shape()[1];
  const Tensor scale = scale_of(transposed);
  const Tensor scaled = scaled_rows(transposed, scale);
  const std::int64_t n = scaled.shape()[1];
  const std::vector<Tensor> beside = {scaled,
                                      identity(*transposed.builder, scaled.dtype(), batch, n, n)};
  const Tensor end = orthogonalized(concatenate(beside, 2));
  const Tensor rows = block_of(end, 0, n, 0, size);
  const Tensor lengths = lengths_of(rows);
  const Tensor order = order_of(with_last_key(lengths, size, -1), size, true);
  return {with_nan_of(scale, times_scale(ordered(order, lengths), scale)),
          with_nan_of(scale, times_scale(ordered(order, rows), scale)),
          with_nan_of(scale, ordered(order, block_of(end, 0, n, n, size)))};
}

Tensor only_singular_values(Tensor transposed) {
  const Tensor scale = scale_of(transposed);
  const Tensor lengths = lengths_of(orthogonalized(scaled_rows(transposed, scale)));
  const std::int64_t size = transposed.shape()[1];
  const Tensor order = order_of(with_last_key(lengths, size, -1), size, true);
  return with_nan_of(scale, times_scale(ordered(order, lengths), scale));
}

}  // namespace superstep
