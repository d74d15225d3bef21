#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"

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

// Each sum is of 14 rows of 84 and one of 79, which workers do not share.
TEST(Reduction, OfALongRowIsOneLaunchWhereItHasNoParts) {
  const Module module = import_stablehlo(R"(
    func.func @main(%x: tensor<1255x16xf32>) -> tensor<16xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<1255x16xf32>, tensor<f32>) -> tensor<16xf32>
      return %r : tensor<16xf32>
    })",
                                         "rows.mlir");
  const LoweredProgram program = lower(module, load_machine("bow"));
  std::size_t launches = 0;
  for (const Step& step : program.main.steps) {
    const auto* superstep = std::get_if<Superstep>(&step);
    if (superstep == nullptr) continue;
    for (const ComputeSet& set : superstep->computes) {
      for (const Launch& launch : set.launches) {
        ++launches;
        EXPECT_GT(launch.state[1].value, 1U) << "elements of a row on tile " << index(launch.tile);
      }
    }
  }
  EXPECT_GT(launches, 0U);
}

// One tile has one column, which is a row as well, the others have several.
TEST(Reduction, OfColumnsIsRightWhereOneTileHasOnlyOne) {
  const Module module = import_stablehlo(R"(
    func.func @main(%x: tensor<1x3x16x17x1xbf16>, %z: tensor<bf16>, %i: tensor<i32>)
        -> (tensor<1x17xbf16>, tensor<1x2x15x17x1xi1>) {
      %c = stablehlo.compare GE, %x, %x, FLOAT
          : (tensor<1x3x16x17x1xbf16>, tensor<1x3x16x17x1xbf16>) -> tensor<1x3x16x17x1xi1>
      %r = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1, 2, 4]
          : (tensor<1x3x16x17x1xbf16>, tensor<bf16>) -> tensor<1x17xbf16>
      %s = stablehlo.dynamic_slice %c, %i, %i, %i, %i, %i, sizes = [1, 2, 15, 17, 1]
          : (tensor<1x3x16x17x1xi1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
          -> tensor<1x2x15x17x1xi1>
      return %r, %s : tensor<1x17xbf16>, tensor<1x2x15x17x1xi1>
    })",
                                         "columns.mlir");
  std::vector<HostTensor> arguments;
  for (const ValueId argument : module.main.arguments()) {
    arguments.emplace_back(module.main.type(argument));
  }
  for (std::size_t i = 0; i < 3 * 16 * 17; ++i) {
    write_float(arguments[0], i, static_cast<double>(i * 37 % 251));
  }
  const RunResult run = run_image(compile(module, load_machine("tiny4")), arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  EXPECT_EQ(run.results[0].data, evaluate(module.main, arguments)[0].data);
}

}  // namespace
}  // namespace superstep
