#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/passes.h"
#include "compiler/program/blocks.h"
#include "isa/machine_config.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

// As the gradient of max pooling puts the places of its windows beside each other.
TEST(ReorderedConcatenation, ComesFromItsPartsInOneExchange) {
  const Module module = import_stablehlo(R"(
func.func @main(%x: tensor<1x64x8xf32>, %y: tensor<1x64x8xf32>, %z: tensor<64x2x8xf32>) -> tensor<64x2x8xf32> {
  %c = stablehlo.concatenate %x, %y, dim = 0 : (tensor<1x64x8xf32>, tensor<1x64x8xf32>) -> tensor<2x64x8xf32>
  %t = stablehlo.transpose %c, dims = [1, 0, 2] : (tensor<2x64x8xf32>) -> tensor<64x2x8xf32>
  %r = stablehlo.add %t, %z : tensor<64x2x8xf32>
  return %r : tensor<64x2x8xf32>
})",
                                         "test.mlir");
  const LoweredProgram program = lower(module, load_machine("small64"));
  const auto moves = [](const Superstep* superstep) { return !superstep->movements.empty(); };
  EXPECT_EQ(std::ranges::count_if(supersteps_of(program), moves), 1);
  std::vector<HostTensor> arguments;
  for (const ValueId argument : module.main.arguments()) {
    HostTensor& tensor = arguments.emplace_back(module.main.type(argument));
    for (std::int64_t i = 0; i < tensor.type.elements(); ++i) {
      tensor.set<float>(static_cast<std::size_t>(i), static_cast<float>(i * 7 % 1009));
    }
  }
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  const std::vector<HostTensor> found =
      PlanInterpreter(program).run(arguments, std::vector{expected[0].type});
  EXPECT_EQ(found[0].data, expected[0].data);
}

}  // namespace
}  // namespace superstep
