// Eigenvalues and vectors of any square matrix, and complex Schur forms.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/library/schur.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

DType complex_of(const Op& op, DType dtype) {
  if (dtype == DType::kF64) unsupported(op, "of f64, whose vectors would be complex<f64>");
  return DType::kC64;
}

// (a) to (real parts, imaginary parts, left vectors, right vectors, info), of complex matrices the
// values as one. Vectors that are not computed are zeros.

std::vector<TensorType> infer_geev(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  if (setting(op, "compute_left") == 'V') unsupported(op, "left eigenvectors");
  static_cast<void>(setting(op, "compute_right"));
  const TensorType values = of_batch(a, a.dtype, {a.shape.back()});
  const TensorType vectors{complex_of(op, a.dtype), a.shape};
  if (is_complex(a.dtype)) return {values, vectors, vectors, info_type(a)};
  return {values, values, vectors, vectors, info_type(a)};
}

// (a) to (T, Z, values, number of selected ones, info)

std::vector<TensorType> infer_gees(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  if (setting(op, "sort") != 'N') unsupported(op, "sorted values");
  static_cast<void>(setting(op, "mode"));
  return {a, a, of_batch(a, a.dtype, {a.shape.back()}), info_type(a), info_type(a)};
}

/// A = Z T Z^H by steps of Q R with one shift, on the whole matrix.
void triangulate(HostMatrix& t, HostMatrix& z) {
  const std::size_t n = t.rows;
  std::size_t last = n - 1;
  for (int step = 0; last > 0 && step < 10000; ++step) {
    double below = 0;
    for (std::size_t k = 0; k < last; ++k) below += std::abs(t.at(last, k));
    double size = 0;
    for (const Complex& x : t.elements) size = std::max(size, std::abs(x));
    if (!(below > 1e-15 * size)) {
      for (std::size_t k = 0; k < last; ++k) t.at(last, k) = 0;
      --last;
      step = 0;
      continue;
    }
    const Complex a = t.at(last - 1, last - 1), d = t.at(last, last);
    const Complex product = t.at(last - 1, last) * t.at(last, last - 1), half = (a - d) / 2.0;
    const Complex root = std::sqrt(half * half + product);
    const Complex larger =
        std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
    Complex shift = larger == Complex(0) ? d : d - product / larger;
    if (step % 11 == 10) shift = d + below;
    // Columns up to `last` of T - shift, made orthogonal one after the other, twice.
    HostMatrix q(n, n);
    for (std::size_t k = 0; k <= last; ++k) {
      for (std::size_t i = 0; i <= last; ++i) q.at(i, k) = t.at(i, k) - (i == k ? shift : 0);
      const auto length_of = [&] {
        double length = 0;
        for (std::size_t i = 0; i <= last; ++i) length = std::hypot(length, std::abs(q.at(i, k)));
        return length;
      };
      const auto without_others = [&] {
        for (int time = 0; time < 3; ++time) {
          for (std::size_t j = 0; j < k; ++j) {
            Complex part = 0;
            for (std::size_t i = 0; i <= last; ++i) part += std::conj(q.at(i, j)) * q.at(i, k);
            for (std::size_t i = 0; i <= last; ++i) q.at(i, k) -= part * q.at(i, j);
          }
        }
      };
      without_others();
      // A column of nothing new is any that is orthogonal.
      for (std::size_t other = 0; length_of() < 1e-14 * size && other <= last; ++other) {
        for (std::size_t i = 0; i <= last; ++i) q.at(i, k) = i == other ? size : 0;
        without_others();
        if (length_of() < 0.1 * size) continue;
      }
      const double length = length_of();
      for (std::size_t i = 0; i <= last; ++i) q.at(i, k) /= length;
      without_others();
    }
    for (std::size_t i = last + 1; i < n; ++i) q.at(i, i) = 1;
    const auto times = [&](const HostMatrix& x, const HostMatrix& y) {
      HostMatrix result(n, n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t k = 0; k < n; ++k) result.at(i, k) += x.at(i, j) * y.at(j, k);
        }
      }
      return result;
    };
    t = times(times(q.adjoint(), t), q);
    z = times(z, q);
  }
}

bool is_finite(const HostMatrix& a) {
  return std::ranges::all_of(a.elements, [](const Complex& x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  });
}

