#include "tests/ops/hard_matrices.h"

#include <cmath>
#include <complex>

#include "tests/ops/host_algebra.h"

namespace superstep {
namespace {

template <class Element>
HostMatrix matrix_of(std::size_t rows, std::size_t columns, const Element& element) {
  HostMatrix result(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < columns; ++k) result.at(i, k) = element(i, k);
  }
  return result;
}

/// Numbers from -1 to 1 without an order.
HostMatrix residues(std::size_t rows, std::size_t columns, std::size_t first = 1) {
  return matrix_of(rows, columns, [first](std::size_t row, std::size_t column) {
    const std::size_t i = row + first, k = column + first;
    const std::size_t residue = (37 * i * i + 11 * k * k * k + 53 * i * k + 29 * i * i * k) % 97;
    return static_cast<double>(residue) / 48 - 1;
  });
}

HostMatrix scaled(HostMatrix a, double factor) {
  for (std::complex<double>& x : a.elements) x *= factor;
  return a;
}

HostMatrix sum(HostMatrix a, const HostMatrix& b) {
  for (std::size_t i = 0; i < a.elements.size(); ++i) a.elements[i] += b.elements[i];
  return a;
}

HostMatrix hilbert(std::size_t n) {
  return matrix_of(n, n,
                   [](std::size_t i, std::size_t k) { return 1 / static_cast<double>(i + k + 1); });
}

HostMatrix vandermonde(std::size_t n) {
  return matrix_of(n, n, [n](std::size_t i, std::size_t k) {
    return std::pow(static_cast<double>(i) / static_cast<double>(n - 1),
                    static_cast<double>(n - 1 - k));
  });
}

HostMatrix covariance(std::size_t n) {
  const HostMatrix near = matrix_of(n, n, [](std::size_t i, std::size_t k) {
    const double distance = static_cast<double>(i) - static_cast<double>(k);
    return std::exp(-distance * distance / 50);
  });
  return sum(near, scaled(identity(n), 1e-5));
}

/// From 10^-power to 10^power.
HostMatrix steps(std::size_t n, double power) {
  HostMatrix result(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    result.at(i, i) =
        std::pow(10, power * (2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1));
  }
  return result;
}

HostMatrix gram(const HostMatrix& a) { return times(a, a.adjoint()); }

HostMatrix nearly_singular(std::size_t n) {
  HostMatrix a = residues(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    a.at(n - 1, k) *= 1e-6;
    for (std::size_t i = 0; i + 1 < n; ++i) a.at(n - 1, k) += a.at(i, k);
  }
  return a;
}

HostMatrix cholesky_factor(const HostMatrix& a) {
  HostMatrix l(a.rows, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      std::complex<double> rest = a.at(i, k);
      for (std::size_t j = 0; j < k; ++j) rest -= l.at(i, j) * l.at(k, j);
      l.at(i, k) = i == k ? std::sqrt(rest) : rest / l.at(k, k);
    }
  }
  return l;
}

std::vector<HardMatrix> rounded(std::vector<HardMatrix> matrices) {
  for (HardMatrix& hard : matrices) {
    for (std::complex<double>& x : hard.matrix.elements) x = static_cast<float>(x.real());
  }
  return matrices;
}

constexpr double kLarge = 0x1p80, kSmall = 0x1p-80;

std::vector<HardMatrix> positive_matrices(std::size_t n) {
  const HostMatrix good =
      sum(scaled(gram(residues(n, n)), 1 / static_cast<double>(n)), scaled(identity(n), 0.1));
  return {
      {"hilbert", sum(hilbert(n), scaled(identity(n), 1e-6))},
      {"covariance", covariance(n)},
      {"graded", times(times(steps(n, 3), good), steps(n, 3))},
      {"large", scaled(good, kLarge)},
      {"small", scaled(good, kSmall)},
      {"nearly_singular", sum(gram(residues(n, n / 2)), scaled(identity(n), 1e-5))},
  };
}

}  // namespace

std::vector<HardMatrix> hard_matrices(std::size_t n) {
  return rounded({
      {"hilbert", hilbert(n)},
      {"vandermonde", vandermonde(n)},
      {"covariance", covariance(n)},
      {"graded", times(steps(n, 6), residues(n, n))},
      {"large", scaled(residues(n, n), kLarge)},
      {"small", scaled(residues(n, n), kSmall)},
      {"nearly_singular", nearly_singular(n)},
      {"rank_deficient", times(residues(n, n / 2), residues(n / 2, n, 2))},
  });
}

std::vector<HardMatrix> hard_symmetric_matrices(std::size_t n) {
  const HostMatrix both = sum(residues(n, n), residues(n, n).adjoint());
  return rounded({
      {"hilbert", hilbert(n)},
      {"covariance", covariance(n)},
      {"graded", times(times(steps(n, 3), both), steps(n, 3))},
      {"large", scaled(both, kLarge)},
      {"small", scaled(both, kSmall)},
      {"nearly_singular", sum(gram(residues(n, n / 2)), scaled(identity(n), 1e-6))},
      {"rank_deficient", gram(residues(n, n / 2))},
  });
}

std::vector<HardMatrix> hard_positive_matrices(std::size_t n) {
  return rounded(positive_matrices(n));
}

std::vector<HardMatrix> hard_triangular_matrices(std::size_t n) {
  std::vector<HardMatrix> result = positive_matrices(n);
  for (HardMatrix& hard : result) hard.matrix = cholesky_factor(hard.matrix);
  const HostMatrix numbers = residues(n, n);
  result.push_back({"growing", matrix_of(n, n, [&](std::size_t i, std::size_t k) {
                      return i > k ? 2 * numbers.at(i, k).real() : i == k ? 1.0 : 0.0;
                    })});
  return rounded(std::move(result));
}

HostMatrix sides_of_equations(std::size_t n) { return residues(n, 2, 5); }

HostTensor as_tensor(const std::vector<HardMatrix>& matrices) {
  const auto rows = static_cast<std::int64_t>(matrices[0].matrix.rows);
  const auto columns = static_cast<std::int64_t>(matrices[0].matrix.columns);
  HostTensor result(
      TensorType{DType::kF32, {static_cast<std::int64_t>(matrices.size()), rows, columns}});
  for (std::size_t i = 0; i < matrices.size(); ++i) matrices[i].matrix.write_to(result, i);
  return result;
}

}  // namespace superstep
