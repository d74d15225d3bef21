#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

std::string main_of(const std::string& arguments, const std::string& body,
                    const std::string& result) {
  return "func.func @main(" + arguments + ") -> tensor<" + result + "> {\n" + body + "\n}\n";
}

std::string product(const std::string& type) {
  return main_of("%a: tensor<" + type + ">, %b: tensor<" + type + ">",
                 "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<" +
                     type + ">, tensor<" + type + ">) -> tensor<" + type +
                     ">\nreturn %0 : tensor<" + type + ">",
                 type);
}

/// Why a program does not fit; empty when it does. `memory` gets what the report is made of.
std::string refusal_on(const std::string& machine, const std::string& text, ProgramInfo& memory) {
  const Module module = import_stablehlo(text, "f.mlir");
  try {
    (void)compile(module, load_machine(machine),
                  {.on_memory = [&](const ProgramInfo& info) { memory = info; }});
  } catch (const DoesNotFit& error) {
    return error.what();
  }
  return {};
}

std::uint64_t worst_tile(const ProgramInfo& info) {
  std::uint64_t worst = 0;
  for (std::size_t tile = 0; tile < info.memory.at(0).bytes_by_tile.size(); ++tile) {
    std::uint64_t bytes = 0;
    for (const MemoryCategory& category : info.memory) bytes += category.bytes_by_tile[tile];
    worst = std::max(worst, bytes);
  }
  return worst;
}

TEST(DoesNotFit, NamesTheTileWhatIsMissingAndTheBiggestTensorsWithTheirPlaces) {
  ProgramInfo memory;
  const std::string text = refusal_on("tiny4", product("500x500xf32"), memory);
  EXPECT_NE(text.find("does not fit machine tiny4: tile "), std::string::npos) << text;
  EXPECT_NE(text.find("KiB more than its 624.0 KiB"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<500x500xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("f.mlir:2:6"), std::string::npos) << text;
  EXPECT_GT(worst_tile(memory), 624U * 1024);
}

TEST(DoesNotFit, IsSaidAtOnceOfTensorsBeyondAllTiles) {
  const std::string constant =
      main_of("",
              "%0 = stablehlo.iota dim = 0 : tensor<99999x99999xf32>\nreturn %0 : "
              "tensor<99999x99999xf32>",
              "99999x99999xf32");
  for (const std::string& text : {constant, product("60000x60000xf32")}) {
    for (const char* machine : {"tiny4", "bow"}) {
      ProgramInfo memory;
      EXPECT_NE(refusal_on(machine, text, memory).find("f.mlir:2:6"), std::string::npos);
      EXPECT_GT(worst_tile(memory), 624U * 1024);
    }
  }
}

// Row sums of a broadcast: what is reduced is a view, as large as it may be, and is gathered in
// passes.
TEST(DoesNotFit, IsSaidAtOnceOfReductionsInTooManyPasses) {
  const std::string text =
      "func.func @main(%a: tensor<1000000xf32>) -> tensor<1000000xf32> {\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%b = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1000000xf32>) -> "
      "tensor<1000000x1000000xf32>\n"
      "%r = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [1] : "
      "(tensor<1000000x1000000xf32>, tensor<f32>) -> tensor<1000000xf32>\n"
      "return %r : tensor<1000000xf32>\n}";
  ProgramInfo memory;
  const std::string refusal = refusal_on("small64", text, memory);
  EXPECT_NE(refusal.find("KiB more than its 624.0 KiB"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("reduce.3.partials"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("f.mlir:4:6"), std::string::npos) << refusal;
  EXPECT_GT(worst_tile(memory), 624U * 1024);
}

TEST(CompileProgress, SaysHowFarLongStagesAre) {
  std::string text = "func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {\n";
  for (int i = 0; i < 2000; ++i) {
    text += "%" + std::to_string(i) + " = stablehlo.add %" +
            (i == 0 ? "a" : std::to_string(i - 1)) + ", %a : tensor<64xf32>\n";
  }
  text += "return %1999 : tensor<64xf32>\n}";
  std::vector<std::string> stages;
  (void)compile(import_stablehlo(text, "f.mlir"), load_machine("tiny4"),
                {.progress = [&](std::string_view stage) { stages.emplace_back(stage); }});
  for (const char* stage : {"fold constants", "lower, 1000 of 2000 ops", "fuse elementwise ops",
                            "divide work among workers, 0 of 4 tiles",
                            "allocate memory, 0 of 4 tiles", "schedule exchanges"}) {
    EXPECT_GT(std::ranges::count(stages, stage), 0) << stage;
  }
}

// 271,744 bytes of each tile are an argument and as many its double: neither region holds both.
TEST(DoesNotFit, IsNotSaidOfTensorsThatLieAcrossTheRegions) {
  const std::string type = "271744xf32";
  const Module module = import_stablehlo(
      main_of("%a: tensor<" + type + ">",
              "%0 = stablehlo.add %a, %a : tensor<" + type + ">\nreturn %0 : tensor<" + type + ">",
              type),
      "f.mlir");
  HostTensor argument(module.main.type(module.main.arguments()[0]));
  for (std::size_t i = 0; i < 271744; ++i) argument.set(i, static_cast<float>(i));
  const RunResult run = run_image(compile(module, load_machine("tiny4")), {argument}, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  for (std::size_t i = 0; i < 271744; ++i) {
    ASSERT_EQ(run.results[0].get<float>(i), 2 * static_cast<float>(i)) << i;
  }
}

}  // namespace
}  // namespace superstep
