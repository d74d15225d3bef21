// Damaged modules and machine files through the whole compiler: each is refused as an error of the
// user's, or compiles. SUPERSTEP_FUZZ sets how many of each.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/errors/damage.h"
#include "tests/generated/program.h"
#include "tests/generated/stablehlo_text.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

// Both printed forms, with constants and attributes of several kinds, and some ops; the generated
// modules below have the others.
constexpr std::array kModules = {
    R"(func.func public @main(%arg0: tensor<6x5xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<5x3xf32>) -> (tensor<6x3xf32>, tensor<6x5xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<6x5xf32>, tensor<5x3xf32>) -> tensor<6x3xf32>
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xf32>) -> tensor<6x3xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<6x3xf32>
  %4 = stablehlo.exponential %3 : tensor<6x3xf32>
  %5 = call @twice(%arg0) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  return %4, %5 : tensor<6x3xf32>, tensor<6x5xf32>
}
func.func private @twice(%arg0: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
})",
    R"(func.func public @main(%arg0: tensor<4x7xui8>, %arg1: tensor<3x7xui8>, %arg2: tensor<ui8>) -> (tensor<8x12xui8>, tensor<7x2xui8>, tensor<7xi1>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<4x7xui8>, tensor<3x7xui8>) -> tensor<7x7xui8>
  %1 = stablehlo.pad %0, %arg2, low = [-1, 2], high = [2, -3], interior = [0, 1] : (tensor<7x7xui8>, tensor<ui8>) -> tensor<8x12xui8>
  %2 = stablehlo.slice %0 [0:7, 1:6:3] : (tensor<7x7xui8>) -> tensor<7x2xui8>
  %3 = stablehlo.reverse %2, dims = [0, 1] : tensor<7x2xui8>
  %c = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 255]> : tensor<7xui8>
  %4 = stablehlo.iota dim = 0 : tensor<7xui8>
  %5 = stablehlo.compare LT, %c, %4, UNSIGNED : (tensor<7xui8>, tensor<7xui8>) -> tensor<7xi1>
  return %1, %3, %5 : tensor<8x12xui8>, tensor<7x2xui8>, tensor<7xi1>
})",
    R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<2x3x4xf16>, tensor<i1>) -> (tensor<i32>, tensor<4x6xf32>), sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3x4xf16>, %arg1: tensor<i1>):
    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xf16>) -> tensor<4x2x3xf16>
    %1 = "stablehlo.reshape"(%0) : (tensor<4x2x3xf16>) -> tensor<4x6xf16>
    %2 = "stablehlo.convert"(%1) : (tensor<4x6xf16>) -> tensor<4x6xf32>
    %3 = "stablehlo.constant"() <{value = dense<-1.5> : tensor<4x6xf32>}> : () -> tensor<4x6xf32>
    %4 = "stablehlo.select"(%arg1, %2, %3) : (tensor<i1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x6xi32>
    %7 = "stablehlo.reduce"(%6, %5) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>):
      %8 = "stablehlo.xor"(%arg2, %arg3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%8) : (tensor<i32>) -> ()
    }) : (tensor<4x6xi32>, tensor<i32>) -> tensor<i32>
    "func.return"(%7, %4) : (tensor<i32>, tensor<4x6xf32>) -> ()
  }) : () -> ()
}) : () -> ())"};

TEST(Fuzz, DamagedModulesAreRefusedOrCompile) {
  const MachineConfig machine = load_machine("tiny4");
  Damage damage(1);
  int compiled = 0;
  for (int i = 0; i < fuzz_inputs(); ++i) {
    const std::string text = damage.apply(kModules[static_cast<std::size_t>(i) % kModules.size()]);
    SCOPED_TRACE(text);
    note_input(text);
    try {
      (void)compile(import_stablehlo(text, "f.mlir"), machine);
      ++compiled;
    } catch (const UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(compiled, fuzz_inputs() / 100);
}

// A result of a generated program and what leads to it: between them every op.
TEST(Fuzz, DamagedGeneratedModulesAreRefusedOrCompile) {
  const MachineConfig machine = load_machine("tiny4");
  Damage damage(6);
  const int inputs = fuzz_inputs(1000);
  int compiled = 0;
  for (int i = 0; i < inputs; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) + 1000003 * std::uint64_t{fuzz_seed()};
    const Program program = generate_program(seed);
    const std::vector<ValueId>& results = program.module.main.results();
    const Program one = only_result(program, results[seed % results.size()]);
    const std::string whole = stablehlo_text(one.module);
    const std::string text = i % 4 == 0 ? damage.apply(whole) : damage.vary(whole);
    SCOPED_TRACE(text);
    note_input(text);
    try {
      (void)compile(import_stablehlo(text, "f.mlir"), machine);
      ++compiled;
    } catch (const UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(compiled, inputs / 50);
}

TEST(Fuzz, DamagedMachinesAreRefusedOrRunAProgram) {
  const auto path = scratch_folder() / "machine.toml";
  const Module module = import_stablehlo(
      "func.func @main(%a: tensor<40xf32>) -> tensor<40xf32> {\n"
      "  %0 = stablehlo.reverse %a, dims = [0] : tensor<40xf32>\n"
      "  %1 = stablehlo.add %0, %a : tensor<40xf32>\n"
      "  return %1 : tensor<40xf32>\n}\n",
      "f.mlir");
  const HostTensor argument(module.main.type(module.main.arguments()[0]));
  const std::string good = to_toml(load_machine("tiny4"));
  Damage damage(2);
  int ran = 0;
  for (int i = 0; i < fuzz_inputs(); ++i) {
    const std::string text = damage.apply(good);
    SCOPED_TRACE(text);
    std::ofstream(path, std::ios::binary) << text;
    try {
      const RunResult run = run_image(compile(module, load_machine(path.string())), {argument}, {});
      EXPECT_FALSE(run.trap) << run.trap->text();
      ++ran;
    } catch (const UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(ran, fuzz_inputs() / 50);
}

}  // namespace
}  // namespace superstep
