// Modules that check themselves, on a machine.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/scratch_folder.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

using nlohmann::json;

/// A module as StableHLO's test data: `op` of %0#0 and %0#1 against `expected`.
std::string module_of(const std::string& op, const std::string& expected,
                      const std::string& check = "check.expect_eq") {
  return R"(
module @jit_main {
  func.func public @main() -> tensor<3xf32> {
    %0:2 = call @inputs() : () -> (tensor<3xf32>, tensor<3xf32>)
    %1 = call @expected() : () -> tensor<3xf32>
    %2 = )" +
         op + R"( : tensor<3xf32>
    stablehlo.custom_call @)" +
         check + R"((%2, %1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %2 : tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3xf32>, tensor<3xf32>) {
    %a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %b = stablehlo.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
    return %a, %b : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @expected() -> tensor<3xf32> {
    %c = stablehlo.constant dense<[)" +
         expected + R"(]> : tensor<3xf32>
    return %c : tensor<3xf32>
  }
}
)";
}

class ConformanceCommand : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / name) << text;
  }
  json run(int code, const std::string& options = "") {
    const ProgramRun run = superstep("conformance " + folder_.string() + " -q --json " + options);
    EXPECT_EQ(run.code, code) << run.err;
    return json::parse(run.out)["modules"];
  }

  std::filesystem::path folder_ = scratch_folder() / "modules";
};

TEST_F(ConformanceCommand, RunsOnTilesWhatTheHostCouldFold) {
  add("add_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.0, 9.0"));
  const json modules = run(0);
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0]["primitive"], "add");
  EXPECT_EQ(modules[0]["dtype"], "f32");
  EXPECT_EQ(modules[0]["verdict"], "passed");
  EXPECT_GT(modules[0]["device_steps"], 0);
  EXPECT_GT(modules[0]["worker_instructions"], 0);
}

TEST_F(ConformanceCommand, FailsWhereAnElementIsWrong) {
  add("add_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.5, 9.0"));
  const json modules = run(1);
  EXPECT_EQ(modules[0]["verdict"], "wrong");
  EXPECT_EQ(modules[0]["reason"], "line 7: 1 of 3 elements; element 1 is 7, expected 7.5");
}

TEST_F(ConformanceCommand, FailsWhereModulesAreRefusedAndSaysWhy) {
  add("log_float32_3.mlir", module_of("stablehlo.frobnicate %0#0", "0.0, 0.0, 0.0"));
  add("none.mlir",
      "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}");
  const json modules = run(1);
  ASSERT_EQ(modules.size(), 2U);
  for (const json& module : modules) EXPECT_EQ(module["verdict"], "refused");
  EXPECT_EQ(modules[1]["reason"], "no function has checks of StableHLO's dialect");
}

