// Powers of complex numbers, which take a logarithm's error times the exponent.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using Exact = std::complex<long double>;

HostTensor complex_numbers(const std::vector<std::complex<double>>& values) {
  HostTensor result(TensorType{DType::kC64, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) write_complex(result, i, values[i]);
  return result;
}

using Number = std::complex<double>;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

bool is_alike(Number a, Number b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return same(a.real(), b.real()) && same(a.imag(), b.imag());
}

/// Of an op, on the machine and by the reference.
void expect_alike(const OpDefinition& op, DType dtype,
                  const std::vector<std::vector<Number>>& operands,
                  const std::vector<Number>& expected) {
  Graph graph;
  GraphBuilder builder(graph, {});
  std::vector<HostTensor> inputs;
  std::vector<Tensor> arguments;
  for (const std::vector<Number>& values : operands) {
    HostTensor& input =
        inputs.emplace_back(TensorType{dtype, {static_cast<std::int64_t>(values.size())}});
    for (std::size_t i = 0; i < values.size(); ++i) write_complex(input, i, values[i]);
    arguments.push_back(builder.argument(input.type));
  }
  graph.set_results({builder.append(op, arguments)[0].id});
  const HostTensor of_machine = run_on("tiny4", graph, inputs)[0];
  const HostTensor of_reference = evaluate(graph, inputs)[0];
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (const HostTensor* found : {&of_machine, &of_reference}) {
      EXPECT_TRUE(is_alike(read_complex(*found, i), expected[i]))
          << op.name << " " << i << (found == &of_machine ? " on tiles: " : " by the reference: ")
          << read_complex(*found, i) << ", expected " << expected[i];
    }
  }
}

TEST(ComplexPower, OfSinglesIsExactToTheLastBits) {
  std::vector<std::complex<double>> bases, exponents;
  for (int i = 0; i < 60; ++i) {
    const double angle = 0.7 * i, length = std::exp(0.11 * (i - 30));
    bases.emplace_back(std::polar(length, angle));
    exponents.emplace_back(3 * std::sin(1.3 * i) + i / 6.0, 5 * std::cos(2.1 * i));
  }
  // Lengths near 1, and results near the end of the range.
  bases.insert(bases.end(),
               {{0.6, 0.8000001}, {1, 1e-6}, {-1.0000001, 0}, {1e19, 1e19}, {1e-20, 0}});
  exponents.insert(exponents.end(), {{200, 3}, {1e4, 1e3}, {1e5, 0.25}, {1.9, 0.5}, {1.8, -0.3}});
  const HostTensor a = complex_numbers(bases), b = complex_numbers(exponents);
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor x = builder.argument(a.type), y = builder.argument(b.type);
  graph.set_results({builder.apply(kPowerOp, {x, y}).id});
  const HostTensor found = run_on("tiny4", graph, std::vector{a, b})[0];
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const Exact base(read_complex(a, i)), exponent(read_complex(b, i));
    const Exact exact = std::exp(exponent * std::log(base));
    const Exact error = Exact(read_complex(found, i)) - exact;
    EXPECT_LE(std::abs(error), 0.75L * 0x1p-23L * std::abs(exact))
        << read_complex(a, i) << " to the " << read_complex(b, i);
  }
}

TEST(ComplexPower, OfZeroAndToZero) {
  const HostTensor a = complex_numbers({{0, 0}, {0, 0}, {0, -0.0}, {2, 3}, {-4, 0}});
  const HostTensor b = complex_numbers({{0, 0}, {2, 0}, {0.5, 0}, {0, 0}, {0.5, 0}});
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor x = builder.argument(a.type), y = builder.argument(b.type);
  graph.set_results({builder.apply(kPowerOp, {x, y}).id});
  const HostTensor found = run_on("tiny4", graph, std::vector{a, b})[0];
  const std::vector<std::complex<double>> expected = {{1, 0}, {0, 0}, {0, 0}, {1, 0}, {0, 2}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(std::abs(read_complex(found, i) - expected[i]), 1e-15) << i;
  }
}

// As JAX and NumPy have it.
TEST(ComplexPower, OfZeroIsZeroForPositiveRealExponentsAlone) {
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    const std::vector<Number> exponents = {{-1, 0},         {0, 1},          {0, -1},
                                           {2, 5},          {-0.5, 2},       {kNotANumber, 0},
                                           {-kInfinite, 0}, {2, kNotANumber}};
    const std::vector<Number> bases(exponents.size(), 0);
    expect_alike(kPowerOp, dtype, {bases, exponents},
                 std::vector<Number>(exponents.size(), {kNotANumber, kNotANumber}));
    expect_alike(kPowerOp, dtype, {{0, 0, 0}, {2, 0.5, kInfinite}}, {0, 0, 0});
  }
}

