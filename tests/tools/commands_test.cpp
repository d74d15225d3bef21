#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"
#include "tools/command.h"

namespace superstep {
namespace {

std::string affine(const std::string& more = "") { return std::string(kAffine) + " " + more; }

TEST(Commands, HelpLeadsWithWhatItDoesAndExamples) {
  for (const Command& command : all_commands()) {
    const ProgramRun run = superstep(std::string(command.name) + " --help");
    EXPECT_EQ(run.code, 0) << command.name;
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("usage: superstep " + std::string(command.name)), std::string::npos);
    EXPECT_LT(run.out.find("\nexamples\n"), run.out.find("\noptions\n"));
    EXPECT_EQ(superstep("help " + std::string(command.name)).out, run.out);
    EXPECT_NE(superstep("help").out.find(command.summary), std::string::npos);
  }
}

TEST(Commands, HelpAndVersionAreCommands) {
  const std::string overview = superstep("help").out;
  for (const char* words : {"--help", "-h", "help --help", "help help", "help version"}) {
    const ProgramRun run = superstep(words);
    EXPECT_EQ(run.code, 0) << words;
    EXPECT_EQ(run.out, overview) << words;
  }
  const ProgramRun version = superstep("version");
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, superstep("--version").out);
  EXPECT_TRUE(version.out.starts_with("superstep "));
}

TEST(Commands, AProgramMayComeFromStandardInput) {
  const std::string input = " -m tiny4 --input models/quickstart/affine_input.h5 --json";
  const auto json = [](const ProgramRun& run) { return nlohmann::json::parse(run.out); };
  const auto piped = json(superstep("run -" + input + " < models/quickstart/affine.mlir"));
  EXPECT_EQ(piped["cycles"],
            json(superstep("run models/quickstart/affine.mlir" + input))["cycles"]);
  const auto product = std::ranges::find_if(piped["operations"], [](const nlohmann::json& row) {
    return row["opcode"] == "stablehlo.dot_general";
  });
  ASSERT_NE(product, piped["operations"].end());
  EXPECT_EQ((*product)["source"], "stdin:6:10");
  const ProgramRun wrong = superstep("compile - < README.md");
  EXPECT_EQ(wrong.code, 5);
  EXPECT_TRUE(wrong.err.starts_with("stdin:1:")) << wrong.err;
}

TEST(Commands, WithoutWordsTheHelpGoesToStderr) {
  const ProgramRun run = superstep("");
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("usage: superstep COMMAND"), std::string::npos);
}