std::string parallel_module(const std::string& programs) {
  return R"(
module {
  func.func @f(%t: !stablehlo.token) -> (tensor<2xi32>, !stablehlo.token) {
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    %1:2 = "stablehlo.infeed"(%0#1) : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    %2 = stablehlo.subtract %1#0, %0#0 : tensor<2xi32>
    return %2, %1#1 : tensor<2xi32>, !stablehlo.token
  }
  func.func @first() -> tensor<2xi32> {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @second() -> tensor<2xi32> {
    %0 = stablehlo.constant dense<[5, 7]> : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @main() {
    %t = stablehlo.after_all : !stablehlo.token
    %0:2 = "interpreter.run_parallel"(%t) {
      infeed = [@first, @second], programs = )" +
         programs + R"(
    } : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
    check.expect_eq_const %0#0, dense<[4, 5]> : tensor<2xi32>
    func.return
  }
})";
}

TEST_F(ConformanceCommand, RunsWhatIsForOneDeviceWithItsInfeeds) {
  add("infeed.mlir", parallel_module("[[@f]]"));
  EXPECT_EQ(run(0)[0]["verdict"], "passed");
}

TEST_F(ConformanceCommand, RefusesWhatIsForSeveralDevices) {
  add("infeed.mlir", parallel_module("[[@f], [@f]]"));
  const json modules = run(1);
  EXPECT_EQ(modules[0]["verdict"], "refused");
  EXPECT_EQ(modules[0]["reason"], "programs run on one device, not on 2");
}

TEST_F(ConformanceCommand, CountsWhatNoTileComputedAsNotRun) {
  add("iota_.mlir", R"(
func.func @main() {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  check.expect_eq_const %0, dense<[0, 1, 2, 3]> : tensor<4xi32>
  func.return
})");
  EXPECT_EQ(run(1)[0]["verdict"], "not run");
}

TEST_F(ConformanceCommand, CountsWhatNoStepOfTheOpComputedAsNotRun) {
  // Tiles convert the arguments to numbers and back, but nothing for the op itself.
  add("barrier.mlir", R"(
func.func @main() {
  %0 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi4>
  %1 = stablehlo.optimization_barrier %0 : tensor<3xi4>
  check.expect_eq_const %1, dense<[1, -2, 3]> : tensor<3xi4>
  func.return
})");
  add("sub.mlir", R"(
func.func @main() {
  %0 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi32>
  %1 = stablehlo.subtract %0, %0 : tensor<3xi32>
  %2 = stablehlo.reshape %1 : (tensor<3xi32>) -> tensor<1x3xi32>
  check.expect_eq_const %2, dense<0> : tensor<1x3xi32>
  func.return
})");
  const json modules = run(1);
  EXPECT_EQ(modules[0]["verdict"], "not run");
  EXPECT_EQ(modules[0]["reason"], "tiles only moved elements for stablehlo.optimization_barrier");
  EXPECT_GT(modules[0]["worker_instructions"], 0);
  EXPECT_EQ(modules[1]["verdict"], "passed");
}

TEST_F(ConformanceCommand, HoldsEachModuleToWhatTheFileExpects) {
  const std::string record = (scratch_folder() / "record.txt").string();
  const std::string expect = "--expect " + record;
  add("add_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.0, 9.0"));
  add("log_float32_3.mlir", module_of("stablehlo.frobnicate %0#0", "0.0, 0.0, 0.0"));
  (void)run(0, expect + " --update");
  EXPECT_EQ(text_of(record),
            "# Modules that passed, by folder, and each other one: `superstep conformance "
            "--expect`\n"
            "modules: 1 passed\n"
            "modules/log_float32_3.mlir: refused, op stablehlo.frobnicate is not known\n");
  (void)run(0, expect);

  // One that passed is refused, one that was refused is wrong, one is new.
  add("add_float32_3.mlir", module_of("stablehlo.frobnicate %0#0", "0.0, 0.0, 0.0"));
  add("log_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.5, 9.0"));
  add("sub_float32_3.mlir", module_of("stablehlo.subtract %0#1, %0#0", "3.0, 3.0, 3.0"));
  const ProgramRun changed = superstep("conformance " + folder_.string() + " -q " + expect);
  EXPECT_EQ(changed.code, 1);
  EXPECT_EQ(changed.err,
            record +
                ": error: modules/add_float32_3.mlir: refused, op stablehlo.frobnicate is not "
                "known; the file has nothing of it\n" +
                record +
                ": error: modules/log_float32_3.mlir: wrong, line 7: 1 of 3 elements; element "
                "1 is 7, expected 7.5; expected: refused, op stablehlo.frobnicate is not known\n");

  // One that was refused passes, one that passed is gone.
  add("log_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.0, 9.0"));
  std::filesystem::remove(folder_ / "add_float32_3.mlir");
  const ProgramRun better = superstep("conformance " + folder_.string() + "/ -q " + expect);
  EXPECT_EQ(better.code, 1);
  EXPECT_EQ(better.err, record + ": error: modules: 2 passed; expected: 1 passed\n" + record +
                            ": error: modules/log_float32_3.mlir: passed; expected: refused, op "
                            "stablehlo.frobnicate is not known\n");
}

TEST_F(ConformanceCommand, RefusesAFileThatExpectsNothing) {
  add("add_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.0, 9.0"));
  const std::string words = "conformance " + folder_.string() + " -q ";
  EXPECT_EQ(superstep(words + "--update").code, 2);
  EXPECT_EQ(superstep(words + "--expect none.txt").code, 74);
  EXPECT_EQ(superstep(words + "--expect LICENSE").code, 5);
}

TEST_F(ConformanceCommand, ListsWhatIsDisabledApart) {
  add("add_float32_3.mlir", "// RUN-DISABLED(inaccurate) stablehlo-translate\n" +
                                module_of("stablehlo.add %0#0, %0#1", "5.0, 7.5, 9.0"));
  const json modules = run(0);
  EXPECT_EQ(modules[0]["verdict"], "wrong");
  EXPECT_EQ(modules[0]["disabled"], "inaccurate");
}

TEST_F(ConformanceCommand, ComparesByTheRuleOfEachCheck) {
  add("a.mlir",
      module_of("stablehlo.add %0#0, %0#1", "5.0005, 7.0, 9.0", "check.expect_almost_eq"));
  add("b.mlir",
      module_of("stablehlo.add %0#0, %0#1", "5.0015, 7.0, 9.0", "check.expect_almost_eq"));
  // One step of f32 is 4.8e-7 there.
  add("c.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0000014, 7.0, 9.0", "check.expect_close"));
  add("d.mlir", module_of("stablehlo.add %0#0, %0#1", "5.000002, 7.0, 9.0", "check.expect_close"));
  const json modules = run(1);
  const char* const verdicts[] = {"passed", "wrong", "passed", "wrong"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(modules[i]["verdict"], verdicts[i]) << i;
}

/// A loop without an end, nor a superstep in it.
constexpr const char* kEndless = R"(
func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.while(%a = %0) : tensor<i32> cond {
    %t = stablehlo.compare EQ, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    stablehlo.return %a : tensor<i32>
  }
  check.expect_eq_const %1, dense<2> : tensor<i32>
  func.return
})";

