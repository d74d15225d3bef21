// P A = L U with partial pivoting.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

std::int64_t pivots_of(const TensorType& a) {
  return std::min(a.shape[a.shape.size() - 2], a.shape.back());
}

std::vector<TensorType> infer_getrf(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_matrices(op, a);
  return {a, of_batch(a, DType::kI32, {pivots_of(a)}), info_type(a)};
}

std::vector<TensorType> infer_decomposition(const Op& op, std::span<const TensorType> operands) {
  std::vector<TensorType> types = infer_getrf(op, operands);
  types[2] = of_batch(operands[0], DType::kI32, {operands[0].shape[operands[0].shape.size() - 2]});
  return types;
}

/// What LAPACK compares of complex numbers.
double size_of_pivot(const Complex& x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// The rows that were swapped with each one, from 0.
std::vector<std::size_t> factor(HostMatrix& a) {
  std::vector<std::size_t> pivots;
  for (std::size_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      if (size_of_pivot(a.at(i, k)) > size_of_pivot(a.at(pivot, k))) pivot = i;
    }
    pivots.push_back(pivot);
    for (std::size_t j = 0; j < a.columns; ++j) std::swap(a.at(k, j), a.at(pivot, j));
    if (a.at(k, k) == Complex(0)) continue;
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      a.at(i, k) /= a.at(k, k);
      for (std::size_t j = k + 1; j < a.columns; ++j) a.at(i, j) -= a.at(i, k) * a.at(k, j);
    }
  }
  return pivots;
}

/// The number of the first pivot that is 0, from 1; 0 where there is none.
std::int64_t first_zero(const HostMatrix& factor) {
  for (std::size_t k = 0; k < std::min(factor.rows, factor.columns); ++k) {
    if (factor.at(k, k) == Complex(0)) return static_cast<std::int64_t>(k) + 1;
  }
  return 0;
}

std::vector<HostTensor> evaluate_getrf(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  const std::vector<TensorType> results = infer_getrf(op, types);
  HostTensor factors(results[0]), all_pivots(results[1]), info(results[2]);
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    HostMatrix a(operands[0], number);
    const std::vector<std::size_t> pivots = factor(a);
    a.write_to(factors, number);
    for (std::size_t k = 0; k < pivots.size(); ++k) {
      write_int(all_pivots, number * pivots.size() + k, static_cast<std::int64_t>(pivots[k]) + 1);
    }
    write_int(info, number, first_zero(a));
  }
  return {std::move(factors), std::move(all_pivots), std::move(info)};
}

std::vector<HostTensor> evaluate_decomposition(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> types = {operands[0].type};
  const std::vector<TensorType> results = infer_decomposition(op, types);
  HostTensor factors(results[0]), all_pivots(results[1]), permutations(results[2]);
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    HostMatrix a(operands[0], number);
    const std::vector<std::size_t> pivots = factor(a);
    a.write_to(factors, number);
    std::vector<std::int64_t> rows(a.rows);
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t k = 0; k < pivots.size(); ++k) {
      std::swap(rows[k], rows[pivots[k]]);
      write_int(all_pivots, number * pivots.size() + k, static_cast<std::int64_t>(pivots[k]));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      write_int(permutations, number * rows.size() + i, rows[i]);
    }
  }
  return {std::move(factors), std::move(all_pivots), std::move(permutations)};
}

/// [batch, rows, columns], then pivots [batch, pivots] from 0, and rows in the order of the
/// factors, [batch, rows].
struct Factors {
  Tensor lu, pivots, order;
};

Tensor size_of_pivot(Tensor x) {
  return is_complex(x.dtype()) ? abs(real_part(x)) + abs(imaginary_part(x)) : abs(x);
}

/// With elements `k` and `other` ([batch]) of dimension 1 exchanged, whose values are given.
Tensor exchanged(Tensor x, Tensor k, Tensor other, Tensor at_k, Tensor at_other) {
  const bool has_columns = x.shape().size() == 3;
  const auto spread_row = [&](Tensor row) {
    return has_columns ? spread(row, x, {0, 2}) : spread(row, x, {0});
  };
  const Tensor is_other = compare("EQ", indices_along(x, 1), spread(other, x, {0}));
  return select(where_index_is("EQ", k, x, 1), spread_row(at_other),
                select(is_other, spread_row(at_k), x));
}

/// Element `row` ([batch]) of dimension 1.
Tensor chosen(Tensor x, Tensor row) {
  const Tensor is_row = compare("EQ", indices_along(x, 1), spread(row, x, {0}));
  return sum(select(is_row, x, x.like(0)), {1});
}

