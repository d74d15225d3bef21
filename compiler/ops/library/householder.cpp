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

/// `x` is [batch, n]; numbers in front of `first` do not count. As LAPACK's larfg: beta has the
/// sign that the real part of the first element does not have; where nothing is to be removed, tau
/// is 0.
Reflector reflector_of(Tensor x, Tensor first) {
  const DType dtype = x.dtype();
  const Tensor is_first = where_index_is("EQ", first, x, 1);
  const Tensor is_behind = where_index_is("GT", first, x, 1);
  const Tensor alpha = sum(select(is_first, x, x.like(0)), {1});
  const Tensor tail = select(is_behind, x, x.like(0));
  // By the largest of them, so that no square is too large or too small.
  const Tensor largest_behind = largest(abs(tail), 1);
  const Tensor scale = maximum(largest_behind, abs(alpha));
  const Tensor divisor = select(scale == 0.0, scale.like(1), scale);
  const Tensor scaled = tail / with_dtype(spread(divisor, tail, {0}), dtype);
  const Tensor scaled_alpha = alpha / with_dtype(divisor, dtype);
  const Tensor real = real_part(scaled_alpha);
  const Tensor size = sqrt(sum(square_of_size(scaled), {1}) + square_of_size(scaled_alpha));
  const Tensor beta = select(real < 0.0, size, -size);
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

Reflectors hessenberg_factors(Tensor transposed) {
  const Shape shape = transposed.shape();
  const std::int64_t turns = std::max<std::int64_t>(shape[1] - 1, 0);
  GraphBuilder& builder = *transposed.builder;
  const Tensor taus = builder.constant(HostTensor({transposed.dtype(), {shape[0], turns}}));
  if (taus.type().elements() == 0) return {transposed, taus};
  const std::vector<Tensor> start = {transposed, taus};
  const std::vector<Tensor> end = repeat_counted(
      turns, start, [](Tensor turn, std::span<const Tensor> values) -> std::vector<Tensor> {
        const Tensor a = values[0], x = row_at(a, turn), first = turn + 1.0;
        const Reflector reflector = reflector_of(x, first);
        const Tensor left = reflected_columns(a, turn, first, x, reflector);
        // Of A H, A loses A v times tau v^H; columns up to `turn` are none of v.
        const Tensor parts = sum(left * spread(reflector.v, left, {0, 1}), {1});
        const Tensor tau = spread(reflector.tau, x, {0});
        return {without(left, conjugate(reflector.v) * tau, parts),
                with_tau(values[1], turn, reflector)};
      });
  return {end[0], end[1]};
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
