// Schur forms of any square matrix.

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/elimination.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/library/host_householder.h"
#include "compiler/ops/library/host_schur.h"
#include "compiler/ops/library/matrices.h"
#include "compiler/ops/library/schur.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

using Complex = std::complex<double>;

// (a) to (T, Z, values, number of selected ones, info), of real matrices the values as two: real
// and imaginary parts.

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  require_operands(op, operands, 1);
  const TensorType& a = operands[0];
  require_square(op, a);
  if (setting(op, "sort") != 'N') unsupported(op, "sorted values");
  static_cast<void>(setting(op, "mode"));
  std::vector<TensorType> types = {a, a, of_batch(a, a.dtype, {a.shape.back()})};
  if (!is_complex(a.dtype)) types.push_back(types.back());
  types.insert(types.end(), 2, info_type(a));
  return types;
}

HostMatrix times(const HostMatrix& a, const HostMatrix& b) {
  HostMatrix result(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.columns; ++j) {
      for (std::size_t k = 0; k < b.columns; ++k) result.at(i, k) += a.at(i, j) * b.at(j, k);
    }
  }
  return result;
}

/// An orthonormal basis whose first vectors span an invariant space of a real matrix: that of one
/// eigenvector, or of both of a pair.
std::pair<HostMatrix, std::size_t> basis_of(const HostMatrix& a) {
  const auto [t, z] = host_schur(a);
  const std::size_t n = a.rows;
  double size = 0;
  Complex best = 0;
  for (const Complex& x : t.elements) size = std::max(size, std::abs(x));
  for (std::size_t i = 0; i < n; ++i) {
    if (std::abs(z.at(i, 0)) > std::abs(best)) best = z.at(i, 0);
  }
  const bool is_pair = n > 1 && std::abs(t.at(0, 0).imag()) > 1e-12 * size;
  HostMatrix vectors(n, is_pair ? 2 : 1);
  for (std::size_t i = 0; i < n; ++i) {
    const Complex x = is_pair ? z.at(i, 0) : z.at(i, 0) * std::conj(best) / std::abs(best);
    vectors.at(i, 0) = x.real();
    if (is_pair) vectors.at(i, 1) = x.imag();
  }
  const std::vector<Complex> taus = host_householder(vectors);
  HostMatrix q(n, n);
  for (std::size_t i = 0; i < n; ++i) q.at(i, i) = 1;
  host_reflect(vectors, taus, false, q);
  return {std::move(q), vectors.columns};
}

/// Turns the two rows and columns from k on, so that the diagonal has equal elements there.
void equalise(HostMatrix& t, HostMatrix& z, std::size_t k) {
  const double a = t.at(k, k).real(), b = t.at(k, k + 1).real();
  const double c = t.at(k + 1, k).real(), d = t.at(k + 1, k + 1).real();
  const double angle = 0.5 * std::atan2(d - a, b + c);
  HostMatrix g(t.rows, t.rows);
  for (std::size_t i = 0; i < t.rows; ++i) g.at(i, i) = 1;
  g.at(k, k) = g.at(k + 1, k + 1) = std::cos(angle);
  g.at(k + 1, k) = std::sin(angle);
  g.at(k, k + 1) = -std::sin(angle);
  t = times(times(g.adjoint(), t), g);
  z = times(z, g);
  t.at(k, k) = t.at(k + 1, k + 1) = (a + d) / 2;
}

struct HostForm {
  HostMatrix t, z;
  std::vector<Complex> values;
};

/// Of a real matrix: one invariant space after the other.
HostForm real_form(const HostMatrix& a) {
  const std::size_t n = a.rows;
  HostForm form{a, HostMatrix(n, n), std::vector<Complex>(n)};
  for (std::size_t i = 0; i < n; ++i) form.z.at(i, i) = 1;
  for (std::size_t first = 0; first < n;) {
    HostMatrix rest(n - first, n - first);
    for (std::size_t i = first; i < n; ++i) {
      for (std::size_t k = first; k < n; ++k) rest.at(i - first, k - first) = form.t.at(i, k);
    }
    const auto [basis, count] = basis_of(rest);
    HostMatrix q(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        const bool is_inside = i >= first && k >= first;
        q.at(i, k) = is_inside ? basis.at(i - first, k - first) : Complex(i == k ? 1 : 0);
      }
    }
    form.t = times(times(q.adjoint(), form.t), q);
    form.z = times(form.z, q);
    for (std::size_t i = first + count; i < n; ++i) {
      for (std::size_t k = first; k < first + count; ++k) form.t.at(i, k) = 0;
    }
    if (count == 2) equalise(form.t, form.z, first);
    form.values[first] = form.t.at(first, first);
    if (count == 2) {
      const Complex turn =
          std::sqrt(Complex(form.t.at(first, first + 1) * form.t.at(first + 1, first)));
      form.values[first] += Complex(0, std::abs(turn));
      form.values[first + 1] = std::conj(form.values[first]);
    }
    first += count;
  }
  return form;
}

HostForm form_of(const HostMatrix& a, bool is_real) {
  const bool is_finite = std::ranges::all_of(a.elements, [](const Complex& x) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  });
  if (is_real && is_finite) return real_form(a);
  auto [t, z] = host_schur(a);
  HostForm form{std::move(t), std::move(z), {}};
  for (std::size_t k = 0; k < a.rows; ++k) form.values.push_back(form.t.at(k, k));
  return form;
}

std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type};
  const std::vector<TensorType> types = infer(op, operand_types);
  std::vector<HostTensor> results(types.begin(), types.end());
  const bool is_real = !is_complex(types[0].dtype);
  for (std::size_t number = 0; number < matrices_in(types[0]); ++number) {
    const HostForm form = form_of(HostMatrix(operands[0], number), is_real);
    form.t.write_to(results[0], number);
    if (setting(op, "mode") == 'V') form.z.write_to(results[1], number);
    for (std::size_t k = 0; k < form.values.size(); ++k) {
      const std::size_t element = number * form.values.size() + k;
      write_number(results[2], element, form.values[k]);
      if (is_real) write_number(results[3], element, form.values[k].imag());
    }
  }
  return results;
}

std::vector<Tensor> expand(GraphBuilder& builder, const Op& op, std::span<const Tensor> operands) {
  const std::vector<TensorType> operand_types = {operands[0].type()};
  const std::vector<TensorType> types = infer(op, operand_types);
  std::vector<Tensor> results;
  for (const TensorType& type : types) results.push_back(builder.constant(HostTensor(type)));
  if (operands[0].type().elements() == 0) return results;
  const Schur form = schur(batched(operands[0]));
  Tensor z = form.z;
  const auto scaled = [&](Tensor x, std::size_t i) {
    return reshape(times_scale(x, form.scale), types[i].shape);
  };
  if (is_complex(types[0].dtype)) {
    const Tensor is_below = where_row_is("GT", form.t);
    results[0] = scaled(select(is_below, form.t.like(0), form.t), 0);
    results[2] = scaled(diagonal_of(form.t), 2);
  } else {
    const RealSchur real = standardised(form);
    z = real.z;
    results[0] = scaled(real.t, 0);
    results[2] = scaled(real.real, 2);
    results[3] = scaled(real.imaginary, 3);
  }
  if (setting(op, "mode") == 'V') results[1] = reshape(z, types[1].shape);
  results.back() = reshape(form.unfinished, types.back().shape);
  return results;
}

}  // namespace

const LibraryFunction kGees{infer, evaluate, expand};

}  // namespace superstep
