#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

/// How many tiles combine elements of `reduction` of the 16 that one tile computes.
std::size_t tiles_that_reduce(const std::string& reduction) {
  const Module module = import_stablehlo(R"(
    func.func @main(%x: tensor<16xf32>) -> tensor<f32> {
      %i = stablehlo.iota dim = 0 : tensor<16xi32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %first = stablehlo.constant dense<0> : tensor<i32>
      %z = stablehlo.tanh %x : tensor<16xf32>
)" + reduction + "}",
                                         "reduction.mlir");
  const LoweredProgram program = lower(module, load_machine("small64"));
  std::set<TileId> tiles;
  for (const Step& step : program.main.steps) {
    const auto* superstep = std::get_if<Superstep>(&step);
    if (superstep == nullptr) continue;
    for (const ComputeSet& set : superstep->computes) {
      if (!set.name.starts_with("reduce")) continue;
      for (const Launch& launch : set.launches) tiles.insert(launch.tile);
    }
  }
  return tiles.size();
}

TEST(Reduction, OfElementsOfOneTileIsSharedWhereCombiningTakesLong) {
  EXPECT_EQ(tiles_that_reduce(R"(
      %r = stablehlo.reduce(%z init: %least) applies stablehlo.maximum across dimensions = [0]
          : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>)"),
            1U);
  EXPECT_GT(tiles_that_reduce(R"(
      %r:2 = stablehlo.reduce(%z init: %least), (%i init: %first) across dimensions = [0]
          : (tensor<16xf32>, tensor<16xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
          reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
        %c = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %n = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %d = stablehlo.or %c, %n : tensor<i1>
        %e = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %l = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %f = stablehlo.and %e, %l : tensor<i1>
        %g = stablehlo.or %d, %f : tensor<i1>
        %v = stablehlo.select %d, %a, %b : tensor<i1>, tensor<f32>
        %w = stablehlo.select %g, %j, %k : tensor<i1>, tensor<i32>
        stablehlo.return %v, %w : tensor<f32>, tensor<i32>
      }
      return %r#0 : tensor<f32>)"),
            1U);
}

}  // namespace
}  // namespace superstep
