#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"

namespace superstep {
namespace {

struct Loop {
  std::string trips = "3";
  std::string table = "dense<[1, 2, 5]>";
  std::string more = {};  ///< ops of the body
  std::string last = "%f";
};

/// Adds the first element of a table that turns to a vector, trip by trip.
Module module_of(const Loop& loop) {
  return import_stablehlo(
      "func.func @main(%x: tensor<20xi32>, %given: tensor<3xi32>, %n: tensor<i32>)"
      " -> (tensor<20xi32>, tensor<3xi32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %table = stablehlo." +
          std::string(loop.table == "given" ? "reverse %given, dims = [0]"
                                            : "constant " + loop.table) +
          " : tensor<3xi32>\n"
          "  %r:3 = stablehlo.while(%i = %zero, %a = %x, %t = %table)"
          " : tensor<i32>, tensor<20xi32>, tensor<3xi32>\n"
          "  cond {\n" +
          (loop.trips == "n" ? "    %goes = stablehlo.compare LT, %i, %n"
                             : "    %c = stablehlo.constant dense<" + loop.trips +
                                   "> : tensor<i32>\n    %goes = stablehlo.compare LT, %i, %c") +
          " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
          "    stablehlo.return %goes : tensor<i1>\n"
          "  } do {\n"
          "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
          "    %j = stablehlo.add %i, %one : tensor<i32>\n"
          "    %b = stablehlo.slice %t [0:1] : (tensor<3xi32>) -> tensor<1xi32>\n"
          "    %d = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<1xi32>) -> tensor<20xi32>\n"
          "    %f = stablehlo.add %a, %d : tensor<20xi32>\n" +
          loop.more +
          "    %g = stablehlo.slice %t [1:3] : (tensor<3xi32>) -> tensor<2xi32>\n"
          "    %h = stablehlo.concatenate %g, %b, dim = 0"
          " : (tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>\n"
          "    stablehlo.return %j, " +
          loop.last +
          ", %h : tensor<i32>, tensor<20xi32>, tensor<3xi32>\n"
          "  }\n"
          "  return %r#1, %r#2 : tensor<20xi32>, tensor<3xi32>\n}",
      "test.mlir");
}

bool has_loop_left(const Graph& graph) {
  return std::ranges::any_of(
      graph.ops(), [](const Op& op) { return op.definition->traits.control == Control::kLoop; });
}

TEST(UnrollLoops, MeansTheSameAndKnowsTheTable) {
  for (const char* trips : {"0", "1", "4", "8"}) {
    const Module module = module_of({.trips = trips});
    const Graph unrolled = unroll_loops(module.main);
    EXPECT_FALSE(has_loop_left(unrolled)) << trips;
    HostTensor x({DType::kI32, {20}});
    const std::vector<HostTensor> arguments = {x, HostTensor({DType::kI32, {3}}),
                                               HostTensor({DType::kI32, {}})};
    const std::vector<HostTensor> want = evaluate(module.main, arguments);
    const std::vector<HostTensor> found = evaluate(unrolled, arguments);
    for (std::size_t r = 0; r < want.size(); ++r) EXPECT_EQ(found[r].data, want[r].data) << trips;
    const Graph known = remove_unused_ops(fold_constants(unrolled));
    EXPECT_TRUE(std::ranges::none_of(known.ops(), [](const Op& op) {
      return op.definition->name == "stablehlo.slice";
    })) << trips;
  }
}

TEST(UnrollLoops, KeepsLongLoopsAndThoseOfUnknownTripsOrTables) {
  EXPECT_TRUE(has_loop_left(unroll_loops(module_of({.trips = "9"}).main)));
  EXPECT_TRUE(has_loop_left(unroll_loops(module_of({.trips = "n"}).main)));
  EXPECT_TRUE(has_loop_left(unroll_loops(module_of({.table = "given"}).main)));
}

TEST(UnrollLoops, KeepsLoopsOverOpsThatAreStepsOfTheirOwn) {
  const Loop loop{
      .more =
          "    %zero_2 = stablehlo.constant dense<0> : tensor<i32>\n"
          "    %s = stablehlo.reduce(%f init: %zero_2) applies stablehlo.add across dimensions = "
          "[0] : (tensor<20xi32>, tensor<i32>) -> tensor<i32>\n"
          "    %u = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<20xi32>\n",
      .last = "%u"};
  EXPECT_TRUE(has_loop_left(unroll_loops(module_of(loop).main)));
}

}  // namespace
}  // namespace superstep
