#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/passes.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

// As the gradient of `relu` has it under `vmap`.
TEST(RepeatedConstants, AreKeptByNobodyHoweverOftenTheyAreRepeated) {
  const Module module = import_stablehlo(R"(
func.func @main(%p: tensor<4x6x8xi1>, %x: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %row = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
  %zero = stablehlo.broadcast_in_dim %row, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<4x6x8xf32>
  %t = stablehlo.transpose %zero, dims = [0, 1, 2] : (tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %y = stablehlo.select %p, %x, %t : tensor<4x6x8xi1>, tensor<4x6x8xf32>
  return %y : tensor<4x6x8xf32>
})",
                                         "test.mlir");
  for (const Buffer& buffer : lower(module, load_machine("tiny4")).buffers) {
    EXPECT_NE(buffer.kind, Buffer::Kind::kConstant) << buffer.name;
  }
}

}  // namespace
}  // namespace superstep