TEST(Commands, WrongWordsSuggestTheRightOnes) {
  const struct {
    const char* words;
    int code;
    const char* message;
  } kCases[] = {
      {"rnu x.mlir", 2, "unknown command 'rnu'; did you mean 'run'?"},
      {"run x.mlir --machin tiny4", 2, "unknown option '--machin'; did you mean '--machine'?"},
      {"run x.mlir -m tiny4 --repeat -4", 2, "--repeat takes a whole number"},
      {"run x.mlir --check-races often", 2, "--check-races takes always, first or never"},
      {"run-codelet x.toml --check-races often", 2, "--check-races takes always, first or never"},
      {"run x.mlir --trace everything", 2, "--trace takes summary, superstep, tile"},
      {"run", 2, "usage: superstep run PROGRAM [options]"},
      {"run a.mlir b.mlir", 2, "unexpected word 'b.mlir'"},
      {"config shwo bow", 2, "did you mean 'show'?"},
      {"trace fix run.h5", 2, "unknown verb 'fix'"},
      {"trace exprt run.h5", 2, "did you mean 'export'?"},
      {"trace export run.h5 -o run.csv", 2, "takes the format: --to FORMAT"},
      {"trace export run.h5 --to csv", 2, "takes the file to write: -o FILE"},
      {"trace ls run.h5 --window 0:1", 2, "--window is not for trace ls"},
      {"trace validate a.h5 b.h5", 2, "trace validate takes one trace"},
      {"config show bwo", 5, "did you mean 'bow'?"},
      {"config show bow --set tile.worker=8", 2, "did you mean 'tile.workers'?"},
      {"run none.mlir -m tiny4", 74, "none.mlir: error: cannot be read: No such file or directory"},
      {"run /dev/zero -m tiny4", 74, "/dev/zero: error: is no regular file"},
      {"asm none.S", 74, "none.S: error: cannot be read: No such file or directory"},
      {"run models/quickstart/affine.mlir -m tiny4", 5, "--input"},
      {"run models/quickstart/affine.mlir -m tiny4 -o none/run.h5", 74,
       "cannot be written into none: No such file or directory"},
      {"run models/digits_mlp/train_step.mlir -m small64 --input "
       "models/digits_mlp/train.h5",
       5, "give --repeat 44"},
      {"asm README.md", 5, "more"},
      {"trace repair none.h5", 74, "none.h5: error: cannot be read: No such file or directory"},
      {"trace repair ''", 74, "'': error: cannot be read: No such file or directory"},
      {"report ''", 74, "'': error: cannot be read: No such file or directory"},
      {"report none.h5", 74, "No such file or directory"},
      {"report README.md", 7, "is not an HDF5 file"},
      {"bench README.md", 5, "is no baseline file: JSON with \"schema\": \"superstep-baseline/1\""},
  };
  for (const auto& c : kCases) {
    const ProgramRun run = superstep(c.words);
    EXPECT_EQ(run.code, c.code) << c.words;
    EXPECT_EQ(run.out, "") << c.words;
    EXPECT_NE(run.err.find(c.message), std::string::npos) << c.words << "\n" << run.err;
    EXPECT_NE(run.err.find("error: "), std::string::npos) << run.err;
  }
}

TEST(Commands, RunReportsOnStdoutAndNothingElse) {
  const ProgramRun run = superstep(affine());
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  for (const char* part : {"Total", "Host", "Device", "Compute", "Exchange", "Sync", "Memory",
                           "result0  tensor<4xf32>  [6.5, 12.25, 17.75, 23.5]"})
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  EXPECT_EQ(run.out.find('\033'), std::string::npos);
}

TEST(Commands, ReportOfATraceSaysWhatTheRunSaid) {
  const std::string trace = (scratch_folder() / "run.h5").string();
  const ProgramRun text = superstep(affine("-o " + trace));
  const ProgramRun report = superstep("report " + trace);
  EXPECT_EQ(report.code, 0);
  EXPECT_TRUE(text.out.starts_with(report.out));
}

TEST(Commands, ATrapIsSaidOnceByARunAndByTheReportOfItsTrace) {
  const std::string trace = scratch_folder() / "run.h5";
  const ProgramRun run = superstep(
      "run models/quickstart/affine.mlir -m tiny4 --input random:1 -q --max-supersteps 1 -o " +
      trace);
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("limit trap at cycle"), std::string::npos) << run.err;
  EXPECT_EQ(run.out.find("limit trap"), std::string::npos) << run.out;
  const ProgramRun report = superstep("report " + trace);
  EXPECT_NE(report.out.find("limit trap at cycle"), std::string::npos) << report.out;
  EXPECT_EQ(report.err, "");
}

TEST(Commands, ResultsAreComparedWithExpectedOnes) {
  EXPECT_EQ(superstep(affine("--expect models/quickstart/affine_expected.h5")).code, 0);
  const ProgramRun wrong = superstep(affine("--expect models/quickstart/affine_input.h5"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("nothing to compare"), std::string::npos) << wrong.err;
}

TEST(Commands, TheLossCurveStandsBesideTheExpectedOne) {
  const ProgramRun run = superstep(
      "run models/linear_regression/train_step.mlir -m tiny4 --input "
      "models/linear_regression/train.h5 --repeat 1000 --expect "
      "models/linear_regression/expected.h5 --rtol 1e-4 --atol 2e-5");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("relative error"), std::string::npos);
  EXPECT_NE(run.out.find("largest relative error of all 1000 calls"), std::string::npos);
  EXPECT_LT(std::count(run.out.begin(), run.out.end(), '\n'), 60);
}

