// Eigenvalues and vectors of any square matrix.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/host_schur.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/library/schur.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

// (a) to (real parts, imaginary parts, left vectors, right vectors, info), of complex matrices the
// values as one. Vectors that are not computed are zeros.

std::vector<TensorType> infer_geev(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  static_cast<void>(setting(op, "compute_left"));
  static_cast<void>(setting(op, "compute_right"));
  const TensorType values = of_batch(a, a.dtype, {a.shape.back()});
  const TensorType vectors{is_complex(a.dtype) ? a.dtype : complex_of(a.dtype), a.shape};
  if (is_complex(a.dtype)) return {values, vectors, vectors, info_type(a)};
  return {values, values, vectors, vectors, info_type(a)};
}

/// What a gap between eigenvalues counts as, so that there is something to divide by.
Complex divisor_of(Complex gap, double size) {
  const double least = std::max(1e-16 * size, std::numeric_limits<double>::min());
  return std::abs(gap) < least ? least : gap;
}

/// X with T X = t_kk X, or X^H T = t_kk X^H.
std::vector<Complex> vector_of_triangle(const HostMatrix& t, std::size_t k, bool is_left) {
  const std::size_t n = t.rows;
  double size = 0;
  for (const Complex& x : t.elements) size = std::max(size, std::abs(x));
  std::vector<Complex> x(n);
  x[k] = 1;
  if (is_left) {
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k; j < i; ++j) x[i] += std::conj(t.at(j, i)) * x[j];
      x[i] /= divisor_of(std::conj(t.at(k, k) - t.at(i, i)), size);
    }
    return x;
  }
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t j = i + 1; j <= k; ++j) x[i] += t.at(i, j) * x[j];
    x[i] /= divisor_of(t.at(k, k) - t.at(i, i), size);
  }
  return x;
}

/// Vector k of A, of length 1 with a real largest element.
std::vector<Complex> vector_of(const HostMatrix& t, const HostMatrix& z, std::size_t k,
                               bool is_left) {
  const std::size_t n = t.rows;
  const std::vector<Complex> x = vector_of_triangle(t, k, is_left);
  std::vector<Complex> v(n);
  double length = 0;
  Complex best = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) v[i] += z.at(i, j) * x[j];
    length = std::hypot(length, std::abs(v[i]));
    if (std::abs(v[i]) > std::abs(best) * (1 + 1e-12)) best = v[i];
  }
  for (Complex& element : v) {
    const bool is_best = element == best;
    element *= std::conj(best) / std::abs(best) / length;
    if (is_best) element = element.real();
  }
  return v;
}

struct HostEigen {
  std::vector<Complex> values;
  std::vector<std::vector<Complex>> vectors;
};

/// Pairs of a real matrix come one behind the other, that of a positive imaginary part first.
HostEigen eigen_of(const HostMatrix& a, bool is_real, bool is_left) {
  const auto [t, z] = host_schur(a);
  const std::size_t n = a.rows;
  double size = 0;
  for (const Complex& x : t.elements) size = std::max(size, std::abs(x));
  HostEigen result;
  for (std::size_t k = 0; k < n; ++k) {
    const Complex value = t.at(k, k);
    const bool is_flat = std::abs(value.imag()) <= 1e-12 * size;
    if (is_real && !is_flat && value.imag() < 0) continue;
    std::vector<Complex> v = vector_of(t, z, k, is_left);
    if (is_real && is_flat) {
      for (Complex& x : v) x = x.real();
    }
    result.values.push_back(is_real && is_flat ? Complex(value.real()) : value);
    result.vectors.push_back(v);
    if (!is_real || is_flat) continue;
    for (Complex& x : v) x = std::conj(x);
    result.values.push_back(std::conj(value));
    result.vectors.push_back(std::move(v));
  }
  // As many as there are, should rounding have parted a pair.
  result.values.resize(n, std::nan(""));
  result.vectors.resize(n, std::vector<Complex>(n, std::nan("")));
  return result;
}

std::vector<HostTensor> evaluate_geev(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type};
  const std::vector<TensorType> types = infer_geev(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  const bool is_real = types.size() == 5;
  for (std::size_t number = 0; number < matrices_in(operands[0].type); ++number) {
    const HostMatrix a(operands[0], number);
    const std::size_t n = a.rows;
    for (const bool is_left : {true, false}) {
      const HostEigen eigen = eigen_of(a, is_real, is_left);
      HostMatrix vectors(n, n);
      for (std::size_t k = 0; k < n; ++k) {
        write_number(results[0], number * n + k, eigen.values[k]);
        if (is_real) write_number(results[1], number * n + k, eigen.values[k].imag());
        for (std::size_t i = 0; i < n; ++i) vectors.at(i, k) = eigen.vectors[k][i];
      }
      if (setting(op, is_left ? "compute_left" : "compute_right") != 'V') continue;
      vectors.write_to(results[types.size() - (is_left ? 3 : 2)], number);
    }
  }
  return results;
}

std::vector<Tensor> nothing(GraphBuilder& builder, const std::vector<TensorType>& types) {
  std::vector<Tensor> results;
  for (const TensorType& type : types) results.push_back(builder.constant(HostTensor(type)));
  return results;
}

std::vector<Tensor> expand_geev(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type()};
  const std::vector<TensorType> types = infer_geev(op, operand_types);
  std::vector<Tensor> results = nothing(builder, types);
  if (operands[0].type().elements() == 0) return results;
  const bool is_real = types.size() == 5;
  const Schur form = schur(batched(operands[0]));
  const Triangular eigen = triangular(form);
  const Tensor real = times_scale(eigen.real, form.scale);
  const Tensor imaginary = times_scale(eigen.imaginary, form.scale);
  results[0] = reshape(of_parts(real, imaginary, types[0].dtype), types[0].shape);
  if (is_real) results[1] = reshape(imaginary, types[1].shape);
  const std::size_t left = types.size() - 3, right = types.size() - 2;
  if (setting(op, "compute_left") == 'V') {
    results[left] = reshape(left_eigenvectors(eigen, is_real), types[left].shape);
  }
  if (setting(op, "compute_right") == 'V') {
    results[right] = reshape(eigenvectors(eigen, is_real), types[right].shape);
  }
  results.back() = reshape(form.unfinished, types.back().shape);
  return results;
}

}  // namespace

const LibraryFunction kGeev{infer_geev, evaluate_geev, expand_geev};

}  // namespace superstep
