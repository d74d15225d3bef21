// A = U S V^H.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <string>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/host_householder.h"
#include "compiler/ops/library/householder.h"
#include "compiler/ops/library/jacobi.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

std::int64_t rows_of(const TensorType& type) { return type.shape[type.shape.size() - 2]; }
std::int64_t columns_of(const TensorType& type) { return type.shape.back(); }

/// All vectors, those of values, or none.
enum class Vectors : std::uint8_t { kAll, kSome, kNone };

Vectors vectors_of(const Op& op) {
  const std::int64_t mode = setting(op, "mode");
  if (mode == 'A') return Vectors::kAll;
  if (mode == 'S') return Vectors::kSome;
  if (mode == 'N') return Vectors::kNone;
  malformed(op, fmt::format("mode is {}, expected 65, 83 or 78 (A, S, N)", mode));
}

// (a) to (a again, S, U, V^H, info). Where there are no vectors, U and V^H are zeros of whichever
// of their sizes the module says.
std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_matrices(op, a);
  const std::int64_t m = rows_of(a), n = columns_of(a), values = std::min(m, n);
  const auto types = [&](std::int64_t left, std::int64_t right) -> std::vector<TensorType> {
    return {a, of_batch(a, real_of(a.dtype), {values}), of_batch(a, a.dtype, {m, left}),
            of_batch(a, a.dtype, {right, n}), info_type(a)};
  };
  const Vectors vectors = vectors_of(op);
  const bool is_short = vectors == Vectors::kSome ||
                        (vectors == Vectors::kNone && op.declared == types(values, values));
  return is_short ? types(values, values) : types(m, n);
}

/// Rotates columns of `a` until each pair is orthogonal; the same rotations of an identity.
HostMatrix orthogonalized(HostMatrix& a) {
  HostMatrix v(a.columns, a.columns);
  for (std::size_t i = 0; i < v.rows; ++i) v.at(i, i) = 1;
  bool goes_on = true;
  for (int sweep = 0; goes_on && sweep < 60; ++sweep) {
    goes_on = false;
    for (std::size_t p = 0; p < a.columns; ++p) {
      for (std::size_t q = p + 1; q < a.columns; ++q) {
        double first = 0, second = 0;
        Complex between = 0;
        for (std::size_t i = 0; i < a.rows; ++i) {
          first += std::norm(a.at(i, p));
          second += std::norm(a.at(i, q));
          between += std::conj(a.at(i, p)) * a.at(i, q);
        }
        const double size = std::abs(between);
        if (!(size > 1e-15 * std::sqrt(first * second)) || size == 0) continue;
        goes_on = true;
        const double ratio = (second - first) / (2 * size);
        const double tangent = std::copysign(1 / (std::abs(ratio) + std::hypot(ratio, 1)), ratio);
        const double c = 1 / std::hypot(tangent, 1);
        const Complex s = c * tangent * between / size;
        for (HostMatrix* matrix : {&a, &v}) {
          for (std::size_t i = 0; i < matrix->rows; ++i) {
            const Complex x = matrix->at(i, p), y = matrix->at(i, q);
            matrix->at(i, p) = c * x - std::conj(s) * y;
            matrix->at(i, q) = s * x + c * y;
          }
        }
      }
    }
  }
  return v;
}

struct HostFactors {
  HostMatrix u, v;  ///< square
  std::vector<double> values;
};

/// Of a matrix that has at least as many rows as columns.
HostFactors factors_of(HostMatrix a) {
  double scale = 0;
  for (const Complex& x : a.elements) scale = std::max(scale, std::abs(x));
  if (scale > 0) {
    for (Complex& x : a.elements) x /= scale;
  }
  const HostMatrix rotations = orthogonalized(a);
  std::vector<double> lengths(a.columns);
  for (std::size_t k = 0; k < a.columns; ++k) {
    for (std::size_t i = 0; i < a.rows; ++i)
      lengths[k] = std::hypot(lengths[k], std::abs(a.at(i, k)));
  }
  std::vector<std::size_t> order(a.columns);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t k) { return lengths[k]; });
  HostFactors result{HostMatrix(a.rows, a.rows), HostMatrix(a.columns, a.columns), {}};
  HostMatrix sorted(a.rows, a.columns);
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (std::size_t i = 0; i < a.rows; ++i) sorted.at(i, k) = a.at(i, order[k]);
    for (std::size_t i = 0; i < a.columns; ++i) result.v.at(i, k) = rotations.at(i, order[k]);
    result.values.push_back(lengths[order[k]] * scale);
  }
  // The columns as orthogonal ones, and others to them.
  const std::vector<Complex> taus = host_householder(sorted);
  for (std::size_t k = 0; k < a.rows; ++k) result.u.at(k, k) = 1;
  host_reflect(sorted, taus, false, result.u);
  for (std::size_t k = 0; k < a.columns; ++k) {
    if (!(sorted.at(k, k).real() < 0)) continue;
    for (std::size_t i = 0; i < a.rows; ++i) result.u.at(i, k) = -result.u.at(i, k);
  }
  return result;
}

