// Elementwise functions of f32, as tiles compute them, against the host's long double.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/ops/op.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/ulp_error.h"

namespace superstep {
namespace {

using Real = long double;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Range {
  float first, last;
};
struct Function {
  const char* op;
  Real (*exact)(Real);
  std::vector<Range> ranges;  ///< where more is looked at
};

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }
Real inverse_root(Real x) { return 1 / std::sqrt(x); }
/// By Newton's method from the double of a few digits.
Real inverse_error_function(Real x) {
  const Real size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(Real{kInfinity}, x) : std::nan("");
  if (size < 1e-10L) return x * 0.886226925452758013649L;
  const Real log = std::log1p(-size * size),
             middle = 2 / (3.14159265358979323846L * 0.147L) + log / 2;
  Real y = std::sqrt(std::sqrt(middle * middle - log / 0.147L) - middle);
  for (int step = 0; step < 6; ++step) {
    const Real off = size < 0.5L ? std::erf(y) - size : (1 - size) - std::erfc(y);
    y -= off * 0.886226925452758013649L * std::exp(y * y);
  }
  return std::copysign(y, x);
}

constexpr float kMost = std::numeric_limits<float>::max();

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"chlo.acos", std::acos, {{0.125F, 1}, {0.49F, 0.51F}, {0.99F, 1}}},
      {"chlo.acosh", std::acosh, {{1, 1.01F}, {1, 2}, {1.5F, 1.6F}, {2, 100}}},
      {"chlo.asin", std::asin, {{0.125F, 1}, {0.49F, 0.51F}, {0.99F, 1}}},
      {"chlo.asinh", std::asinh, {{0.01F, 1}, {1, 10}}},
      {"chlo.atan", std::atan, {{0.125F, 1}, {0.9F, 1.1F}, {1, 10}}},
      {"chlo.atanh", std::atanh, {{0.125F, 1}, {0.76F, 0.78F}, {0.99F, 1}}},
      {"chlo.cosh", std::cosh, {{0.125F, 2}, {2, 20}, {80, 90}}},
      {"chlo.erf", std::erf, {{0.125F, 1}, {0.9F, 1.1F}, {1, 4}}},
      {"chlo.erf_inv", inverse_error_function, {{0.125F, 1}, {0.99F, 1}, {0.999F, 1}}},
      {"chlo.erfc", std::erfc, {{0.125F, 1}, {0.4F, 0.5F}, {1, 4}, {4, 10.1F}}},
      {"chlo.sinh", std::sinh, {{0.125F, 2}, {1.4F, 1.6F}, {2, 2.1F}, {2, 20}, {80, 90}}},
      {"stablehlo.cbrt", std::cbrt, {{0.125F, 8}}},
      {"stablehlo.cosine", std::cos, {{0.125F, 1}, {1, 8}, {8, 7000}, {3793.4F, 3793.5F}}},
      {"stablehlo.exponential", std::exp, {{0.125F, 2}, {80, 105}}},
      {"stablehlo.exponential_minus_one", std::expm1, {{0.125F, 2}, {0.49F, 0.51F}, {2, 20}}},
      {"stablehlo.log", std::log, {{0.5F, 2}, {0.9F, 1.1F}}},
      {"stablehlo.log_plus_one", std::log1p, {{0.01F, 1}, {1, 10}}},
      {"stablehlo.logistic", logistic, {{0.125F, 2}, {2, 20}, {80, 105}}},
      {"stablehlo.rsqrt", inverse_root, {{0.5F, 2}}},
      {"stablehlo.sine", std::sin, {{0.125F, 1}, {1, 8}, {8, 7000}, {3793.4F, 3793.5F}}},
      {"stablehlo.sqrt", std::sqrt, {{0.5F, 2}}},
      {"stablehlo.tan", std::tan, {{0.125F, 1}, {1, 8}, {8, 7000}, {3793.4F, 3793.5F}}},
      {"stablehlo.tanh", std::tanh, {{0.125F, 1}, {1, 10}}},
  };
  return all;
}

/// Numbers between two positive ones, evenly by their bits, with both signs.
void add_between(Range range, int count, std::mt19937& random, std::vector<float>& numbers) {
  const auto first = std::bit_cast<std::uint32_t>(range.first);
  const std::uint32_t size = std::bit_cast<std::uint32_t>(range.last) - first + 1;
  for (int i = 0; i < count; ++i) {
    const auto part = static_cast<std::uint32_t>(std::uint64_t{random()} * size >> 32);
    const auto number = std::bit_cast<float>(first + part);
    numbers.push_back((random() & 1) != 0 ? number : -number);
  }
}

/// Zeros, infinities and NaN, numbers of every binade, and more in the ranges of a function.
std::vector<float> sample(const Function& function) {
  std::vector<float> numbers = {0,   -0.0F, 1,      -1,        kInfinity, -kInfinity,
                                NAN, kMost, -kMost, 0x1p-149F, -0x1p-149F};
  std::mt19937 random(7);
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    const float first = std::bit_cast<float>(exponent << 23);
    add_between({first, std::bit_cast<float>((exponent << 23) + 0x7fffff)}, 24, random, numbers);
  }
  for (const Range& range : function.ranges) add_between(range, 8000, random, numbers);
  return numbers;
}

class Accuracy : public ::testing::TestWithParam<Function> {};

TEST_P(Accuracy, IsOneAndAHalfUnitsInTheLastPlace) {
  const Function& function = GetParam();
  const std::vector<float> numbers = sample(function);
  HostTensor argument({DType::kF32, {static_cast<std::int64_t>(numbers.size())}});
  for (std::size_t i = 0; i < numbers.size(); ++i) argument.set(i, numbers[i]);
  Graph graph;
  Op op;
  op.definition = find_op(function.op);
  op.operands = {graph.add_argument(argument.type, "x")};
  graph.set_results(graph.add_op(std::move(op)).results);
  const HostTensor found = run_on("small64", graph, std::vector{argument})[0];
  double worst = 0;
  float at = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double error = ulp_error(found.get<float>(i), function.exact(numbers[i]));
    if (error > worst) {
      worst = error;
      at = numbers[i];
    }
  }
  RecordProperty("ulp", std::to_string(worst) + " of " + std::to_string(at));
  EXPECT_LE(worst, 1.5) << "of " << at;
}

INSTANTIATE_TEST_SUITE_P(Functions, Accuracy, ::testing::ValuesIn(functions()),
                         [](const auto& info) {
                           std::string name(info.param.op);
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace superstep
