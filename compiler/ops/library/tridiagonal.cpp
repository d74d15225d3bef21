// Solutions of tridiagonal systems, with rows exchanged where a pivot is the smaller one.

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <vector>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

// (dl, d, du, b) to (the second superdiagonal of U from element 1 on, its diagonal, its
// superdiagonal, X, info). All diagonals have n elements: the first of dl is not read, nor the last
// of du.
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 4);
  const TensorType& b = operands[3];
  require_matrices(op, b);
  const TensorType diagonal = of_batch(b, b.dtype, {b.shape[b.shape.size() - 2]});
  for (const TensorType& operand : operands.first(3)) require_type(op, operand, diagonal);
  return {diagonal, diagonal, diagonal, b, info_type(b)};
}

double size_of_pivot(const Complex& x) { return std::abs(x.real()) + std::abs(x.imag()); }

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  std::vector<TensorType> operand_types;
  for (const HostTensor& operand : operands) operand_types.push_back(operand.type);
  const std::vector<TensorType> types = infer(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  for (std::size_t number = 0; number < matrices_in(types[3]); ++number) {
    HostMatrix x(operands[3], number);
    const std::size_t n = x.rows;
    const auto read = [&](std::size_t operand) {
      std::vector<Complex> list;
      for (std::size_t i = 0; i < n; ++i)
        list.push_back(read_number(operands[operand], number * n + i));
      return list;
    };
    // Row i of U is at columns i to i + 2.
    const std::vector<Complex> lower = read(0);
    std::vector<Complex> diagonal = read(1), upper = read(2), second(n);
    if (n > 0) upper[n - 1] = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      Complex below = lower[i + 1];
      if (size_of_pivot(diagonal[i]) < size_of_pivot(below)) {
        std::swap(diagonal[i], below);
        std::swap(upper[i], diagonal[i + 1]);
        std::swap(second[i], upper[i + 1]);
        for (std::size_t k = 0; k < x.columns; ++k) std::swap(x.at(i, k), x.at(i + 1, k));
      }
      const Complex factor = diagonal[i] == Complex(0) ? 0 : below / diagonal[i];
      diagonal[i + 1] -= factor * upper[i];
      upper[i + 1] -= factor * second[i];
      for (std::size_t k = 0; k < x.columns; ++k) x.at(i + 1, k) -= factor * x.at(i, k);
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = 0; k < x.columns; ++k) {
        if (i + 1 < n) x.at(i, k) -= upper[i] * x.at(i + 1, k);
        if (i + 2 < n) x.at(i, k) -= second[i] * x.at(i + 2, k);
        x.at(i, k) /= diagonal[i];
      }
    }
    x.write_to(results[3], number);
    for (std::size_t i = 0; i < n; ++i) {
      write_number(results[0], number * n + i, i == 0 ? lower[0] : second[i - 1]);
      write_number(results[1], number * n + i, diagonal[i]);
      write_number(results[2], number * n + i, upper[i]);
      if (diagonal[i] == Complex(0) && read_int(results[4], number) == 0) {
        write_int(results[4], number, static_cast<std::int64_t>(i) + 1);
      }
    }
  }
  return results;
}

Tensor size_of_pivot(Tensor x) {
  return is_complex(x.dtype()) ? abs(real_part(x)) + abs(imaginary_part(x)) : abs(x);
}

/// Columns of [batch, columns].
Tensor columns_of(Tensor x, std::int64_t first, std::int64_t count) {
  return window(x, {0, first}, {x.shape()[0], count});
}

Tensor beside(std::initializer_list<Tensor> parts) {
  const std::vector<Tensor> all(parts);
  return concatenate(all, 1);
}

/// One column times all of `like`.
Tensor times_each(Tensor column, Tensor like) {
  return broadcast(column, like.shape(), {0, 1}) * like;
}

// A row is diagonal, superdiagonal, second superdiagonal and right sides. The current one meets the
// one below it, whose first element is the subdiagonal's, and the larger pivot stays.
std::vector<Tensor> turn_of_elimination(Tensor turn, std::span<const Tensor> values) {
  const Tensor table = values[0], current = values[1], done = values[2];
  const Tensor below = row_at(table, turn + 1.0);
  const Tensor size = size_of_pivot(columns_of(current, 0, 1));
  const Tensor size_below = size_of_pivot(columns_of(below, 0, 1));
  const Tensor stays = broadcast(compare("GE", size, size_below), current.shape(), {0, 1});
  const Tensor pivot_row = select(stays, current, below), other = select(stays, below, current);
  const Tensor pivot = columns_of(pivot_row, 0, 1);
  const Tensor is_zero = compare("EQ", pivot, pivot.like(0));
  const Tensor factor = select(is_zero, pivot.like(0),
                               columns_of(other, 0, 1) / select(is_zero, pivot.like(1), pivot));
  const Tensor rest = other - times_each(factor, pivot_row);
  // Without the element that is gone; there is no third superdiagonal.
  const std::int64_t sides = current.shape()[1] - 3;
  const Tensor next =
      beside({columns_of(rest, 1, 2), columns_of(rest, 0, 1).like(0), columns_of(rest, 3, sides)});
  return {table, next, with_row(done, turn, pivot_row)};
}

