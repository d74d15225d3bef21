// Special functions of f32 on tiles are within 1.5 units in the last place of the reference, which
// computes in long double, near zeros too.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "tests/ops/ulp_error.h"

namespace superstep {
namespace {

using enum DType;
using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers between(double low, double high, std::size_t count) {
  std::mt19937 random(5);
  Numbers x;
  for (std::size_t i = 0; i < count; ++i) {
    x.push_back(low + (high - low) * static_cast<double>(random()) / 0x1p32);
  }
  return x;
}
/// Numbers of all sizes from `low` to `high`.
Numbers of_sizes(double low, double high, std::size_t count) {
  Numbers x = between(std::log(low), std::log(high), count);
  for (double& number : x) number = std::exp(number);
  return x;
}
Numbers negated(Numbers x) {
  for (double& number : x) number = -number;
  return x;
}
Numbers joined(const std::vector<Numbers>& parts) {
  Numbers all;
  for (const Numbers& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
/// On both sides of each number, from some units in the last place on.
Numbers around(const Numbers& centres) {
  Numbers x;
  for (const double centre : centres) {
    for (const double step : {-3e-3, -4e-5, 1e-6, 2e-5, 1e-3}) x.push_back(centre + step);
  }
  return x;
}

void expect_exact(const OpDefinition& op, const std::vector<Numbers>& arguments) {
  SCOPED_TRACE(op.name);
  std::vector<HostTensor> singles, doubles;
  Graph on_tiles, reference;
  GraphBuilder tiles(on_tiles, {}), host(reference, {});
  std::vector<Tensor> tile_operands, host_operands;
  for (const Numbers& numbers : arguments) {
    singles.push_back(vector_of(kF32, numbers));
    Numbers used;
    for (std::size_t i = 0; i < numbers.size(); ++i) used.push_back(singles.back().get<float>(i));
    doubles.push_back(vector_of(kF64, used));
    tile_operands.push_back(tiles.argument(singles.back().type));
    host_operands.push_back(host.argument(doubles.back().type));
  }
  on_tiles.set_results({tiles.append(op, tile_operands)[0].id});
  reference.set_results({host.append(op, host_operands)[0].id});
  const HostTensor found = run_on("tiny4", on_tiles, singles)[0];
  const HostTensor expected = evaluate(reference, doubles)[0];
  for (std::size_t i = 0; i < arguments[0].size(); ++i) {
    const float number = found.get<float>(i);
    const double exact = expected.get<double>(i);
    EXPECT_LE(ulp_error(number, exact), 1.5)
        << doubles[0].get<double>(i) << " " << doubles.back().get<double>(i) << ": " << number
        << ", not " << exact;
  }
}

TEST(SpecialAccuracy, Lgamma) {
  expect_exact(kLgammaOp,
               {joined({between(0, 3, 150),
                        between(-4, 0, 150),
                        of_sizes(3, 1e37, 60),
                        of_sizes(1e-38, 1, 40),
                        negated(of_sizes(1e-38, 60, 60)),
                        around({1, 2, -2.4570247, -2.7476827, -3.1435809, -3.9552943, -4.0391614}),
                        {0, -0.0, -1, -7, 3e38, kInfinity, -kInfinity, NAN, 1, 2, -1e9}})});
}

TEST(SpecialAccuracy, Digamma) {
  expect_exact(kDigammaOp,
               {joined({between(0, 3, 150),
                        between(-4, 0, 150),
                        of_sizes(3, 3e38, 60),
                        of_sizes(1e-37, 1, 40),
                        negated(of_sizes(1e-37, 60, 60)),
                        around({1.4616321, -0.5040830, -1.5734985, -2.6107209, -3.6352934}),
                        {0, -0.0, -1, -7, kInfinity, -kInfinity, NAN, -1e9}})});
}

TEST(SpecialAccuracy, BesselI1e) {
  expect_exact(kBesselI1eOp,
               {joined({between(-9, 9, 200),
                        of_sizes(1e-38, 3e38, 100),
                        negated(of_sizes(8, 1e38, 20)),
                        {0, -0.0, 0x1p-149, -0x1p-149, 8, -8, kInfinity, -kInfinity, NAN}})});
}

TEST(SpecialAccuracy, Zeta) {
  expect_exact(kZetaOp, {joined({between(1, 20, 200), between(1.001, 1.2, 50), {1, 0.5, NAN, 3}}),
                         joined({between(0.2, 30, 200), between(0.01, 60, 50), {2, 2, 2, NAN}})});
}

TEST(SpecialAccuracy, Polygamma) {
  Numbers orders, large;
  for (std::size_t i = 0; i < 240; ++i) {
    orders.push_back(static_cast<double>(i % 30));
    large.push_back(static_cast<double>(i % 4));
  }
  expect_exact(kPolygammaOp, {joined({orders, large, orders, {1.5, -1, NAN, 2, 1, 1, 34}}),
                              joined({between(0.3, 40, 240),
                                      of_sizes(1e-6, 1e9, 240),
                                      between(-5, 0, 240),
                                      {2, 2, 2, NAN, 1e-30, -1e-18, 1e9}})});
}

}  // namespace
}  // namespace superstep
