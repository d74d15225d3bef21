#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

constexpr std::int64_t kCount = 2000;

Graph draw(DType dtype, const std::string& distribution, std::uint32_t line = 3) {
  Graph graph;
  Op op;
  op.definition = find_op("stablehlo.rng");
  const TensorType scalar{dtype, {}};
  op.operands = {graph.add_argument(scalar, ""), graph.add_argument(scalar, ""),
                 graph.add_argument({kI64, {1}}, "")};
  op.attributes = {{"rng_distribution", distribution}};
  op.declared = {{dtype, {kCount}}};
  op.location = {{"case.mlir", line, 7}};
  graph.set_results(graph.add_op(std::move(op)).results);
  return graph;
}

std::vector<HostTensor> operands(DType dtype, double a, double b) {
  return {numbers(dtype, {}, {a}), numbers(dtype, {}, {b}), numbers(kI64, {1}, {kCount})};
}

double number_at(const HostTensor& tensor, std::size_t i) {
  return is_float(tensor.type.dtype) ? read_float(tensor, i)
                                     : static_cast<double>(read_int(tensor, i));
}

struct Moments {
  double mean = 0, deviation = 0, least = INFINITY, most = -INFINITY;
};
Moments moments(const HostTensor& tensor) {
  Moments found;
  double squares = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kCount); ++i) {
    const double x = number_at(tensor, i);
    found.mean += x / kCount;
    squares += x * x / kCount;
    found.least = std::min(found.least, x);
    found.most = std::max(found.most, x);
  }
  found.deviation = std::sqrt(squares - found.mean * found.mean);
  return found;
}

// Bounds are four deviations of the mean of so many numbers.

TEST(RandomNumbers, OfFloatsAreSpreadEvenlyBelowTheUpperOne) {
  for (const DType dtype : {kF16, kBF16, kF32, kF64}) {
    const Graph graph = draw(dtype, "UNIFORM");
    const std::vector<HostTensor> between = operands(dtype, -2, 6);
    const HostTensor drawn = evaluate(graph, between)[0];
    const Moments found = moments(drawn);
    EXPECT_NEAR(found.mean, 2, 4 * 2.31 / std::sqrt(kCount)) << name_of(dtype);
    EXPECT_NEAR(found.deviation, 8 / std::sqrt(12.0), 0.1) << name_of(dtype);
    EXPECT_GE(found.least, -2);
    EXPECT_LT(found.most, 6);
    EXPECT_TRUE(close(run_lowering(graph.ops()[0], graph, between)[0], drawn, 0)) << name_of(dtype);
  }
}

