#include "tests/ops/host_algebra.h"

#include <cmath>
#include <complex>
#include <utility>

#include "compiler/ops/elements.h"

namespace superstep {

HostMatrix times(const HostMatrix& a, const HostMatrix& b) {
  HostMatrix result(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < b.columns; ++k) {
      for (std::size_t j = 0; j < a.columns; ++j) result.at(i, k) += a.at(i, j) * b.at(j, k);
    }
  }
  return result;
}

HostMatrix identity(std::size_t n) {
  HostMatrix result(n, n);
  for (std::size_t i = 0; i < n; ++i) result.at(i, i) = 1;
  return result;
}

double distance(const HostMatrix& a, const HostMatrix& b) {
  EXPECT_EQ(a.elements.size(), b.elements.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.elements.size(); ++i)
    sum += std::norm(a.elements[i] - b.elements[i]);
  return std::sqrt(sum);
}

double size_of(const HostMatrix& a) { return distance(a, HostMatrix(a.rows, a.columns)); }

double error_of_orthogonality(const HostMatrix& q) {
  return distance(times(q.adjoint(), q), identity(q.columns));
}

HostMatrix combined(const HostMatrix& u, const HostTensor& values, std::size_t number,
                    const HostMatrix& vh) {
  const auto count = static_cast<std::size_t>(values.type.shape.back());
  HostMatrix scaled(u.rows, count), used(count, vh.columns);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < u.rows; ++i) {
      scaled.at(i, k) = u.at(i, k) * read_float(values, number * count + k);
    }
    for (std::size_t j = 0; j < vh.columns; ++j) used.at(k, j) = vh.at(k, j);
  }
  return times(scaled, used);
}

OpCase library_call(const std::string& name, const std::string& config,
                    std::vector<HostTensor> operands, std::vector<TensorType> declared) {
  return {"stablehlo.custom_call",
          "",
          std::move(operands),
          {{"call_target_name", name}, {"backend_config", config}},
          {},
          0,
          {},
          std::move(declared)};
}

}  // namespace superstep
