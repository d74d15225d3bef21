// A P = Q R by Householder's reflections, with the longest column that is left next.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/host_householder.h"
#include "compiler/ops/library/householder.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

// (a, columns that come first: not 0) to (R and reflectors, columns of a from 1, taus)

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 2);
  const TensorType& a = operands[0];
  require_matrices(op, a);
  const std::int64_t rows = a.shape[a.shape.size() - 2], columns = a.shape.back();
  const TensorType order = of_batch(a, DType::kI32, {columns});
  require_type(op, operands[1], order);
  return {a, order, of_batch(a, a.dtype, {std::min(rows, columns)})};
}

/// The part of a column that turn `k` and those behind it have to do with.
double length_behind(const HostMatrix& a, std::size_t column, std::size_t k) {
  double length = 0;
  for (std::size_t i = k; i < a.rows; ++i) length = std::hypot(length, std::abs(a.at(i, column)));
  return length;
}

void swap_columns(HostMatrix& a, std::size_t i, std::size_t k) {
  for (std::size_t row = 0; row < a.rows; ++row) std::swap(a.at(row, i), a.at(row, k));
}

/// Chooses each column by what is left of it below the reflectors so far, which are applied to the
/// columns of A again each time.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type, operands[1].type};
  const std::vector<TensorType> types = infer(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    HostMatrix a(operands[0], number);
    const std::size_t n = a.columns, turns = std::min(a.rows, n);
    std::vector<std::size_t> order(n);
    std::vector<std::uint8_t> is_first(n);
    for (std::size_t k = 0; k < n; ++k) {
      order[k] = k;
      is_first[k] = read_int(operands[1], number * n + k) != 0 ? 1 : 0;
    }
    HostMatrix packed = a;
    std::vector<Complex> taus;
    for (std::size_t k = 0; k < turns; ++k) {
      HostMatrix rest = a;
      const std::vector<Complex> so_far(taus.begin(),
                                        taus.begin() + static_cast<std::ptrdiff_t>(k));
      host_reflect(packed, so_far, true, rest);
      std::size_t next = k;
      for (std::size_t j = k + 1; j < n; ++j) {
        const bool is_longer = length_behind(rest, j, k) > length_behind(rest, next, k);
        if (is_first[j] != is_first[next] ? is_first[j] != 0 : is_longer && is_first[next] == 0)
          next = j;
      }
      swap_columns(a, k, next);
      std::swap(order[k], order[next]);
      std::swap(is_first[k], is_first[next]);
      packed = a;
      taus = host_householder(packed);
    }
    packed.write_to(results[0], number);
    for (std::size_t k = 0; k < n; ++k) {
      write_int(results[1], number * n + k, static_cast<std::int64_t>(order[k]) + 1);
    }
    for (std::size_t k = 0; k < turns; ++k) {
      write_number(results[2], number * turns + k, taus[k]);
    }
  }
  return results;
}

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type(), operands[1].type()};
  const std::vector<TensorType> types = infer(op, operand_types);
  const Tensor a = transposed(batched(operands[0]));
  const Shape shape = a.shape();
  const Tensor first = reshape(operands[1], {shape[0], shape[1]});
  const PivotedReflectors factors = pivoted_factors(a, first);
  return {reshape(transposed(factors.reflectors.packed), types[0].shape),
          reshape(factors.order, types[1].shape), reshape(factors.reflectors.taus, types[2].shape)};
}

}  // namespace

const LibraryFunction kGeqp3{infer, evaluate, expand};

}  // namespace superstep