TEST(Commands, WhatDoesNotFitStillShowsItsMemory) {
  const auto program = scratch_folder() / "big.mlir";
  std::ofstream(program)
      << "module @big {\n  func.func public @main(%x: tensor<2000x1000xf32>) -> "
         "tensor<2000x1000xf32> {\n    %y = stablehlo.add %x, %x : "
         "tensor<2000x1000xf32>\n    return %y : tensor<2000x1000xf32>\n  }\n}\n";
  const ProgramRun run = superstep("run " + program.string() + " -m tiny4 --input random:1");
  EXPECT_EQ(run.code, 4);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("tile 0 holds:"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("variables"), std::string::npos) << run.err;
}

TEST(Commands, TheGraphOfAProgramThatDoesNotFitIsDrawn) {
  const std::string words = "compile models/mnist_mlp/train_step.mlir -m tiny4 --emit=graph";
  const ProgramRun run = superstep(words);
  EXPECT_EQ(run.code, 4);
  EXPECT_TRUE(run.out.starts_with("digraph G {\n")) << run.out;
  EXPECT_NE(run.err.find("does not fit"), std::string::npos) << run.err;
  EXPECT_EQ(nlohmann::json::parse(superstep(words + " --json").out)["graphviz"], run.out);
}

TEST(Commands, UnsupportedOpsAreRefusedWithTheirPlaces) {
  const auto program = scratch_folder() / "quantize.mlir";
  std::ofstream(program) << "module @f {\n  func.func public @main(%x: tensor<4x4xf32>) -> "
                            "tensor<4x4xf32> {\n    %y = stablehlo.uniform_quantize %x : "
                            "tensor<4x4xf32>\n    return %y : tensor<4x4xf32>\n  }\n}\n";
  const ProgramRun run = superstep("compile " + program.string() + " -m tiny4");
  EXPECT_EQ(run.code, 6) << run.err;
  EXPECT_NE(run.err.find("quantize.mlir:3:"), std::string::npos) << run.err;
}

TEST(Commands, AnInterruptedRunLeavesItsTrace) {
  for (const std::string signal : {"INT", "TERM"}) {
    const std::string trace = (scratch_folder() / (signal + ".h5")).string();
    const ProgramRun run = superstep(
        "run models/quickstart/square_plus_one.mlir -m tiny4 --input random:1 --repeat 1000000 "
        "-o " +
        trace + " & pid=$!; until [ -s " + trace + ".part ]; do :; done; kill -" + signal +
        " $pid; wait $pid");
    EXPECT_EQ(run.code, 130) << run.err;
    EXPECT_NE(superstep("trace info " + trace).out.find("outcome interrupted"), std::string::npos);
  }
}

/// A loop without an end, whose body is one line.
std::string endless(const std::string& body) {
  const std::string program = (scratch_folder() / "endless.mlir").string();
  std::ofstream(program) << "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n"
                            "  %n = stablehlo.constant dense<0.0> : tensor<f32>\n"
                            "  %0 = stablehlo.while(%y = %x) : tensor<64xf32> cond {\n"
                            "    %t = stablehlo.constant dense<true> : tensor<i1>\n"
                            "    stablehlo.return %t : tensor<i1>\n  } do {\n"
                         << body
                         << "    stablehlo.return %z : tensor<64xf32>\n  }\n"
                            "  return %0 : tensor<64xf32>\n}\n";
  return program;
}

