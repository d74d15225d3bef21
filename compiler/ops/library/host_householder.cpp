#include "compiler/ops/library/host_householder.h"

#include <algorithm>
#include <cmath>

namespace superstep {

using Complex = std::complex<double>;

// Element after element of a column.
std::vector<Complex> host_householder(HostMatrix& a) {
  std::vector<Complex> taus;
  for (std::size_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    double behind = 0;
    for (std::size_t i = k + 1; i < a.rows; ++i) behind = std::hypot(behind, std::abs(a.at(i, k)));
    const Complex alpha = a.at(k, k);
    taus.emplace_back(0);
    if (behind == 0 && alpha.imag() == 0) continue;
    const double beta = -std::copysign(std::hypot(std::abs(alpha), behind), alpha.real());
    const Complex tau = (beta - alpha) / beta;
    taus.back() = tau;
    a.at(k, k) = beta;
    for (std::size_t i = k + 1; i < a.rows; ++i) a.at(i, k) /= alpha - beta;
    for (std::size_t j = k + 1; j < a.columns; ++j) {
      Complex part = a.at(k, j);
      for (std::size_t i = k + 1; i < a.rows; ++i) part += std::conj(a.at(i, k)) * a.at(i, j);
      part *= std::conj(tau);
      a.at(k, j) -= part;
      for (std::size_t i = k + 1; i < a.rows; ++i) a.at(i, j) -= a.at(i, k) * part;
    }
  }
  return taus;
}

void host_reflect(const HostMatrix& packed, const std::vector<Complex>& taus, bool adjoint,
                  HostMatrix& c) {
  for (std::size_t turn = 0; turn < taus.size(); ++turn) {
    const std::size_t k = adjoint ? turn : taus.size() - 1 - turn;
    const Complex tau = adjoint ? std::conj(taus[k]) : taus[k];
    for (std::size_t j = 0; j < c.columns; ++j) {
      Complex part = c.at(k, j);
      for (std::size_t i = k + 1; i < c.rows; ++i) part += std::conj(packed.at(i, k)) * c.at(i, j);
      c.at(k, j) -= tau * part;
      for (std::size_t i = k + 1; i < c.rows; ++i) c.at(i, j) -= tau * packed.at(i, k) * part;
    }
  }
}

}  // namespace superstep