/// T and Z; NaN where an element is not finite.
std::pair<HostMatrix, HostMatrix> schur_of(const HostMatrix& a) {
  HostMatrix t = a, z(a.rows, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) z.at(i, i) = 1;
  if (!is_finite(a)) {
    std::ranges::fill(t.elements, std::nan(""));
    std::ranges::fill(z.elements, std::nan(""));
  } else if (a.rows > 0) {
    triangulate(t, z);
  }
  return {std::move(t), std::move(z)};
}

/// Vector k of A, of length 1 with a real largest element.
std::vector<Complex> vector_of(const HostMatrix& t, const HostMatrix& z, std::size_t k) {
  const std::size_t n = t.rows;
  double size = 0;
  for (const Complex& x : t.elements) size = std::max(size, std::abs(x));
  std::vector<Complex> x(n), v(n);
  x[k] = 1;
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t j = i + 1; j <= k; ++j) x[i] += t.at(i, j) * x[j];
    Complex gap = t.at(k, k) - t.at(i, i);
    if (std::abs(gap) < 1e-16 * size) gap = 1e-16 * size;
    x[i] /= gap;
  }
  double length = 0;
  Complex best = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= k; ++j) v[i] += z.at(i, j) * x[j];
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
HostEigen eigen_of(const HostMatrix& a, bool is_real) {
  const auto [t, z] = schur_of(a);
  const std::size_t n = a.rows;
  double size = 0;
  for (const Complex& x : t.elements) size = std::max(size, std::abs(x));
  HostEigen result;
  for (std::size_t k = 0; k < n; ++k) {
    const Complex value = t.at(k, k);
    const bool is_flat = std::abs(value.imag()) <= 1e-12 * size;
    if (is_real && !is_flat && value.imag() < 0) continue;
    std::vector<Complex> v = vector_of(t, z, k);
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
  HostTensor& right = results[types.size() - 2];
  for (std::size_t number = 0; number < matrices_in(operands[0].type); ++number) {
    const HostMatrix a(operands[0], number);
    const std::size_t n = a.rows;
    const HostEigen eigen = eigen_of(a, is_real);
    HostMatrix vectors(n, n);
    for (std::size_t k = 0; k < n; ++k) {
      write_number(results[0], number * n + k, eigen.values[k]);
      if (is_real) write_number(results[1], number * n + k, eigen.values[k].imag());
      for (std::size_t i = 0; i < n; ++i) vectors.at(i, k) = eigen.vectors[k][i];
    }
    if (setting(op, "compute_right") == 'V') vectors.write_to(right, number);
  }
  return results;
}

std::vector<HostTensor> evaluate_gees(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type};
  const std::vector<TensorType> types = infer_gees(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    const auto [t, z] = schur_of(HostMatrix(operands[0], number));
    t.write_to(results[0], number);
    z.write_to(results[1], number);
    for (std::size_t k = 0; k < t.rows; ++k) {
      write_number(results[2], number * t.rows + k, t.at(k, k));
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
  const Tensor values =
      is_real ? eigen.real : of_parts(eigen.real, eigen.imaginary, types[0].dtype);
  results[0] = reshape(values, types[0].shape);
  if (is_real) results[1] = reshape(eigen.imaginary, types[1].shape);
  const std::size_t right = types.size() - 2;
  if (setting(op, "compute_right") == 'V') {
    results[right] = reshape(eigenvectors(eigen, is_real), types[right].shape);
  }
  results.back() = reshape(form.unfinished, types.back().shape);
  return results;
}

std::vector<Tensor> expand_gees(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type()};
  const std::vector<TensorType> types = infer_gees(op, operand_types);
  std::vector<Tensor> results = nothing(builder, types);
  if (operands[0].type().elements() == 0) return results;
  const Schur form = schur(batched(operands[0]));
  const Tensor is_below = where_row_is("GT", form.t);
  results[0] = reshape(select(is_below, form.t.like(0), form.t), types[0].shape);
  results[1] = reshape(form.z, types[1].shape);
  results[2] = reshape(diagonal_of(form.t), types[2].shape);
  results[4] = reshape(form.unfinished, types[4].shape);
  return results;
}

}  // namespace

const LibraryFunction kGeev{infer_geev, evaluate_geev, expand_geev};
const LibraryFunction kGees{infer_gees, evaluate_gees, expand_gees};

}  // namespace superstep
