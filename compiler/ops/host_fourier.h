#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace superstep {

/// exp(2 pi i k / n) of any k; parts that are 0 or 1 are exact.
[[nodiscard]] std::complex<double> root_of_unity(std::int64_t k, std::int64_t n);

/// y[k] = sum of x[j] exp(-2 pi i j k / n), with the opposite sign if `inverse`; not divided by n.
[[nodiscard]] std::vector<std::complex<double>> host_fourier(
    const std::vector<std::complex<double>>& x, bool inverse);

}  // namespace superstep