TEST_F(ConformanceCommand, CountsWhatDoesNotEndAsWrong) {
  add("add_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.0, 9.0"));
  add("endless.mlir", kEndless);
  const json modules = run(1, "--max-supersteps 1000");
  EXPECT_EQ(modules[0]["verdict"], "passed");
  EXPECT_EQ(modules[1]["verdict"], "wrong");
  const std::string reason = modules[1]["reason"];
  EXPECT_NE(reason.find("is not done after 1000"), std::string::npos) << reason;
}

TEST_F(ConformanceCommand, AnInterruptKeepsWhatIsDoneAndNamesWhatRan) {
  add("add_float32_3.mlir", module_of("stablehlo.add %0#0, %0#1", "5.0, 7.0, 9.0"));
  add("endless.mlir", kEndless);
  add("log_float32_3.mlir", module_of("stablehlo.frobnicate %0#0", "0.0, 0.0, 0.0"));
  const std::string record = (scratch_folder() / "record.txt").string();
  // The first module takes far less than two seconds of a processor.
  const ProgramRun run =
      superstep("conformance " + folder_.string() +
                " -q --json --threads 1 --max-supersteps 1000000000 --expect " + record +
                " --update & pid=$!; until [ $(awk '{ print $14 }' /proc/$pid/stat) -ge 200 ]; do "
                "sleep 0.1; done; kill -INT $pid; wait $pid");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_EQ(run.err,
            "error: interrupted: 1 of 3 modules are done; what ran: modules/endless.mlir\n");
  const json modules = json::parse(run.out)["modules"];
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0]["verdict"], "passed");
  EXPECT_FALSE(std::filesystem::exists(record));
}

TEST_F(ConformanceCommand, CountsEachFileOfAFolder) {
  add("cut_off.mlir", "module @jit_main {\n");
  add("empty.mlir", "");
  add("garbage.mlir", "hello");
  add("notes.txt", "not a module");
  add("only_comments.mlir", "// RUN: nothing\n\n// -----\n");
  std::filesystem::create_symlink("nowhere", folder_ / "link.mlir");
  ASSERT_EQ(std::system(("mkfifo " + (folder_ / "pipe.mlir").string()).c_str()), 0);
  std::filesystem::create_directory(folder_ / "folder.mlir");
  const std::pair<std::string, std::string> expected[] = {
      {"modules/cut_off.mlir", "the module is never closed by `}`"},
      {"modules/empty.mlir", "the file is empty"},
      {"modules/garbage.mlir", "expected a module or a function, found `hello`"},
      {"modules/link.mlir", "cannot be read: No such file or directory"},
      {"modules/only_comments.mlir", "the file has only comments"},
      {"modules/pipe.mlir", "is no regular file"},
  };
  const json modules = run(1);
  ASSERT_EQ(modules.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(modules[i]["name"], expected[i].first);
    EXPECT_EQ(modules[i]["verdict"], "malformed") << modules[i];
    EXPECT_EQ(modules[i]["reason"], expected[i].second);
  }
  std::filesystem::remove_all(folder_);
}

TEST_F(ConformanceCommand, OfANamedFileSaysWhatIsWrongWithIt) {
  add("empty.mlir", "");
  const std::string file = (folder_ / "empty.mlir").string();
  const ProgramRun run = superstep("conformance " + file + " -q");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.out.find("\nmalformed\n  " + file + ": the file is empty\n"), std::string::npos)
      << run.out;
  EXPECT_EQ(run.err, "error: 1 of 1 modules do not pass\n");
  EXPECT_EQ(superstep("conformance " + file + ".none -q").code, 74);
}

TEST_F(ConformanceCommand, ReadsEveryModuleOfAFileAndFilters) {
  add("two.mlir", R"(
func.func @first() {
  %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
  %1 = stablehlo.negate %0 : tensor<2xi32>
  check.expect_eq_const %1, dense<[-1, 2]> : tensor<2xi32>
  func.return
}
// -----
func.func @second() {
  %0 = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %1 = stablehlo.sqrt %0 : tensor<2xf32>
  %2 = interpreter.probe %1, probe_id = "p" : tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[1.0, 2.05]> : tensor<2xf32> {tolerance = 0.1 : f64}
  check.expect_serialized_eq %1, probe_id = "p" : tensor<2xf32>
  func.return
})");
  add("other.mlir", module_of("stablehlo.add %0#0, %0#1", "0.0, 0.0, 0.0"));
  const json modules = run(0, "--filter two.");
  ASSERT_EQ(modules.size(), 2U);
  EXPECT_EQ(modules[0]["function"], "first");
  EXPECT_EQ(modules[1]["function"], "second");
  for (const json& module : modules) EXPECT_EQ(module["verdict"], "passed") << module;
  EXPECT_EQ(superstep("conformance " + folder_.string() + " --filter three").code, 2);
}

}  // namespace
}  // namespace superstep
