#include "tools/op_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"
#include "tests/vertex/values.h"
#include "tools/op_examples.h"

namespace superstep {
namespace {

/// `vertex::sample`, also of types of several words: any words.
HostTensor sample_of(const TensorType& type, std::uint32_t seed) {
  constexpr std::size_t kWord = 4;
  if (size_of(type.dtype) <= kWord) return vertex::sample(type, seed);
  HostTensor tensor(type);
  tensor.data =
      vertex::sample({DType::kU32, {static_cast<std::int64_t>(type.bytes() / kWord)}}, seed).data;
  return tensor;
}

/// Device cycles that a program takes for an element, call of its vertices included.
double simulated_cycles(const OpDefinition& op, DType dtype, std::int64_t elements) {
  const ProgramImage image = compile(vector_use(op, dtype, elements).value(), machine_of_costs());
  std::vector<HostTensor> arguments;
  for (const TensorType& type : image.arguments)
    arguments.push_back(sample_of(type, static_cast<std::uint32_t>(arguments.size())));
  const RunResult run = run_image(image, arguments, {});
  EXPECT_FALSE(run.trap);
  return static_cast<double>(run.totals.compute.value()) / static_cast<double>(elements);
}

void expect_cost_of_big_programs(const OpDefinition& op, DType dtype, std::int64_t elements) {
  const std::optional<ElementCost> cost = element_cost(op, dtype);
  ASSERT_TRUE(cost);
  EXPECT_FALSE(cost->data_decide);
  EXPECT_NEAR(cost->cycles / simulated_cycles(op, dtype, elements), 1, 0.03);
}

// Whatever data are, where the page does not say that they decide.
TEST(OpCosts, AreWhatBigProgramsOfOneOpTake) {
  for (const char* name :
       {"stablehlo.add", "stablehlo.exponential", "stablehlo.divide", "stablehlo.select",
        "stablehlo.convert", "stablehlo.compare", "stablehlo.power", "chlo.erf", "chlo.is_inf",
        "chlo.broadcast_subtract", "chlo.next_after"}) {
    const OpDefinition& op = *find_op(name);
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32}) {
      if (!element_cost(op, dtype)) continue;
      SCOPED_TRACE(std::string(name) + " " + std::string(name_of(dtype)));
      expect_cost_of_big_programs(op, dtype, 20'001);
    }
  }
}

TEST(OpCosts, OfTypesThatTakeSeveralInstructionsAreWhatBigProgramsTake) {
  for (const auto& [name, dtype] : {std::pair{"stablehlo.add", DType::kF64},
                                    {"stablehlo.multiply", DType::kC64},
                                    {"stablehlo.multiply", DType::kI64},
                                    {"stablehlo.add", DType::kI8},
                                    {"stablehlo.exponential", DType::kBF16}}) {
    SCOPED_TRACE(std::string(name) + " " + std::string(name_of(dtype)));
    // Parts of an odd number of elements would not be aligned to pairs.
    expect_cost_of_big_programs(*find_op(name), dtype, 10'002);
  }
}

TEST(OpCosts, OfExpansionsAreThoseOfAllVerticesThatTheyBecome) {
  for (const char* name : {"chlo.lgamma", "chlo.digamma", "chlo.bessel_i1e"}) {
    SCOPED_TRACE(name);
    expect_cost_of_big_programs(*find_op(name), DType::kF32, 3'001);
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
    EXPECT_TRUE(element_cost(*find_op(name), DType::kF32)->data_decide) << name;
}

TEST(OpCosts, OfAnOpThatBecomesNothingAreNone) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32})
    EXPECT_EQ(element_cost(*find_op("sdy.sharding_constraint"), dtype)->cycles, 0);
}

}  // namespace
}  // namespace superstep