// Results of JAX 0.10.2, which are those of C11, annex G.
TEST(ComplexQuotient, ByZeroAndInfinityIsWhatCHas) {
  for (const DType dtype : {DType::kC64, DType::kC128}) {
    expect_alike(kDivideOp, dtype,
                 {{{2, -3},
                   {1, 0},
                   {1, 0},
                   {kInfinite, kInfinite},
                   {2, kInfinite},
                   {0, 1},
                   {kInfinite, -2},
                   {2, 3},
                   {kInfinite, 1},
                   {kInfinite, kInfinite},
                   {kNotANumber, 1},
                   {1, 2},
                   {kInfinite, kNotANumber},
                   {kNotANumber, 1}},
                  {{0, 0},
                   {kInfinite, kInfinite},
                   {-kInfinite, kInfinite},
                   {2, 0},
                   {0, 0},
                   {-0.0, 0},
                   {1, 1},
                   {-kInfinite, kNotANumber},
                   {kInfinite, 2},
                   {kInfinite, 2},
                   {0, 0},
                   {-0.0, 0},
                   {1, 1},
                   {2, 3}}},
                 {{kInfinite, -kInfinite},
                  {0, -0.0},
                  {-0.0, -0.0},
                  {kInfinite, kInfinite},
                  {kInfinite, kInfinite},
                  {kNotANumber, -kInfinite},
                  {kInfinite, -kInfinite},
                  {-0.0, -0.0},
                  {kNotANumber, kNotANumber},
                  {kNotANumber, kNotANumber},
                  {kNotANumber, kInfinite},
                  {-kInfinite, -kInfinite},
                  {kInfinite, -kInfinite},
                  {kNotANumber, kNotANumber}});
    expect_alike(kRsqrtOp, dtype,
                 {{{0, kInfinite},
                   {0, -kInfinite},
                   {kInfinite, kInfinite},
                   {kInfinite, -kInfinite},
                   {0, 0},
                   {kInfinite, 0},
                   {4, 0}}},
                 {0, 0, 0, 0, {kInfinite, kNotANumber}, 0, 0.5});
    expect_alike(kLogisticOp, dtype,
                 {{{-kInfinite, 1}, {-kInfinite, 2.5}, {-kInfinite, 0}, {0, 0}}}, {0, 0, 0, 0.5});
  }
}

// Results of JAX 0.10.2 on a CPU.
TEST(ComplexArcTangent, OfAPartThatIsNoNumberHasARightAngle) {
  constexpr double kRight = 1.57079637050628662;  // the f32 of pi / 2
  const std::vector<Number> numbers = {
      {kNotANumber, kNotANumber}, {kNotANumber, 0},         {kNotANumber, -0.0},
      {kNotANumber, -1},          {kNotANumber, kInfinite}, {kNotANumber, -kInfinite},
      {0, kNotANumber},           {-0.0, kNotANumber},      {-2, kNotANumber},
      {kInfinite, kNotANumber},   {-kInfinite, kNotANumber}};
  expect_alike(kAtanhOp, DType::kC64, {numbers},
               {{kNotANumber, -kRight},
                {kNotANumber, kRight},
                {kNotANumber, kRight},
                {kNotANumber, -kRight},
                {-0.0, kRight},
                {-0.0, -kRight},
                {kNotANumber, -kRight},
                {kNotANumber, -kRight},
                {kNotANumber, -kRight},
                {0, -kRight},
                {-0.0, -kRight}});
  expect_alike(kAtanOp, DType::kC64, {numbers},
               {{-kRight, kNotANumber},
                {-kRight, kNotANumber},
                {-kRight, kNotANumber},
                {-kRight, kNotANumber},
                {-kRight, 0},
                {-kRight, -0.0},
                {kRight, kNotANumber},
                {kRight, kNotANumber},
                {-kRight, kNotANumber},
                {kRight, 0},
                {-kRight, 0}});
}

TEST(ComplexRoot, IsBelowTheBranchCutWhereTheImaginaryPartIsMinusZero) {
  const HostTensor x = complex_numbers({{-4, 0}, {-4, -0.0}, {4, -0.0}, {-9, -1e-30}});
  Graph graph;
  GraphBuilder builder(graph, {});
  graph.set_results({sqrt(builder.argument(x.type)).id});
  const HostTensor found = run_on("tiny4", graph, std::vector{x})[0];
  EXPECT_EQ(read_complex(found, 0), std::complex<double>(0, 2));
  EXPECT_EQ(read_complex(found, 1), std::complex<double>(0, -2));
  EXPECT_TRUE(std::signbit(read_complex(found, 2).imag()));
  EXPECT_LE(std::abs(read_complex(found, 3) - std::complex<double>(0, -3)), 1e-6);
}

}  // namespace
}  // namespace superstep
