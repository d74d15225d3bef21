// What /program of a trace says, read back column by column.

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/hdf5_file.h"
#include "sim/trace/schema.h"
#include "sim/trace/trace_file.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

/// So many times: all elements divided by their mean.
std::string chain(const std::string& name, int steps) {
  std::string text =
      "func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%c = stablehlo.constant dense<2.44140625e-4> : tensor<f32>\n";
  std::string x = "%x";
  for (int k = 0; k < steps; ++k) {
    text += fmt::format(
        "%r{0} = stablehlo.reduce({1} init: %z) applies stablehlo.add across dimensions = [0] : "
        "(tensor<4096xf32>, tensor<f32>) -> tensor<f32>\n"
        "%m{0} = stablehlo.multiply %r{0}, %c : tensor<f32>\n"
        "%b{0} = stablehlo.broadcast_in_dim %m{0}, dims = [] : (tensor<f32>) -> tensor<4096xf32>\n"
        "%y{0} = stablehlo.divide {1}, %b{0} : tensor<4096xf32>\n",
        k, x);
    x = fmt::format("%y{}", k);
  }
  const std::string path = (scratch_folder() / name).string();
  std::ofstream(path) << text + "return " + x + " : tensor<4096xf32>\n}\n";
  return path;
}

Hdf5File traced(const std::string& words) {
  const std::string path = (scratch_folder() / "traced.h5").string();
  const ProgramRun run = superstep("run -q -o " + path + ' ' + words);
  EXPECT_EQ(run.code, 0) << run.err;
  return Hdf5File::open(path, Hdf5File::Access::kRead);
}

TEST(ProgramTables, CallsOfSharedCodeHaveTheSameSteps) {
  const Hdf5File file = traced("--input random:1 -m small64 " + chain("shared.mlir", 40));
  const auto numbers = [&](const std::string& column) {
    return file.read_all<std::int32_t>("/program/step/" + column, Hdf5Type::kI32);
  };
  const std::vector<std::int32_t> code = numbers("shared_code"), site = numbers("call_site");
  const auto kind = file.read_all<std::uint8_t>("/program/step/kind", Hdf5Type::kU8);
  std::map<std::int32_t, std::vector<std::uint8_t>> kinds;  // by call
  std::map<std::int32_t, std::set<std::int32_t>> codes;
  for (std::size_t s = 0; s < code.size(); ++s) {
    EXPECT_EQ(code[s] < 0, site[s] < 0) << s;
    if (site[s] < 0) continue;
    kinds[site[s]].push_back(kind[s]);
    codes[site[s]].insert(code[s]);
  }
  std::map<std::int32_t, std::set<std::vector<std::uint8_t>>> steps;  // by code
  for (const auto& [call, of_call] : codes) {
    ASSERT_EQ(of_call.size(), 1U) << "call " << call;
    steps[*of_call.begin()].insert(kinds[call]);
  }
  EXPECT_GE(codes.size(), 2 * steps.size());
  EXPECT_GE(steps.size(), 1U);
  for (const auto& [number, sequences] : steps) EXPECT_EQ(sequences.size(), 1U) << number;
  EXPECT_EQ(code.back(), -1) << "of the code between steps";
}

TEST(ProgramTables, TheHashOfCodeIsThatOfTheProgramWhateverItRunsOn) {
  const std::string two = chain("two.mlir", 2), three = chain("three.mlir", 3);
  const auto hash = [](const std::string& words) {
    return traced("-m tiny4 " + words).text_attribute("/", "code_sha256");
  };
  const std::string first = hash("--input random:1 -j1 " + two);
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(hash("--input random:2 -j2 --trace tile " + two), first);
  EXPECT_NE(hash("--input random:1 -j1 " + three), first);
}

TEST(ProgramTables, TensorsHaveThePythonLineOfWhatMakesThem) {
  const Hdf5File file = traced("--input random:1 -m small64 models/cnn/train_step.mlir");
  const auto by_name = [&](const std::string& group) {
    std::map<std::string, std::pair<std::string, std::uint32_t>> places;
    const auto names = file.read_text(group + "/name"),
               files = file.read_text(group + "/python_file");
    const auto lines = file.read_all<std::uint32_t>(group + "/python_line", Hdf5Type::kU32);
    for (std::size_t i = 0; i < names.size(); ++i) places[names[i]] = {files[i], lines[i]};
    return places;
  };
  const auto operations = by_name("/program/operation");
  int same = 0;
  for (const auto& [name, place] : by_name("/program/variable")) {
    const auto operation = operations.find(name);
    if (operation == operations.end() || place.second == 0) continue;
    EXPECT_EQ(place, operation->second) << name;
    ++same;
  }
  EXPECT_GT(same, 5);
}

// The number of its trips lives from the loop on, which no step in it begins.
TEST(ProgramTables, TensorsThatAreLiveInAStepAddUpToItsMemory) {
  const std::string path = (scratch_folder() / "live.h5").string();
  const ProgramRun run = superstep(
      "run models/karate/train.mlir -m small64 --input random:1 --trace summary -q -o " + path);
  ASSERT_EQ(run.code, 0) << run.err;
  const TraceFile trace(path);
  const std::vector<StepRow> steps = trace.read(kSteps);
  const std::vector<StepMemory> memory = trace.read(kLiveness);
  ASSERT_EQ(memory.size(), steps.size());
  std::uint64_t of_loops = 0;
  for (std::uint32_t s = 0; s + 1 < steps.size(); ++s) {
    std::uint64_t live = 0;
    for (const VariableRow& variable : trace.read(kVariables)) {
      if (variable.is_always_live || !is_live_in(variable, s)) continue;
      live += variable.bytes;
      if (variable.first_step == s && kStepKinds[steps[s].kind_number] == "loop") {
        of_loops += variable.bytes;
      }
    }
    EXPECT_EQ(live, memory[s].not_always_live_bytes) << steps[s].name;
  }
  EXPECT_GT(of_loops, 0U);
}

}  // namespace
}  // namespace superstep
