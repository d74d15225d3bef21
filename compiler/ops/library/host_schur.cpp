#include "compiler/ops/library/host_schur.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace superstep {
namespace {

using Complex = std::complex<double>;

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

}  // namespace

std::pair<HostMatrix, HostMatrix> host_schur(const HostMatrix& a) {
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

}  // namespace superstep
