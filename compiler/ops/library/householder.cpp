#include "compiler/ops/library/householder.h"

#include <algorithm>
#include <vector>

#include "compiler/ops/library/matrices.h"

namespace superstep {
namespace {

/// Rows [batch, rows, n] times columns [batch, n].
Tensor times_column(Tensor rows, Tensor column) {
  return dot_general(rows, column, {{0}, {0}, {2}, {1}}, rows.dtype());
}

/// Each column, which is a row here, less its part along v: x - weight v, where the weights are the
/// elements of [batch, columns].
Tensor without(Tensor transposed, Tensor weights, Tensor v) {
  return transposed - spread(weights, transposed, {0, 1}) * spread(v, transposed, {0, 2});
}

/// A vector's reflector, that leaves it with the element `first` only.
struct Reflector {
  Tensor v;     ///< [batch, n]; 0 in front of the element `first`, 1 there
  Tensor tau;   ///< [batch]
  Tensor beta;  ///< [batch], real: the element that is left
};

/// Of the first element of vectors [batch, n], alpha, and of those that are behind it; others do
/// not count. As LAPACK's larfg: beta has the sign that the real part of alpha, which may be -0,
/// does not have; where nothing is to be removed, tau is 0.
Reflector reflector_of(Tensor x, Tensor alpha, Tensor is_first, Tensor is_behind) {
  const DType dtype = x.dtype();
  const Tensor tail = select(is_behind, x, x.like(0));
  // By the largest of them, so that no square is too large or too small.
  const Tensor largest_behind = largest(abs(tail), 1);
  const Tensor scale = maximum(largest_behind, abs(alpha));
  const Tensor divisor = select(scale == 0.0, scale.like(1), scale);
  const Tensor scaled = tail / with_dtype(spread(divisor, tail, {0}), dtype);
  const Tensor scaled_alpha = alpha / with_dtype(divisor, dtype);
  const Tensor real = real_part(scaled_alpha);
  const Tensor size = sqrt(sum(square_of_size(scaled), {1}) + square_of_size(scaled_alpha));
  const Tensor beta = select(real.like(1) / real_part(alpha) < 0.0, size, -size);
  const Tensor is_done =
      compare("EQ", largest_behind, scale.like(0)) & (imaginary_part(alpha) == 0.0);
  const Tensor beta_or_one = select(is_done, beta.like(1), beta);
  const Tensor tau =
      of_parts((beta - real) / beta_or_one, -imaginary_part(scaled_alpha) / beta_or_one, dtype);
  const Tensor gap = scaled_alpha - with_dtype(beta, dtype);
  const Tensor gap_or_one = select(is_done, gap.like(1), gap);
  const Tensor v = select(is_first, x.like(1), scaled / spread(gap_or_one, x, {0}));
  return {v, select(is_done, tau.like(0), tau), select(is_done, real_part(alpha), beta * divisor)};
}

/// `first` is one for all matrices.
Reflector reflector_of(Tensor x, Tensor first) {
  const std::vector<Tensor> start = {first.like(0), first};
  const std::int64_t batch = x.shape()[0];
  const Tensor alpha = reshape(dynamic_window(x, start, {batch, 1}), {batch});
  return reflector_of(x, alpha, where_index_is("EQ", first, x, 1),
                      where_index_is("GT", first, x, 1));
}

/// Columns right of `turn` without their part along v, as H^H A; column `turn` as the reflector
/// made it, from element `first` on.
Tensor reflected_columns(Tensor a, Tensor turn, Tensor first, Tensor x,
                         const Reflector& reflector) {
  const Tensor parts = times_column(a, conjugate(reflector.v));
  const Tensor is_later = where_index_is("GT", turn, parts, 1);
  const Tensor tau = spread(conjugate(reflector.tau), parts, {0});
  const Tensor weights = select(is_later, parts * tau, parts.like(0));
  const Tensor beta = with_dtype(spread(reflector.beta, real_part(x), {0}), x.dtype());
  const Tensor column = select(where_index_is("EQ", first, x, 1), beta,
                               select(where_index_is("GT", first, x, 1), reflector.v, x));
  return select(where_index_is("EQ", turn, a, 1), spread(column, a, {0, 2}),
                without(a, weights, reflector.v));
}

Tensor with_tau(Tensor taus, Tensor turn, const Reflector& reflector) {
  return select(where_index_is("EQ", turn, taus, 1), spread(reflector.tau, taus, {0}), taus);
}

}  // namespace

Reflectors householder_factors(Tensor transposed) {
  const Shape shape = transposed.shape();
  const std::int64_t batch = shape[0], turns = std::min(shape[1], shape[2]);
  GraphBuilder& builder = *transposed.builder;
  const DType dtype = transposed.dtype();
  const Tensor taus = builder.constant(HostTensor({dtype, {batch, turns}}));
  if (transposed.type().elements() == 0) return {transposed, taus};
  const std::vector<Tensor> start = {transposed, taus};
  const std::vector<Tensor> end = repeat_counted(
      turns, start, [](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor a = values[0], x = row_at(a, turn);
        const Reflector reflector = reflector_of(x, turn);
        return {reflected_columns(a, turn, turn, x, reflector),
                with_tau(values[1], turn, reflector)};
      });
  return {end[0], end[1]};
}

namespace {

/// Element `place` ([batch]) of vectors, or row `place` of matrices: what has that index along
/// dimension 1.
Tensor chosen(Tensor x, Tensor place) {
  const Tensor is_there = compare("EQ", indices_along(x, 1), spread(place, x, {0}));
  return sum(select(is_there, x, x.like(0)), {1});
}

/// With row `turn` and that in `place` exchanged.
Tensor exchanged(Tensor x, Tensor turn, Tensor place) {
  const Tensor here = broadcast(turn, place.shape(), {});
  const Tensor is_there = compare("EQ", indices_along(x, 1), spread(place, x, {0}));
  const auto as_rows = [&](Tensor row) {
    const bool is_matrix = x.shape().size() == 3;
    return is_matrix ? spread(row, x, {0, 2}) : spread(row, x, {0});
  };
  return select(where_index_is("EQ", turn, x, 1), as_rows(chosen(x, place)),
                select(is_there, as_rows(chosen(x, here)), x));
}

/// The first of the rows from `turn` on that `first` marks, else the first of the longest ones
/// ([batch]). Lengths are those behind `turn`, divided by `scale` so that squares are in range.
Tensor next_pivot(Tensor a, Tensor first, Tensor turn, Tensor scale) {
  const Tensor divided = a / with_dtype(spread(scale, real_part(a), {0}), a.dtype());
  const Tensor is_below = where_index_is("GE", turn, real_part(a), 2);
  const Tensor squares = square_of_size(divided);
  const Tensor lengths = sum(select(is_below, squares, squares.like(0)), {2});
  const Tensor is_left = where_index_is("GE", turn, lengths, 1);
  const Tensor is_marked = is_left & compare("NE", first, first.like(0));
  const Tensor longest = largest(select(is_left, lengths, lengths.like(0)), 1);
  const Tensor is_longest = is_left & compare("EQ", lengths, spread(longest, lengths, {0}));
  const Tensor index = indices_along(lengths, 1);
  const auto none = static_cast<double>(a.shape()[1]);
  const auto least_of = [&](Tensor flags) {
    return superstep::reduce(select(flags, index, index.like(none)),
                             index.builder->number(DType::kI32, none), {1},
                             [](Tensor x, Tensor y) { return minimum(x, y); });
  };
  const Tensor marked = least_of(is_marked), of_longest = least_of(is_longest);
  const Tensor found = select(marked < none, marked, of_longest);
  // Where lengths are NaN none is the longest.
  return select(found < none, found, broadcast(turn, found.shape(), {}));
}

}  // namespace

PivotedReflectors pivoted_factors(Tensor transposed, Tensor first) {
  const Shape shape = transposed.shape();
  const std::int64_t batch = shape[0], turns = std::min(shape[1], shape[2]);
  GraphBuilder& builder = *transposed.builder;
  const DType dtype = transposed.dtype();
  const Tensor taus = builder.constant(HostTensor({dtype, {batch, turns}}));
  const Tensor order = builder.iota({DType::kI32, {batch, shape[1]}}, 1) + 1.0;
  if (transposed.type().elements() == 0) return {{transposed, taus}, order};
  const Tensor size = largest(largest(abs(transposed), 2), 1);
  const Tensor scale = select(size == 0.0, size.like(1), size);
  const std::vector<Tensor> start = {transposed, taus, order, first, scale};
  const std::vector<Tensor> end = repeat_counted(
      turns, start, [](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor place = next_pivot(values[0], values[3], turn, values[4]);
        const Tensor a = exchanged(values[0], turn, place), x = row_at(a, turn);
        const Reflector reflector = reflector_of(x, turn);
        return {reflected_columns(a, turn, turn, x, reflector),
                with_tau(values[1], turn, reflector), exchanged(values[2], turn, place),
                exchanged(values[3], turn, place), values[4]};
      });
  return {{end[0], end[1]}, end[2]};
}

namespace {

/// A H of A^T: A loses A v times tau v^H.
Tensor reflected_from_right(Tensor transposed, const Reflector& reflector) {
  const Tensor parts = sum(transposed * spread(reflector.v, transposed, {0, 1}), {1});
  const Tensor tau = spread(reflector.tau, reflector.v, {0});
  return without(transposed, conjugate(reflector.v) * tau, parts);
}

/// Column `turn` of A loses what is below its subdiagonal, and A is turned.
Tensor hessenberg_turn(Tensor transposed, Tensor turn, Tensor x, const Reflector& reflector) {
  const Tensor left = reflected_columns(transposed, turn, turn + 1.0, x, reflector);
  // Columns up to `turn` are none of v.
  return reflected_from_right(left, reflector);
}

}  // namespace

Reflectors hessenberg_factors(Tensor transposed) {
  const Shape shape = transposed.shape();
  const std::int64_t turns = std::max<std::int64_t>(shape[1] - 1, 0);
  GraphBuilder& builder = *transposed.builder;
  const Tensor taus = builder.constant(HostTensor({transposed.dtype(), {shape[0], turns}}));
  if (taus.type().elements() == 0) return {transposed, taus};
  const std::vector<Tensor> start = {transposed, taus};
  const std::vector<Tensor> end = repeat_counted(
      turns, start, [](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor a = values[0], x = row_at(a, turn);
        const Reflector reflector = reflector_of(x, turn + 1.0);
        return {hessenberg_turn(a, turn, x, reflector), with_tau(values[1], turn, reflector)};
      });
  return {end[0], end[1]};
}

Hessenberg hessenberg(Tensor a, Tensor z) {
  const std::int64_t turns = a.shape()[1] - 2;
  if (turns < 1) return {a, z};
  const std::vector<Tensor> start = {transpose(a, {0, 2, 1}), transpose(z, {0, 2, 1})};
  const std::vector<Tensor> end = repeat_counted(
      turns, start, [](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor x = row_at(values[0], turn);
        const Reflector reflector = reflector_of(x, turn + 1.0);
        return {hessenberg_turn(values[0], turn, x, reflector),
                reflected_from_right(values[1], reflector)};
      });
  const Tensor h = transpose(end[0], {0, 2, 1});
  const Tensor is_zero = compare("GT", indices_along(h, 1), indices_along(h, 2) + 1.0);
  return {select(is_zero, h.like(0), h), transpose(end[1], {0, 2, 1})};
}

Hessenberg hessenberg_behind(Tensor x, Tensor first, Tensor a, Tensor z) {
  const Tensor index = indices_along(x, 1), place = spread(first, index, {0});
  const Tensor is_first = compare("EQ", index, place);
  const Tensor alpha = sum(select(is_first, x, x.like(0)), {1});
  const Reflector reflector = reflector_of(x, alpha, is_first, compare("GT", index, place));
  const auto from_right = [&](Tensor matrix) {
    return transpose(reflected_from_right(transpose(matrix, {0, 2, 1}), reflector), {0, 2, 1});
  };
  // H^H A is the adjoint of A^H H.
  const auto adjoint = [](Tensor matrix) { return conjugate(transpose(matrix, {0, 2, 1})); };
  return hessenberg(from_right(adjoint(from_right(adjoint(a)))), from_right(z));
}

Tensor reflected(const Reflectors& reflectors, Tensor transposed, bool adjoint) {
  const std::int64_t turns = reflectors.taus.shape()[1];
  if (turns == 0 || transposed.type().elements() == 0) return transposed;
  const std::vector<Tensor> start = {transposed, reflectors.packed, reflectors.taus};
  return repeat_counted(
      turns, start, [&](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor c = values[0], packed = values[1], taus = values[2];
        const Tensor k = adjoint ? turn : turn.like(static_cast<double>(turns - 1)) - turn;
        const Tensor x = row_at(packed, k);
        const Tensor v = select(where_index_is("EQ", k, x, 1), x.like(1),
                                select(where_index_is("GT", k, x, 1), x, x.like(0)));
        const Tensor tau = sum(select(where_index_is("EQ", k, taus, 1), taus, taus.like(0)), {1});
        const Tensor parts = times_column(c, conjugate(v));
        const Tensor weights = parts * spread(adjoint ? conjugate(tau) : tau, parts, {0});
        return {without(c, weights, v), packed, taus};
      })[0];
}

}  // namespace superstep