TEST(RandomNumbers, OfIntegersAreAllThatThereAre) {
  for (const DType dtype : {kI8, kU16, kI32, kU32, kI64, kU64}) {
    const Graph graph = draw(dtype, "UNIFORM");
    const std::vector<HostTensor> between = operands(dtype, 3, 13);
    const HostTensor drawn = evaluate(graph, between)[0];
    std::set<std::int64_t> different;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kCount); ++i) {
      different.insert(read_int(drawn, i));
    }
    EXPECT_EQ(different, (std::set<std::int64_t>{3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    EXPECT_NEAR(moments(drawn).mean, 7.5, 4 * 2.87 / std::sqrt(kCount)) << name_of(dtype);
    EXPECT_TRUE(close(run_lowering(graph.ops()[0], graph, between)[0], drawn, 0)) << name_of(dtype);
  }
}

TEST(RandomNumbers, OfANormalDistributionHaveItsMoments) {
  for (const DType dtype : {kF16, kBF16, kF32, kF64}) {
    const Graph graph = draw(dtype, "NORMAL");
    const std::vector<HostTensor> moment = operands(dtype, 1, 2);
    const HostTensor drawn = evaluate(graph, moment)[0];
    const Moments found = moments(drawn);
    EXPECT_NEAR(found.mean, 1, 4 * 2 / std::sqrt(kCount)) << name_of(dtype);
    EXPECT_NEAR(found.deviation, 2, 4 * 2 / std::sqrt(2.0 * kCount)) << name_of(dtype);
    // The inverse of the error function is within 1.5 ULP of f32.
    const HostTensor lowered = run_lowering(graph.ops()[0], graph, moment)[0];
    for (std::size_t i = 0; i < static_cast<std::size_t>(kCount); ++i) {
      const double x = read_float(drawn, i);
      const double step = dtype == kBF16 ? 0x1p-7 : dtype == kF16 ? 0x1p-10 : 0x1p-20;
      ASSERT_NEAR(read_float(lowered, i), x, step * std::max(1.0, std::fabs(x)));
    }
  }
}

TEST(RandomNumbers, DifferByThePlaceInTheModule) {
  const std::vector<HostTensor> between = operands(kF32, 0, 1);
  const HostTensor here = evaluate(draw(kF32, "UNIFORM"), between)[0];
  const HostTensor there = evaluate(draw(kF32, "UNIFORM", 4), between)[0];
  EXPECT_TRUE(close(evaluate(draw(kF32, "UNIFORM"), between)[0], here, 0));
  EXPECT_FALSE(close(there, here, 0));
}

// Two calls of one function, the turns of a loop in a loop, and a branch in them.
TEST(RandomNumbers, DifferEachTimeThatAnOpIsExecuted) {
  const Module module =
      import_stablehlo(R"(func.func @main() -> (tensor<2xi32>, tensor<2xi32>, tensor<6x2xi32>) {
  %first = call @draw() : () -> tensor<2xi32>
  %second = call @draw() : () -> tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<6x2xi32>
  %0:2 = stablehlo.while(%i = %zero, %x = %none) : tensor<i32>, tensor<6x2xi32>
   cond {
    %1 = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %two : tensor<i32>
    %3:2 = stablehlo.while(%j = %i, %y = %x) : tensor<i32>, tensor<6x2xi32>
     cond {
      %4 = stablehlo.compare LT, %j, %2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %5 = stablehlo.compare LT, %j, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = "stablehlo.if"(%5) ({
        %7 = func.call @draw() : () -> tensor<2xi32>
        stablehlo.return %7 : tensor<2xi32>
      }, {
        %8 = func.call @draw() : () -> tensor<2xi32>
        stablehlo.return %8 : tensor<2xi32>
      }) : (tensor<i1>) -> tensor<2xi32>
      %9 = stablehlo.reshape %6 : (tensor<2xi32>) -> tensor<1x2xi32>
      %10 = stablehlo.dynamic_update_slice %y, %9, %j, %zero : (tensor<6x2xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<6x2xi32>
      %11 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %11, %10 : tensor<i32>, tensor<6x2xi32>
    }
    stablehlo.return %2, %3#1 : tensor<i32>, tensor<6x2xi32>
  }
  return %first, %second, %0#1 : tensor<2xi32>, tensor<2xi32>, tensor<6x2xi32>
}
func.func private @draw() -> tensor<2xi32> {
  %low = stablehlo.constant dense<1> : tensor<i32>
  %high = stablehlo.constant dense<2000000000> : tensor<i32>
  %size = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = stablehlo.rng %low, %high, %size, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
})",
                       "draws.mlir");
  const std::vector<HostTensor> drawn = evaluate(module.main, {});
  std::set<std::int64_t> different;
  for (const HostTensor& tensor : drawn) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
      different.insert(read_int(tensor, i));
    }
  }
  EXPECT_EQ(different.size(), 16U);
  const std::vector<HostTensor> on_tiles = run_on("tiny4", module.main, {});
  for (std::size_t r = 0; r < drawn.size(); ++r) {
    EXPECT_TRUE(close(on_tiles[r], drawn[r], 0)) << "result " << r;
  }
}

TEST(RandomNumbers, AreOfAKnownDistribution) {
  EXPECT_THROW(static_cast<void>(draw(kF32, "BINOMIAL")), MalformedInput);
  EXPECT_THROW(static_cast<void>(draw(kI32, "NORMAL")), MalformedInput);
}

}  // namespace
}  // namespace superstep
