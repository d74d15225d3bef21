#include "tools/op_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"
#include "tests/vertex/values.h"
#include "tools/op_examples.h"

namespace superstep {
namespace {

/// Device cycles that a program takes for an element, call of its vertices included.
double simulated_cycles(const OpDefinition& op, DType dtype, std::int64_t elements) {
  const ProgramImage image = compile(vector_use(op, dtype, elements).value(), machine_of_costs());
  std::vector<HostTensor> arguments;
  for (const TensorType& type : image.arguments)
    arguments.push_back(vertex::sample(type, static_cast<std::uint32_t>(arguments.size())));
  const RunResult run = run_image(image, arguments, {});
  EXPECT_FALSE(run.trap);
  return static_cast<double>(run.totals.compute.value()) / static_cast<double>(elements);
}

// Whatever data are, where the page does not say that they decide.
TEST(OpCosts, AreWhatBigProgramsOfOneOpTake) {
  for (const char* name :
       {"stablehlo.add", "stablehlo.exponential", "stablehlo.divide", "stablehlo.select",
        "stablehlo.convert", "stablehlo.compare", "stablehlo.power", "chlo.erf", "chlo.is_inf",
        "chlo.broadcast_subtract", "chlo.next_after"}) {
    const OpDefinition& op = *find_op(name);
    const std::vector<ElementCost> costs = element_costs(op);
    EXPECT_GE(costs.size(), 2U) << name;
    for (const ElementCost& cost : costs) {
      EXPECT_FALSE(cost.data_decide) << name;
      EXPECT_NEAR(cost.cycles / simulated_cycles(op, cost.dtype, 20'001), 1, 0.03)
          << name << " " << name_of(cost.dtype);
    }
  }
}

TEST(OpCosts, OfExpansionsAreThoseOfAllVerticesThatTheyBecome) {
  for (const char* name : {"chlo.lgamma", "chlo.digamma", "chlo.bessel_i1e"}) {
    const OpDefinition& op = *find_op(name);
    const ElementCost cost = element_costs(op).at(0);
    ASSERT_EQ(cost.dtype, DType::kF32);
    EXPECT_NEAR(cost.cycles / simulated_cycles(op, DType::kF32, 3'001), 1, 0.03) << name;
  }
}

TEST(OpCosts, EveryExampleIsOfItsOpAndExchangesWhereItHasSuchSteps) {
  for (const OpExample& example : op_examples()) {
    const Module module = import_stablehlo(example.text(), std::string(example.op));
    EXPECT_TRUE(std::ranges::any_of(module.main.ops(), [&](const Op& op) {
      return op.definition->name == example.op;
    })) << example.op;
    const ProgramCost cost = cost_of(module, load_machine("bow", {"grid.tiles=64"}));
    EXPECT_EQ(cost.exchanges > 0, cost.exchange.value() > 0) << example.op;
  }
}

// Each of 64 tiles receives its words, one in a cycle.
TEST(OpCosts, OfABroadcastAreWhatItMoves) {
  const Module module = import_stablehlo(
      "func.func @main(%a: tensor<256xf32>) -> tensor<128x256xf32> {\n"
      "  %r = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<256xf32>) -> "
      "tensor<128x256xf32>\n  return %r : tensor<128x256xf32>\n}\n",
      "broadcast.mlir");
  const ProgramCost cost = cost_of(module, load_machine("bow", {"grid.tiles=64"}));
  EXPECT_EQ(cost.ops.size(), 1U);
  EXPECT_EQ(cost.exchange_bytes, 128U * 256 * 4);
  EXPECT_GE(cost.exchange.value(), 128U * 256 / 64);
}

TEST(OpCosts, SayWhereDataDecide) {
  for (const char* name : {"stablehlo.sine", "stablehlo.remainder"})
    EXPECT_TRUE(element_costs(*find_op(name)).at(0).data_decide) << name;
}

TEST(OpCosts, OfAnOpThatBecomesNothingAreNone) {
  const std::vector<ElementCost> costs = element_costs(*find_op("sdy.sharding_constraint"));
  ASSERT_EQ(costs.size(), 3U);
  for (const ElementCost& cost : costs) EXPECT_EQ(cost.cycles, 0);
}

}  // namespace
}  // namespace superstep