TEST(Commands, AnEndlessLoopEndsAtItsLimitAndSaysWhere) {
  const std::string program = endless(
      "    %s = stablehlo.reduce(%y init: %n) applies stablehlo.maximum across dimensions = [0] : "
      "(tensor<64xf32>, tensor<f32>) -> tensor<f32>\n"
      "    %z = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>\n");
  const ProgramRun run =
      superstep("run " + program + " -m tiny4 --input random:1 -q --max-supersteps 100");
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_NE(run.err.find(" superstep 100, "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("is not done after 100 supersteps, behind "), std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("endless.mlir:7:"), std::string::npos) << run.err;
  for (const std::string once : {"cycle ", "superstep "}) {
    EXPECT_EQ(run.err.find(once), run.err.rfind(once)) << run.err;
  }
}

TEST(Commands, AProgramOfAsManySuperstepsAsItMayTakeEndsWell) {
  for (const std::string machine : {"tiny4", "bow"}) {
    const std::string run =
        "run models/quickstart/square_plus_one.mlir --input random:1 -q -m " + machine;
    const auto supersteps = [&](const ProgramRun& done) {
      return nlohmann::json::parse(done.out)["supersteps"].get<std::uint64_t>();
    };
    const std::uint64_t all = supersteps(superstep(run + " --json"));
    const auto limited = [&](std::uint64_t most) {
      return superstep(run + " --json --max-supersteps " + std::to_string(most));
    };
    EXPECT_EQ(limited(all).code, 0) << machine;
    EXPECT_EQ(supersteps(limited(all)), all) << machine;
    EXPECT_EQ(limited(all - 1).code, 1) << machine;
  }
}

// There is no barrier in it at which a run could end.
TEST(Commands, AnEndlessLoopOfOneTileCanBeInterrupted) {
  const std::string program = endless("    %z = stablehlo.negate %y : tensor<64xf32>\n");
  const std::string trace = (scratch_folder() / "endless.h5").string();
  const ProgramRun run = superstep("run " + program + " -m tiny4 --input random:1 -q -o " + trace +
                                   " & pid=$!; until [ -s " + trace +
                                   ".part ]; do :; done; kill -INT $pid; wait $pid");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_NE(run.err.find("error: interrupted "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("superstep "), std::string::npos) << run.err;
}

TEST(Commands, AKilledRunIsRepaired) {
  const std::string trace = (scratch_folder() / "run.h5").string();
  std::filesystem::remove(trace);
  // Readers may follow the run: it is killed once ten supersteps can be read.
  superstep(
      "run models/quickstart/square_plus_one.mlir -m tiny4 --input random:1 --repeat "
      "1000000 -q --trace summary -o " +
      trace + " & pid=$!; until " SUPERSTEP_BINARY " trace info " + trace +
      ".part 2>/dev/null | grep -q 'supersteps [1-9][0-9]'; do kill -0 $pid || break; done; "
      "kill -KILL $pid; "
      "wait $pid");
  EXPECT_FALSE(std::filesystem::exists(trace));
  const ProgramRun report = superstep("report " + trace + ".part");
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_NE(report.out.find("the run did not end"), std::string::npos);
  const std::filesystem::path at = trace;
  const std::string repair = "cd " + at.parent_path().string() +
                             " && " SUPERSTEP_BINARY " trace repair " + at.filename().string() +
                             ".part";
  const std::string kept = (scratch_folder() / "kept.part").string();
  std::filesystem::copy_file(trace + ".part", kept);
  EXPECT_EQ(std::system(repair.c_str()), 0);
  EXPECT_FALSE(std::filesystem::exists(trace + ".part"));
  EXPECT_EQ(superstep("watch --wait 0 " + trace).code, 130);
  EXPECT_NE(superstep("trace info " + trace).out.find("outcome interrupted"), std::string::npos);
  // What is there is replaced where it is named alone.
  std::filesystem::copy_file(kept, trace + ".part");
  const ProgramRun refused = superstep("trace repair " + trace + ".part");
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find(trace + ": error: is there already: name the file to write"),
            std::string::npos)
      << refused.err;
  const std::string other = (scratch_folder() / "other.h5").string();
  EXPECT_EQ(superstep("trace repair " + trace + ".part " + other).code, 0);
  EXPECT_TRUE(std::filesystem::exists(trace + ".part"));
  EXPECT_EQ(superstep("trace repair " + trace + ".part " + trace).code, 0);
  EXPECT_FALSE(std::filesystem::exists(trace + ".part"));
  EXPECT_NE(superstep("report " + trace).out.find("the run did not end"), std::string::npos);
}

TEST(Commands, AReaderThatGoesAwayIsNoError) {
  const ProgramRun run = superstep("config keys | head -n 1");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  const ProgramRun full = superstep("config keys > /dev/full");
  EXPECT_EQ(full.code, 74);
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
}

TEST(Commands, AssemblyComesBackFromItsWords) {
  const auto source = scratch_folder() / "code.S";
  std::ofstream(source) << "add $m0, $m1, $m2\nexitz $m15\n";
  const auto words = scratch_folder() / "code.bin";
  EXPECT_EQ(superstep("asm " + source.string() + " --output " + words.string()).code, 0);
  const ProgramRun run = superstep("disasm " + words.string());
  EXPECT_NE(run.out.find("add $m0, $m1, $m2"), std::string::npos) << run.out;
}

TEST(Commands, AsmGivesTheSourceToThePreprocessorAndWritesAnObject) {
  const auto folder = scratch_folder() / "asm";
  std::filesystem::create_directories(folder / "headers");
  std::ofstream(folder / "headers/value.h") << "#define VALUE NUMBER\n";
  const auto source = folder / "code.S";
  std::ofstream(source) << "#include \"value.h\"\n#include \"poplar/TileConstants.hpp\"\n"
                           "#if __IPU_ARCH_VERSION__ == 2\n"
                           "main: setzi $m0, VALUE + CTXT_WORKERS\n#endif\n call $lr, other\n";
  const std::string words =
      "asm " + source.string() + " -I " + (folder / "headers").string() + " -D NUMBER=4";
  const ProgramRun listed = superstep(words);
  EXPECT_NE(listed.out.find("main:\n     0  1900000a  setzi $m0, 10\n"), std::string::npos)
      << listed.out << listed.err;
  EXPECT_NE(superstep(words + " -m tiny4 --set tile.workers=3").out.find("setzi $m0, 7\n"),
            std::string::npos);
  EXPECT_NE(listed.out.find("R_COLOSSUS_19_S2 other + 0x0"), std::string::npos) << listed.out;
  EXPECT_EQ(superstep(words + " -o " + (folder / "code.o").string()).code, 0);
  EXPECT_EQ(text_of(folder / "code.o").substr(1, 3), "ELF");
  std::ofstream(folder / "bad.S") << "#include \"nowhere.h\"\n";
  const ProgramRun bad = superstep("asm " + (folder / "bad.S").string());
  EXPECT_EQ(bad.code, 5);
  EXPECT_NE(bad.err.find("bad.S:1:10"), std::string::npos) << bad.err;
}

TEST(Commands, BenchFailsOnOneCycleAndUpdatesOnDemand) {
  const auto file = scratch_folder() / "cycles.json";
  std::ofstream(file) << R"({"schema": "superstep-baseline/1", "benchmarks": {
"square": {"program": "models/quickstart/square_plus_one.mlir", "machine": "tiny4", "calls": 1}}})";
  const std::string words = "bench " + file.string();
  EXPECT_EQ(superstep(words).code, 3);
  EXPECT_EQ(superstep(words + " --update").code, 0);
  EXPECT_EQ(superstep(words).code, 0);
  auto document = nlohmann::ordered_json::parse(text_of(file));
  auto& counts = document["benchmarks"]["square"]["counts"];
  counts["device_cycles"] = counts["device_cycles"].get<int>() - 1;
  counts["compute_cycles"] = counts["compute_cycles"].get<int>() - 1;
  std::ofstream(file) << document.dump();
  const ProgramRun run = superstep(words);
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.out.find("SLOWER  compute_cycles +1"), std::string::npos) << run.out;
}

