#include "compiler/ops/argmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "compiler/ops/elements.h"
#include "compiler/ops/iota.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Reduction {
  DType dtype = DType::kF32;
  const char* direction = "GT";
  std::int64_t dimension = 1;
  double initial = -kInf;
  double first_place = 0;
  bool keeps_number = false;
};

/// As JAX prints `argmax` and `argmin` of a tensor of 5 x 9.
Graph graph_of(const Reduction& reduction) {
  const TensorType number{reduction.dtype, {}}, place{DType::kI32, {}};
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor x = builder.argument({reduction.dtype, {5, 9}});
  const std::vector<Tensor> operands = {x,
                                        builder.iota({DType::kI32, x.shape()}, reduction.dimension),
                                        builder.number(reduction.dtype, reduction.initial),
                                        builder.number(DType::kI32, reduction.first_place)};
  Op op;
  op.attributes = {{"dimensions", std::vector{reduction.dimension}}};
  op.regions.push_back(region_of({number, place, number, place}, [&](std::span<const Tensor> a) {
    const Tensor kept = compare(reduction.direction, a[0], a[2]) | compare("NE", a[0], a[0]);
    const Tensor first = compare("EQ", a[0], a[2]) & compare("LT", a[1], a[3]);
    return std::vector{select(kept, a[0], a[2]), select(kept | first, a[1], a[3])};
  }));
  const std::vector<Tensor> found = builder.append(kReduceOp, operands, std::move(op));
  std::vector<ValueId> results = {found[1].id};
  if (reduction.keeps_number) results.push_back(found[0].id);
  graph.set_results(std::move(results));
  return graph;
}

bool has_reduction_of_two(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const Op& op) {
    return op.definition == &kReduceOp && op.operands.size() == 4;
  });
}

HostTensor drawn(DType dtype, bool has_nan, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values = {0.0, -0.0, 1, 2, -3};
  if (is_float(dtype)) values.insert(values.end(), {kInf, -kInf});
  if (has_nan) values.push_back(kNaN);
  std::vector<double> elements(45);
  for (double& element : elements) element = values[random() % values.size()];
  return numbers(dtype, {5, 9}, elements);
}

TEST(Argmax, IsTheFirstPlaceOfTheExtremeOrOfNaN) {
  for (const bool is_largest : {true, false}) {
    for (const std::int64_t dimension : {0, 1}) {
      for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        const Reduction reduction{.direction = is_largest ? "GT" : "LT",
                                  .dimension = dimension,
                                  .initial = is_largest ? -kInf : kInf};
        const Graph graph = graph_of(reduction);
        const Graph expanded = expand_ops(graph);
        ASSERT_FALSE(has_reduction_of_two(expanded));
        const std::vector<HostTensor> x = {drawn(DType::kF32, seed % 2 == 0, seed)};
        EXPECT_TRUE(close(run_on("tiny4", expanded, x)[0], evaluate(graph, x)[0], 0)) << seed;
      }
    }
  }
}

TEST(Argmax, OfRowsThatAreAllTheInitialNumberIsTheFirstPlace) {
  const Graph graph = expand_ops(graph_of({}));
  const std::vector<HostTensor> x = {numbers(DType::kF32, {5, 9}, std::vector(45, -kInf))};
  EXPECT_TRUE(
      close(run_on("tiny4", graph, x)[0], numbers(DType::kI32, {5}, std::vector(5, 0.0)), 0));
}

TEST(Argmax, OfIntegersStaysInIntegers) {
  for (const DType dtype : {DType::kI32, DType::kI8, DType::kF16}) {
    const double lowest = dtype == DType::kI32 ? -2147483648.0 : dtype == DType::kI8 ? -128 : -kInf;
    const Graph graph = graph_of({.dtype = dtype, .initial = lowest});
    const Graph expanded = expand_ops(graph);
    EXPECT_FALSE(has_reduction_of_two(expanded));
    const std::vector<HostTensor> x = {drawn(dtype, false, 5)};
    EXPECT_TRUE(close(run_on("tiny4", expanded, x)[0], evaluate(graph, x)[0], 0));
  }
}

// Of zeros of both signs the function keeps the last, the larger of them or not; and other initial
// values may be the result.
TEST(Argmax, KnowsPlacesThatAreFolded) {
  Graph graph;
  GraphBuilder builder(graph, {});
  HostTensor places(TensorType{DType::kI32, {2, 3}});
  for (std::size_t i = 0; i < 6; ++i) places.set(i, static_cast<std::int32_t>(i % 3));
  const ValueId along_rows = builder.constant(places).id;
  places.set(4, 0);
  const ValueId another = builder.constant(places).id;
  EXPECT_TRUE(is_place(graph, along_rows, 1));
  EXPECT_FALSE(is_place(graph, along_rows, 0));
  EXPECT_FALSE(is_place(graph, another, 1));
}

TEST(Argmax, IsAReductionOfTwoWhereMoreIsAskedFor) {
  for (const Reduction& reduction :
       {Reduction{.keeps_number = true}, Reduction{.initial = 0}, Reduction{.first_place = -1}}) {
    const Graph graph = graph_of(reduction);
    EXPECT_TRUE(has_reduction_of_two(expand_ops(graph)));
    const std::vector<HostTensor> x = {drawn(DType::kF32, false, 6)};
    const std::vector<HostTensor> found = run_on("tiny4", graph, x), want = evaluate(graph, x);
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(close(found[i], want[i], 0)) << i;
  }
}

}  // namespace
}  // namespace superstep