/// Rows of X from the last one on.
std::vector<Tensor> turn_of_substitution(Tensor turn, std::span<const Tensor> values) {
  const Tensor table = values[0], next = values[1], after_next = values[2], x = values[3];
  const std::int64_t n = table.shape()[1], sides = x.shape()[2];
  const Tensor at = turn.like(static_cast<double>(n - 1)) - turn;
  const Tensor row = row_at(table, at);
  const Tensor rest = columns_of(row, 3, sides) - times_each(columns_of(row, 1, 1), next) -
                      times_each(columns_of(row, 2, 1), after_next);
  const Tensor solved = rest / broadcast(columns_of(row, 0, 1), rest.shape(), {0, 1});
  return {table, solved, next, with_row(x, at, solved)};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  std::vector<TensorType> operand_types;
  for (const Tensor& operand : operands) operand_types.push_back(operand.type());
  const std::vector<TensorType> types = infer(op, operand_types);
  const DType dtype = types[3].dtype;
  const Tensor b = batched(operands[3]);
  const std::int64_t batch = b.shape()[0], n = b.shape()[1], sides = b.shape()[2];
  if (batch == 0 || n == 0) {
    return {operands[0], operands[1], operands[2], operands[3],
            builder.constant(HostTensor(types[4]))};
  }
  const auto zeros = [&](Shape shape) {
    return builder.constant(HostTensor({dtype, std::move(shape)}));
  };
  const auto column = [&](std::size_t i) { return reshape(operands[i], {batch, n, 1}); };
  const Tensor last = zeros({batch, 1, 1});
  const std::vector<Tensor> upper_and_zero = {block_of(column(2), 0, n - 1, 0, 1), last};
  const Tensor upper = n > 1 ? concatenate(upper_and_zero, 1) : last;
  const std::vector<Tensor> parts = {column(0), column(1), upper, b};
  const Tensor table = concatenate(parts, 2);
  const Tensor top = reshape(block_of(table, 0, 1, 0, 3 + sides), {batch, 3 + sides});
  const Tensor first =
      beside({columns_of(top, 1, 2), zeros({batch, 1}), columns_of(top, 3, sides)});
  const std::vector<Tensor> start = {table, first, zeros({batch, n, 3 + sides})};
  const std::vector<Tensor> end = n > 1 ? repeat_counted(n - 1, start, turn_of_elimination) : start;
  const Tensor rows =
      with_row(end[2], builder.number(DType::kI32, static_cast<double>(n - 1)), end[1]);

  const Tensor diagonal = reshape(block_of(rows, 0, n, 0, 1), {batch, n});
  const Tensor number = indices_along(diagonal, 1) + 1.0;
  const double none = static_cast<double>(n + 1);
  const Tensor zero_at = superstep::reduce(
      select(compare("EQ", diagonal, diagonal.like(0)), number, number.like(none)),
      builder.number(DType::kI32, none), {1}, [](Tensor x, Tensor y) { return minimum(x, y); });
  const Tensor info = select(zero_at == none, zero_at.like(0), zero_at);

  Tensor x = b;
  if (sides > 0) {
    const std::vector<Tensor> before = {rows, zeros({batch, sides}), zeros({batch, sides}), b};
    x = repeat_counted(n, before, turn_of_substitution)[3];
  }
  const std::vector<Tensor> seconds = {block_of(column(0), 0, 1, 0, 1),
                                       block_of(rows, 0, n - 1, 2, 1)};
  const Tensor second = n > 1 ? concatenate(seconds, 1) : column(0);
  return {reshape(second, types[0].shape), reshape(diagonal, types[1].shape),
          reshape(block_of(rows, 0, n, 1, 1), types[2].shape), reshape(x, types[3].shape),
          reshape(info, types[4].shape)};
}

}  // namespace

const LibraryFunction kGtsv{infer, evaluate, expand};

}  // namespace superstep