TEST(Commands, BenchRefusesFieldsThatItDoesNotKnow) {
  const auto file = scratch_folder() / "unknown.json";
  const auto error_of = [&](const std::string& file_fields, const std::string& fields) {
    std::ofstream(file) << R"({"schema": "superstep-baseline/1")" << file_fields
                        << R"(, "benchmarks": {"square": {"program": )"
                        << R"("models/quickstart/square_plus_one.mlir", "machine": "tiny4", )"
                        << R"("calls": 1)" << fields << "}}}";
    const ProgramRun run = superstep("bench " + file.string());
    EXPECT_EQ(run.code, 5) << run.err;
    return run.err;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, error_of("", R"(, "inptu": "a.h5")"),
               "benchmark 'square' has an unknown field 'inptu'; did you mean 'input'?");
  EXPECT_PRED2(has, error_of("", R"(, "set": ["tile.workers=8"])"),
               "unknown field 'set'; it has program, machine, calls, input, counts");
  EXPECT_PRED2(has, error_of("", R"(, "counts": {"sync_cycle": 1})"),
               "counts of benchmark 'square' has an unknown field 'sync_cycle'; did you mean "
               "'sync_cycles'?");
  EXPECT_PRED2(has, error_of("", R"(, "counts": 3)"), "counts of benchmark 'square' are no object");
  EXPECT_PRED2(has, error_of(R"(, "bench": {})", ""), "the file has an unknown field 'bench'");
}

