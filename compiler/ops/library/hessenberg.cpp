// A = Q H Q^H, of Hermitian matrices with a tridiagonal H.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/householder.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

std::int64_t reflectors_of(const TensorType& a) {
  return std::max<std::int64_t>(a.shape.back() - 1, 0);
}

// (a) to (H and reflectors, taus, info)

std::vector<TensorType> infer_gehrd(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  const std::int64_t low = setting(op, "low"), high = setting(op, "high");
  if (low != 1 || high != a.shape.back()) {
    unsupported(op, fmt::format("of rows {} to {}, expected 1 to {}", low, high, a.shape.back()));
  }
  return {a, of_batch(a, a.dtype, {reflectors_of(a)}), info_type(a)};
}

/// The upper triangle becomes the lower one where rows and columns are in the opposite order, and
/// so do the results.
bool is_upper(const Op& op) {
  const std::int64_t triangle = setting(op, "uplo");
  if (triangle != 'L' && triangle != 'U') malformed(op, "uplo is neither L nor U");
  return triangle == 'U';
}

HostMatrix reversed(HostMatrix a) {
  std::ranges::reverse(a.elements);
  return a;
}

// (a) to (reflectors in one triangle, diagonal, subdiagonal, taus, info)

std::vector<TensorType> infer_sytrd(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  static_cast<void>(is_upper(op));
  const DType real = real_of(a.dtype);
  return {a, of_batch(a, real, {a.shape.back()}), of_batch(a, real, {reflectors_of(a)}),
          of_batch(a, a.dtype, {reflectors_of(a)}), info_type(a)};
}

/// H and the reflectors in place of A; their taus.
std::vector<Complex> factor(HostMatrix& a) {
  const std::size_t n = a.rows;
  std::vector<Complex> taus;
  for (std::size_t k = 0; k + 1 < n; ++k) {
    double behind = 0;
    for (std::size_t i = k + 2; i < n; ++i) behind = std::hypot(behind, std::abs(a.at(i, k)));
    const Complex alpha = a.at(k + 1, k);
    taus.emplace_back(0);
    if (behind == 0 && alpha.imag() == 0) continue;
    const double beta = -std::copysign(std::hypot(std::abs(alpha), behind), alpha.real());
    const Complex tau = (beta - alpha) / beta;
    taus.back() = tau;
    std::vector<Complex> v(n);
    v[k + 1] = 1;
    a.at(k + 1, k) = beta;
    for (std::size_t i = k + 2; i < n; ++i) v[i] = a.at(i, k) /= alpha - beta;
    for (std::size_t i = 0; i < n; ++i) {
      Complex part = 0;
      for (std::size_t j = k + 1; j < n; ++j) part += a.at(i, j) * v[j];
      for (std::size_t j = k + 1; j < n; ++j) a.at(i, j) -= tau * part * std::conj(v[j]);
    }
    for (std::size_t j = k + 1; j < n; ++j) {
      Complex part = 0;
      for (std::size_t i = k + 1; i < n; ++i) part += std::conj(v[i]) * a.at(i, j);
      for (std::size_t i = k + 1; i < n; ++i) a.at(i, j) -= std::conj(tau) * part * v[i];
    }
  }
  return taus;
}

void write_list(HostTensor& tensor, std::size_t number, const std::vector<Complex>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    write_number(tensor, number * values.size() + k, values[k]);
  }
}

std::vector<HostTensor> evaluate_gehrd(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type};
  const std::vector<TensorType> types = infer_gehrd(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    HostMatrix a(operands[0], number);
    write_list(results[1], number, factor(a));
    a.write_to(results[0], number);
  }
  return results;
}

std::vector<HostTensor> evaluate_sytrd(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type};
  const std::vector<TensorType> types = infer_sytrd(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    HostMatrix packed(operands[0], number);
    if (is_upper(op)) packed = reversed(packed);
    HostMatrix a = packed;
    for (std::size_t i = 0; i < a.rows; ++i) {
      a.at(i, i) = a.at(i, i).real();
      for (std::size_t k = 0; k < i; ++k) a.at(k, i) = std::conj(a.at(i, k));
    }
    std::vector<Complex> taus = factor(a), diagonal, beside;
    for (std::size_t i = 0; i < a.rows; ++i) {
      diagonal.push_back(a.at(i, i));
      if (i > 0) beside.push_back(a.at(i, i - 1));
      for (std::size_t k = 0; k <= i; ++k) packed.at(i, k) = a.at(i, k);
      packed.at(i, i) = a.at(i, i).real();
    }
    if (is_upper(op)) {
      packed = reversed(packed);
      for (auto* list : {&taus, &diagonal, &beside}) std::ranges::reverse(*list);
    }
    write_list(results[1], number, diagonal);
    write_list(results[2], number, beside);
    write_list(results[3], number, taus);
    packed.write_to(results[0], number);
  }
  return results;
}

std::vector<Tensor> expand_gehrd(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type()};
  const std::vector<TensorType> types = infer_gehrd(op, operand_types);
  const Reflectors factors = hessenberg_factors(transposed(batched(operands[0])));
  return {reshape(transposed(factors.packed), types[0].shape),
          reshape(factors.taus, types[1].shape), builder.constant(HostTensor(types[2]))};
}

std::vector<Tensor> expand_sytrd(GraphBuilder& builder, const Op& op,
                                 std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type()};
  const std::vector<TensorType> types = infer_sytrd(op, operand_types);
  const auto zeros = [&](std::size_t i) { return builder.constant(HostTensor(types[i])); };
  if (types[0].elements() == 0) return {operands[0], zeros(1), zeros(2), zeros(3), zeros(4)};
  const auto ordered = [&](Tensor x, std::vector<std::int64_t> dimensions) {
    return is_upper(op) ? reverse(x, std::move(dimensions)) : x;
  };
  const Tensor a = ordered(batched(operands[0]), {1, 2});
  const DType dtype = a.dtype();
  const auto on_diagonal = [&](Tensor x) {
    const Tensor real = with_dtype(real_part(x), dtype);
    return is_complex(dtype) ? select(where_row_is("EQ", x), real, x) : x;
  };
  const Tensor whole = on_diagonal(select(where_row_is("GE", a), a, conjugate(transposed(a))));
  // The transpose of a Hermitian matrix is its conjugate.
  const Reflectors factors = hessenberg_factors(conjugate(whole));
  const Tensor lower = on_diagonal(transposed(factors.packed));
  const std::int64_t n = a.shape()[1];
  const Tensor beside =
      n > 1 ? real_part(diagonal_of(block_of(lower, 1, n - 1, 0, n - 1))) : zeros(2);
  const Tensor packed = select(where_row_is("GE", lower), lower, a);
  const Tensor diagonal = real_part(diagonal_of(lower));
  const auto list = [&](Tensor x, std::size_t i) {
    return reshape(n > 1 ? ordered(x, {1}) : x, types[i].shape);
  };
  return {reshape(ordered(packed, {1, 2}), types[0].shape), list(diagonal, 1), list(beside, 2),
          list(factors.taus, 3), zeros(4)};
}

}  // namespace

const LibraryFunction kGehrd{infer_gehrd, evaluate_gehrd, expand_gehrd};
const LibraryFunction kSytrd{infer_sytrd, evaluate_sytrd, expand_sytrd};

}  // namespace superstep