// In each turn the rows of the diagonal and of the pivot are exchanged, and all rows below lose
// their part of it.
std::vector<Tensor> turn_of_lu(Tensor k, std::span<const Tensor> values) {
  const Tensor a = values[0], pivots = values[1], order = values[2];
  const Shape shape = a.shape();
  const std::int64_t batch = shape[0], rows = shape[1];
  const Tensor zero = k.like(0);
  const std::vector<Tensor> at_column = {zero, zero, k}, at_k = {zero, k};
  const Tensor column = reshape(dynamic_window(a, at_column, {batch, rows, 1}), {batch, rows});
  const Tensor size = size_of_pivot(column), index = indices_along(column, 1);
  const Tensor is_left = where_index_is("GE", k, column, 1);
  const Tensor best = largest(select(is_left, size, size.like(0)), 1);
  const Tensor is_best = is_left & compare("EQ", size, spread(best, size, {0}));
  // Where all are NaN, none is the best.
  const auto none = static_cast<double>(rows);
  const Tensor found = superstep::reduce(select(is_best, index, index.like(none)),
                                         a.builder->number(DType::kI32, none), {1},
                                         [](Tensor x, Tensor y) { return minimum(x, y); });
  const Tensor pivot_row = select(found == none, broadcast(k, {batch}, {}), found);

  const Tensor row = row_at(a, k), other = chosen(a, pivot_row);
  const Tensor pivot = chosen(column, pivot_row);
  const auto element_at_k = [&](Tensor x) {
    return reshape(dynamic_window(x, at_k, {batch, 1}), {batch});
  };
  const Tensor swapped_column = exchanged(column, k, pivot_row, element_at_k(column), pivot);
  const Tensor is_zero = compare("EQ", pivot, pivot.like(0));
  const Tensor divisor = select(is_zero, pivot.like(1), pivot);
  const Tensor is_below = where_index_is("GT", k, column, 1);
  const Tensor multiplier =
      select(is_below, swapped_column / spread(divisor, column, {0}), column.like(0));
  const Tensor is_right = where_index_is("GT", k, other, 1);
  const Tensor removed =
      spread(multiplier, a, {0, 1}) * spread(select(is_right, other, other.like(0)), a, {0, 2});
  const Tensor is_multiplier = where_index_is("GT", k, a, 1) & where_index_is("EQ", k, a, 2);
  const Tensor swapped = exchanged(a, k, pivot_row, row, other);
  return {select(is_multiplier, spread(multiplier, a, {0, 1}), swapped - removed),
          select(where_index_is("EQ", k, pivots, 1), spread(pivot_row, pivots, {0}), pivots),
          exchanged(order, k, pivot_row, element_at_k(order), chosen(order, pivot_row))};
}

Factors factors_of(Tensor a) {
  a = batched(a);
  const Shape shape = a.shape();
  const std::int64_t turns = std::min(shape[1], shape[2]);
  GraphBuilder& builder = *a.builder;
  const Tensor pivots = builder.constant(HostTensor({DType::kI32, {shape[0], turns}}));
  const TensorType order{DType::kI32, {shape[0], shape[1]}};
  if (order.elements() == 0) return {a, pivots, builder.constant(HostTensor(order))};
  const std::vector<Tensor> start = {a, pivots, builder.iota(order, 1)};
  if (turns == 0) return {a, pivots, start[2]};
  const std::vector<Tensor> end = repeat_counted(turns, start, turn_of_lu);
  return {end[0], end[1], end[2]};
}

std::vector<Tensor> expand_getrf(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type()};
  const std::vector<TensorType> results = infer_getrf(op, types);
  const Factors factors = factors_of(operands[0]);
  const Tensor lu = reshape(factors.lu, results[0].shape);
  const Tensor pivots = reshape(factors.pivots, results[1].shape);
  if (results[1].elements() == 0) return {lu, pivots, builder.constant(HostTensor(results[2]))};
  const std::int64_t count = pivots_of(types[0]);
  const Tensor diagonal = diagonal_of(block_of(factors.lu, 0, count, 0, count));
  const Tensor number = indices_along(diagonal, 1) + 1.0;
  const double none = static_cast<double>(count + 1);
  const Tensor is_zero = compare("EQ", diagonal, diagonal.like(0));
  const Tensor first = superstep::reduce(select(is_zero, number, number.like(none)),
                                         builder.number(DType::kI32, none), {1},
                                         [](Tensor a, Tensor b) { return minimum(a, b); });
  return {lu, pivots + 1.0, reshape(select(first == none, first.like(0), first), results[2].shape)};
}

std::vector<Tensor> expand_decomposition(GraphBuilder&, const Op& op,
                                         std::span<const Tensor> operands) {
  const std::vector<TensorType> types = {operands[0].type()};
  const std::vector<TensorType> results = infer_decomposition(op, types);
  const Factors factors = factors_of(operands[0]);
  return {reshape(factors.lu, results[0].shape), reshape(factors.pivots, results[1].shape),
          reshape(factors.order, results[2].shape)};
}

}  // namespace

const LibraryFunction kGetrf{infer_getrf, evaluate_getrf, expand_getrf};
const LibraryFunction kLuDecomposition{infer_decomposition, evaluate_decomposition,
                                       expand_decomposition};

}  // namespace superstep