TEST(Commands, ConfigPrintsAMachineThatReadsBackWithTheSourceOfEachNumber) {
  const auto file = scratch_folder() / "mine.toml";
  const ProgramRun show = superstep("config show bow --set tile.workers=8");
  EXPECT_NE(show.out.find("\nname = 'bow with tile.workers=8'\n"), std::string::npos) << show.out;
  EXPECT_NE(show.out.find("\nworkers = { value = 8, source = 'user: --set tile.workers=8' }\n"),
            std::string::npos);
  EXPECT_NE(show.out.find("source = 'published: Bow data sheet' }"), std::string::npos);
  std::ofstream(file) << show.out;
  EXPECT_EQ(superstep("config check " + file.string()).code, 0);
  EXPECT_EQ(superstep("config show " + file.string()).out, show.out);
}

TEST(Commands, ConfigCheckTellsOfEveryFile) {
  const auto folder = scratch_folder();
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return " " + (folder / name).string();
  };
  const std::string good = write("good.toml", "extends = \"builtin:bow\"\n");
  const std::string empty = write("empty.toml", "");
  const std::string deep = write("deep.toml", std::string(400'000, '['));
  const ProgramRun run = superstep("config check" + empty + good + deep);
  EXPECT_EQ(run.code, 5);
  EXPECT_NE(run.out.find("good.toml: ok"), std::string::npos);
  EXPECT_NE(run.err.find("empty.toml: error: this machine neither extends"), std::string::npos);
  EXPECT_NE(run.err.find("deep.toml:1:"), std::string::npos) << run.err.substr(0, 500);
}

TEST(Commands, AChangedMachineIsNotCalledByTheBuiltinsName) {
  const std::string run =
      "run models/quickstart/square_plus_one.mlir -m tiny4 --set tile.workers=8 --input "
      "models/quickstart/square_plus_one_input.h5";
  EXPECT_NE(superstep(run).out.find("tiny4 with tile.workers=8"), std::string::npos);
  EXPECT_NE(superstep(run + " --json").out.find("\"tiny4 with tile.workers=8\""),
            std::string::npos);
}

}  // namespace
}  // namespace superstep