bool is_finite(const HostMatrix& a) {
  return std::ranges::all_of(a.elements, [](const Complex& x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  });
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor& operand = operands[0];
  const std::vector<TensorType> operand_types = {operand.type};
  const std::vector<TensorType> types = infer(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  results[0] = operand;
  const auto count = static_cast<std::size_t>(types[1].shape.back());
  for (std::size_t number = 0; number < matrices_in(operand.type); ++number) {
    const HostMatrix a(operand, number);
    const bool is_wide = a.rows < a.columns;
    // A^H = U S V^H is A = V S U^H.
    const HostFactors factors = factors_of(is_wide ? a.adjoint() : a);
    const HostMatrix &left = is_wide ? factors.v : factors.u,
                     right = (is_wide ? factors.u : factors.v).adjoint();
    const double nothing = is_finite(a) ? 0 : std::nan("");
    for (std::size_t k = 0; k < count; ++k) {
      write_float(results[1], number * count + k, factors.values[k] + nothing);
    }
    if (vectors_of(op) == Vectors::kNone) continue;
    HostMatrix u(a.rows, static_cast<std::size_t>(columns_of(types[2])));
    HostMatrix vh(static_cast<std::size_t>(rows_of(types[3])), a.columns);
    for (std::size_t i = 0; i < u.rows; ++i) {
      for (std::size_t k = 0; k < u.columns; ++k) u.at(i, k) = left.at(i, k) + nothing;
    }
    for (std::size_t i = 0; i < vh.rows; ++i) {
      for (std::size_t k = 0; k < vh.columns; ++k) vh.at(i, k) = right.at(i, k) + nothing;
    }
    u.write_to(results[2], number);
    vh.write_to(results[3], number);
  }
  return results;
}

/// [batch, values], and vectors as the transposes of matrices of columns.
struct Factors {
  Tensor values, left, right;
};

/// R of A = Q R, whose rows are as many as its columns.
Tensor upper_triangle(const Reflectors& reflectors) {
  const std::int64_t n = reflectors.packed.shape()[1];
  const Tensor square = block_of(reflectors.packed, 0, n, 0, n);
  return transposed(select(where_row_is("GE", square), square, square.like(0)));
}

/// Of [batch, m, n], m >= n, by its Q and R; the last `more` left vectors have no value.
///
/// A = Q R, and R^H = W S Z^H by rotations, from which Z comes orthogonal to all digits. W may miss
/// columns where values are 0: they are those of the Q of W S.
Factors factors_of(const Reflectors& reflectors, Tensor r, std::int64_t more) {
  const Shape shape = reflectors.packed.shape();
  const std::int64_t batch = shape[0], n = shape[1];
  GraphBuilder& builder = *r.builder;
  const DType dtype = r.dtype();
  const SingularValues found = singular_values(conjugate(r));

  const Reflectors right_reflectors = householder_factors(found.scaled_left);
  const Tensor q = reflected(right_reflectors, identity(builder, dtype, batch, n, n), false);
  const Tensor diagonal = real_part(diagonal_of(right_reflectors.packed));
  const Tensor sign = select(diagonal < 0.0, diagonal.like(-1), diagonal.like(1));
  const Tensor right = q * with_dtype(spread(sign, real_part(q), {0, 1}), dtype);

  const Tensor zero = builder.number(dtype, 0);
  Tensor left = found.right;
  if (shape[2] > n) left = pad(left, zero, {0, 0, 0}, {0, 0, shape[2] - n}, {0, 0, 0});
  if (more > 0) {
    const Tensor others = pad(identity(builder, dtype, batch, more, more), zero, {0, 0, n},
                              {0, 0, shape[2] - n - more}, {0, 0, 0});
    const std::vector<Tensor> parts = {left, others};
    left = concatenate(parts, 1);
  }
  return {found.values, reflected(reflectors, left, false), right};
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type()};
  const std::vector<TensorType> types = infer(op, operand_types);
  const auto zeros = [&](std::size_t i) { return builder.constant(HostTensor(types[i])); };
  const std::int64_t m = rows_of(types[0]), n = columns_of(types[0]);
  const Vectors vectors = vectors_of(op);
  if (types[0].elements() == 0) {
    const auto ones = [&](std::size_t i) {
      if (vectors == Vectors::kNone) return zeros(i);
      const std::int64_t batch = TensorType{{}, batch_of(types[i])}.elements();
      return reshape(
          identity(builder, types[i].dtype, batch, rows_of(types[i]), columns_of(types[i])),
          types[i].shape);
    };
    return {operands[0], zeros(1), ones(2), ones(3), zeros(4)};
  }
  const bool is_wide = m < n;
  const Tensor a = batched(operands[0]);
  // The transpose of A, or of A^H.
  const std::int64_t more = vectors == Vectors::kAll ? std::max(m, n) - std::min(m, n) : 0;
  const Reflectors reflectors = householder_factors(is_wide ? conjugate(a) : transposed(a));
  const Tensor r = upper_triangle(reflectors);
  if (vectors == Vectors::kNone) {
    const Tensor values = only_singular_values(conjugate(r));
    return {operands[0], reshape(values, types[1].shape), zeros(2), zeros(3), zeros(4)};
  }
  const Factors factors = factors_of(reflectors, r, more);
  const Tensor values = reshape(factors.values, types[1].shape);
  const Tensor u = transposed(is_wide ? factors.right : factors.left);
  const Tensor vh = conjugate(is_wide ? factors.left : factors.right);
  return {operands[0], values, reshape(u, types[2].shape), reshape(vh, types[3].shape), zeros(4)};
}

}  // namespace

const LibraryFunction kGesdd{infer, evaluate, expand};

}  // namespace superstep
