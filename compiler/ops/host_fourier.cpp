#include "compiler/ops/host_fourier.h"

#include <cmath>
#include <numbers>

namespace superstep {
namespace {

using Complex = std::complex<double>;

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

/// Of `n` elements from `first` on, every `stride`-th: decimation in time by the smallest factor.
std::vector<Complex> transformed(const std::vector<Complex>& x, std::int64_t first,
                                 std::int64_t stride, std::int64_t n, std::int64_t sign) {
  if (n == 1) return {x[static_cast<std::size_t>(first)]};
  const std::int64_t parts = smallest_factor(n), size = n / parts;
  std::vector<std::vector<Complex>> transforms;
  for (std::int64_t part = 0; part < parts; ++part) {
    transforms.push_back(transformed(x, first + part * stride, stride * parts, size, sign));
  }
  std::vector<Complex> result;
  for (std::int64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const Complex& value =
          transforms[static_cast<std::size_t>(part)][static_cast<std::size_t>(k % size)];
      sum += value * root_of_unity(sign * part * k, n);
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace

std::complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  k = (k % n + n) % n;
  // By quarters of the circle, and each from its nearer end.
  const std::int64_t quarter = 4 * k / n, rest = 4 * k - quarter * n;
  const auto angle = [&](std::int64_t part) {
    return std::numbers::pi / 2 * static_cast<double>(part) / static_cast<double>(n);
  };
  const bool is_near = 2 * rest <= n;
  const double cosine = is_near ? std::cos(angle(rest)) : std::sin(angle(n - rest));
  const double sine = is_near ? std::sin(angle(rest)) : std::cos(angle(n - rest));
  switch (quarter) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

std::vector<std::complex<double>> host_fourier(const std::vector<std::complex<double>>& x,
                                               bool inverse) {
  if (x.empty()) return {};
  return transformed(x, 0, 1, static_cast<std::int64_t>(x.size()), inverse ? 1 : -1);
}

}  // namespace superstep
