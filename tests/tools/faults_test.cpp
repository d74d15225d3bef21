// What the system does to a run: full disks, closed streams, limits, other processes.

#include <algorithm>

#include "base/hdf5.h"
#include "tests/tools/feed_programs.h"
#include "base/output_file.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

constexpr const char* kAffineQuietly =
    "run models/quickstart/affine.mlir -m tiny4 --input models/quickstart/affine_input.h5 -q ";

#ifdef SUPERSTEP_SANITIZED
constexpr bool kHasSanitizer = true;  // which takes memory and files of its own
#else
constexpr bool kHasSanitizer = false;
#endif

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = scratch_folder() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

TEST(Faults, AFileThatCannotGrowAtAnySizeCostsNoEarlierResultAndNoFinishedSuperstep) {
  const auto folder = fresh_folder("full");
  const std::string words =
      "run models/linear_regression/train_step.mlir -m tiny4 --input random:1 --repeat 40 -q "
      "--trace tile -o " +
      (folder / "run.h5").string() + " --output " + (folder / "results.h5").string();
  EXPECT_EQ(superstep(words).code, 0);
  const std::uint64_t whole = std::filesystem::file_size(folder / "run.h5");
  int refused = 0, with_supersteps = 0;
  // Messages need some bytes too.
  for (std::uint64_t bytes = 1000; bytes < whole + 20'000; bytes += 2'111) {
    SCOPED_TRACE(bytes);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    write(folder / "run.h5", "earlier trace");
    write(folder / "results.h5", "earlier results");
    const ProgramRun run = superstep(words, "prlimit --fsize=" + std::to_string(bytes));
    auto files = files_in(folder);
    if (run.code == 0) {
      EXPECT_EQ(files, (std::vector<std::string>{"results.h5", "run.h5"}));
      continue;
    }
    ++refused;
    EXPECT_EQ(run.code, 74) << run.err;
    EXPECT_NE(run.err.find("File too large"), std::string::npos) << run.err;
    EXPECT_EQ(text_of(folder / "run.h5"), "earlier trace");
    const bool has_part = std::erase(files, "run.h5.part") == 1;
    EXPECT_EQ(files, (std::vector<std::string>{"results.h5", "run.h5"}));
    if (!has_part) continue;
    const std::string part = (folder / "run.h5.part").string();
    const ProgramRun left = superstep("report " + part);
    EXPECT_EQ(left.code, 0) << left.err;
    EXPECT_EQ(superstep("trace repair " + part + " " + (folder / "mended.h5").string()).code, 0);
    if (left.out.find("Critical ") != std::string::npos) ++with_supersteps;
    // The run's own report is there as well, as far as the limit lets it be written.
    if (run.out.size() > 400) {
      EXPECT_NE(run.out.find("Total"), std::string::npos);
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(with_supersteps, 5);
}

TEST(Faults, ACheckpointThatCannotBeWrittenEndsNoRunAndBlamesNoTrace) {
  const auto folder = fresh_folder("checkpoint");
  const std::string words = kAffineQuietly +
                            ("--save-checkpoint " + (folder / "saved.h5").string()) +
                            " --at-superstep 2 --output " + (folder / "results.h5").string();
  ASSERT_EQ(superstep(words).code, 0);
  const std::uint64_t whole = std::filesystem::file_size(folder / "saved.h5");
  const std::uint64_t results = std::filesystem::file_size(folder / "results.h5");
  ASSERT_GT(whole, 2 * results);
  fresh_folder("checkpoint");
  const ProgramRun run = superstep(words, "prlimit --fsize=" + std::to_string(whole / 2));
  EXPECT_EQ(run.code, 74);
  EXPECT_NE(run.err.find("File too large"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("saved.h5: error: "), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(".part"), std::string::npos) << run.err;
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"results.h5"}));
}

TEST(Faults, ATraceThatCannotBeWrittenCostsNoOutfeed) {
  const auto folder = fresh_folder("outfeed");
  write(folder / "gives.mlir", kGivingProgram);
  const std::string words = "run " + (folder / "gives.mlir").string() +
                            " -m tiny4 --input random:1 --repeat 1000 -q --trace tile -o " +
                            (folder / "run.h5").string() + " --outfeed " +
                            (folder / "given.h5").string();
  ASSERT_EQ(superstep(words).code, 0);
  // While the run goes on, a trace takes more than when it is done.
  const std::uint64_t whole = std::filesystem::file_size(folder / "run.h5");
  std::filesystem::remove(folder / "run.h5");
  std::filesystem::remove(folder / "given.h5");
  const ProgramRun run = superstep(words, "prlimit --fsize=" + std::to_string(whole));
  EXPECT_EQ(run.code, 74);
  EXPECT_NE(run.err.find("File too large"), std::string::npos) << run.err;
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"given.h5", "gives.mlir", "run.h5.part"}));
  const auto given = read_tensors(folder / "given.h5", "outfeed");
  EXPECT_GT(given.at("outfeed0").type.shape[0], 0);
  EXPECT_LT(given.at("outfeed0").type.shape[0], 1000);
}

TEST(Faults, ClosedStreamsAreNotTakenForFilesAndEndWithTheSystemsWords) {
  const auto folder = fresh_folder("closed");
  const std::string trace = (folder / "run.h5").string();
  const ProgramRun out = superstep(kAffineQuietly + ("-o " + trace + " >&-"));
  EXPECT_EQ(out.code, 74);
  EXPECT_NE(out.err.find("standard output: error: cannot be written: Bad file descriptor"),
            std::string::npos)
      << out.err;
  EXPECT_EQ(superstep("report " + trace).code, 0);
  EXPECT_EQ(superstep(kAffineQuietly + std::string("2>&-")).code, 0);
  EXPECT_EQ(superstep("run none.mlir 2>&-").code, 74);
  EXPECT_EQ(superstep("run none.mlir 2>/dev/full >&-").code, 74);
}

TEST(Faults, OutputsThatAreNoFilesOrOtherFilesOfTheCommandAreRefusedBeforeTheRun) {
  const auto folder = fresh_folder("outputs");
  const std::string at = folder.string() + "/";
  std::filesystem::copy_file(SUPERSTEP_SOURCE_DIR "/models/quickstart/affine.mlir", at + "p.mlir");
  std::filesystem::create_symlink("p.mlir", at + "link");
  std::filesystem::create_hard_link(at + "p.mlir", at + "hard");
  std::filesystem::create_symlink("target.h5", at + "to_target");
  superstep("version; mkfifo " + at + "fifo");
  write(at + "base.toml", "schema = 1\nextends = \"builtin:tiny4\"\n");
  write(at + "child.toml", "schema = 1\nextends = \"base.toml\"\n");
  write(at + "a.S", "#include \"h.inc\"\n");
  write(at + "h.inc", "/* nothing */\n");
  const std::string run = "run " + at + "p.mlir --input random:1 -q ";
  const struct {
    std::string words;
    int code;
    const char* message;
  } kCases[] = {
      {run + "-o " + at + "p.mlir", 2, "would replace the program"},
      {run + "-o " + at + "link", 2, "would replace the program"},
      {run + "--output " + at + "hard", 2, "would replace the program"},
      {run + "-o " + at + "x.h5 --output " + at + "../outputs/x.h5", 2, "would replace the trace"},
      {run + "-o " + at + "x.h5 --output " + at + "x.h5.part", 2, "the unfinished file of"},
      {run + "-o " + at + "fifo", 74, "is a FIFO"},
      {run + "-o /dev/null", 74, "is a device"},
      {run + "--output " + at, 74, "needs the name of a file"},
      {run + "--output " + folder.string(), 74, "is a folder"},
      {run + "-o ''", 74, "needs the name of a file"},
      {"asm " + at + "p.mlir -o " + at + "p.mlir", 2, "would replace the source"},
      {"run-codelet models/codelets/scale.toml --trace models/codelets/scale.S", 2,
       "would replace a source"},
      {"trace repair " + at + "p.mlir " + at + "p.mlir", 2, "would replace the trace to repair"},
      {"trace export " + at + "p.mlir --to csv -o " + at + "p.mlir", 2, "would replace the trace"},
      {run + "--input " + at + "x.h5.lock -o " + at + "x.h5", 2, "the lock of the trace (-o)"},
      {run + "-m " + at + "child.toml --output " + at + "base.toml", 2,
       "would replace the machine"},
      {"asm " + at + "a.S -o " + at + "h.inc", 2, "would replace a header of the source"},
      {run + "-o " + at + std::string(246, 'n'), 74, "File name too long"},
      {run + "--output " + at + std::string(246, 'n'), 74, "File name too long"},
  };
  const std::string program = text_of(at + "p.mlir");
  for (const auto& c : kCases) {
    const ProgramRun refused = superstep(c.words);
    EXPECT_EQ(refused.code, c.code) << c.words << "\n" << refused.err;
    EXPECT_NE(refused.err.find(c.message), std::string::npos) << c.words << "\n" << refused.err;
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(text_of(at + "p.mlir"), program);
  }
  EXPECT_TRUE(std::filesystem::is_fifo(at + "fifo"));
  EXPECT_EQ(superstep(run + "-m tiny4 -o " + at + "to_target").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(at + "to_target"));
  EXPECT_EQ(superstep("report " + at + "target.h5").code, 0);
}

TEST(Faults, FilesOfARunThatLastsAreNoPlaceForOutputs) {
  const auto folder = fresh_folder("lasts");
  const std::string at = folder.string() + "/";
  ASSERT_EQ(superstep(kAffineQuietly + ("-o " + at + "other.h5")).code, 0);
  write(folder / "run.h5.part", "of a run");
  write(folder / "run.h5", "of the run before");
  {
    const FileLock lock(folder / "run.h5");
    for (const char* beside : {"run.h5.part", "run.h5.lock", "run.h5"}) {
      const std::string before = text_of(at + beside);
      for (const std::string& words :
           {"html " + at + "other.h5 -o ", "trace export " + at + "other.h5 --to folded -o ",
            "watch " + at + "run.h5 -o ", std::string(kAffineQuietly) + "--output "}) {
        const ProgramRun refused = superstep(words + at + beside);
        EXPECT_EQ(refused.code, 2) << refused.err;
        EXPECT_NE(refused.err.find("would replace a file of a run that lasts"), std::string::npos)
            << refused.err;
        EXPECT_EQ(text_of(at + beside), before);
      }
    }
  }
  EXPECT_EQ(superstep("html " + at + "other.h5 -o " + at + "run.h5.part").code, 0);
}

TEST(Faults, ACircleOfLinksIsNeitherReadNorWritten) {
  const auto folder = fresh_folder("circle");
  const std::string at = folder.string() + "/";
  std::filesystem::create_symlink("there.h5", folder / "here.h5");
  std::filesystem::create_symlink("here.h5", folder / "there.h5");
  for (const std::string& words : {"report " + at + "here.h5", "trace validate " + at + "here.h5",
                                   "html " + at + "here.h5 -o " + at + "page.html",
                                   std::string(kAffineQuietly) + "-o " + at + "here.h5"}) {
    const ProgramRun refused = superstep(words);
    EXPECT_EQ(refused.code, 74) << words;
    EXPECT_NE(refused.err.find("cannot be followed: Too many levels of symbolic links"),
              std::string::npos)
        << refused.err;
  }
}

TEST(Faults, WhatStandsInThePlaceOfAnUnfinishedTraceOrOfItsLockStays) {
  const auto folder = fresh_folder("beside");
  const std::string trace = (folder / "run.h5").string();
  const std::string run = kAffineQuietly + ("-o " + trace);
  write(folder / "run.h5.part", "of an earlier run");
  // The trace cannot be begun.
  EXPECT_EQ(superstep(run, "prlimit --fsize=5000").code, 74);
  EXPECT_EQ(text_of(folder / "run.h5.part"), "of an earlier run");
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"run.h5.part"});
  std::filesystem::rename(folder / "run.h5.part", folder / "other");
  std::filesystem::create_symlink("other", folder / "run.h5.part");
  EXPECT_EQ(superstep(run).code, 74);
  EXPECT_EQ(text_of(folder / "other"), "of an earlier run");
  std::filesystem::remove(folder / "run.h5.part");
  std::filesystem::create_directory(folder / "run.h5.part");
  EXPECT_EQ(superstep(run).code, 74);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "run.h5.part"));
  std::filesystem::remove(folder / "run.h5.part");
  write(folder / "run.h5.lock", "no lock");
  const ProgramRun locked = superstep(run);
  EXPECT_EQ(locked.code, 74);
  EXPECT_NE(locked.err.find("is where the lock of an output goes"), std::string::npos)
      << locked.err;
  EXPECT_EQ(text_of(folder / "run.h5.lock"), "no lock");
  std::filesystem::remove(folder / "run.h5.lock");
  std::filesystem::create_symlink("other", folder / "run.h5.lock");
  EXPECT_EQ(superstep(run).code, 74);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "run.h5.lock"));
  std::filesystem::remove(folder / "run.h5.lock");
  EXPECT_EQ(superstep(run).code, 0);
  EXPECT_EQ(files_in(folder), (std::vector<std::string>{"other", "run.h5"}));
}

TEST(Faults, AHostWithoutRoomForThePreprocessorIsNotBlamedOnTheSource) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer needs files";
  const ProgramRun run = superstep("asm models/codelets/scale.S", "prlimit --nofile=5");
  EXPECT_EQ(run.code, 71) << run.err;
  EXPECT_NE(run.err.find("Too many open files"), std::string::npos) << run.err;
}

TEST(Faults, ASecondWriterOfATraceIsRefusedAndTheFirstGoesOn) {
  const std::string trace = (fresh_folder("twice") / "run.h5").string();
  const std::string first =
      "run models/quickstart/square_plus_one.mlir -m tiny4 --input random:1 --repeat 1000000 -q "
      "-o " +
      trace + " & pid=$!; until [ -s " + trace + ".part ]; do kill -0 $pid || break; done; ";
  const ProgramRun run = superstep(first + SUPERSTEP_BINARY + " " + kAffineQuietly + "-o " + trace +
                                   "; echo second $?; " + SUPERSTEP_BINARY + " trace repair " +
                                   trace + ".part; echo repair $?; kill -INT $pid; wait $pid");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_NE(run.out.find("second 74"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("repair 74"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("another process is writing this file"), std::string::npos) << run.err;
  EXPECT_NE(superstep("trace info " + trace).out.find("outcome interrupted"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(trace + ".lock"));
}

// Whenever the signal comes: what was there is whole, and what is left can be read.
TEST(Faults, ARunThatIsEndedAtAnyMomentCostsNoEarlierResult) {
  const auto folder = fresh_folder("ended");
  const std::string at = folder.string() + "/";
  const std::string run =
      "run models/linear_regression/train_step.mlir -m tiny4 --input random:1 -q --trace tile "
      "--repeat 3000 -o " +
      at + "run.h5 --output " + at + "results.h5 & pid=$!; ";
  const std::string until = " || ! kill -0 $pid 2>/dev/null; do :; done; ";
  const std::string moments[] = {
      "", "until [ -e " + at + "run.h5.lock ]" + until,
      "until [ -e " + at + "run.h5.part ]" + until,
      "until [ $(stat -c %s " + at + "run.h5.part 2>/dev/null || echo 0) -gt 150000 ]" + until,
      "until ls " + at + "*.new >/dev/null 2>&1" + until};
  for (const std::string signal : {"KILL", "INT", "TERM", "INT $pid; kill -INT"}) {
    for (const std::string& moment : moments) {
      SCOPED_TRACE(signal + " " + moment);
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
      ASSERT_EQ(superstep("run models/quickstart/affine.mlir -m tiny4 --input random:1 -q -o " +
                          at + "run.h5 --output " + at + "results.h5")
                    .code,
                0);
      const ProgramRun ended =
          superstep(run + moment + "kill -" + signal + " $pid 2>/dev/null; wait $pid");
      for (const char* file : {"run.h5", "run.h5.part"}) {
        if (!std::filesystem::exists(at + file)) continue;
        EXPECT_EQ(superstep("report " + at + file).code, 0) << file;
      }
      EXPECT_TRUE(std::filesystem::exists(at + "run.h5"));
      if (signal == "KILL") continue;
      // At the very start the signals are not taken yet.
      EXPECT_TRUE(ended.code == 130 || ended.code == 0 || ended.code > 128) << ended.code;
      for (const std::string& file : files_in(folder)) {
        EXPECT_FALSE(file.ends_with(".new") || file.ends_with(".lock")) << file;
      }
    }
  }
}

TEST(Faults, WhatTheHostLacksIsNamed) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer needs memory";
  const ProgramRun tiles = superstep(
      "run models/digits_mlp/train_step.mlir -m bow --input random:1", "prlimit --as=700000000");
  EXPECT_EQ(tiles.code, 71) << tiles.err;
  EXPECT_NE(tiles.err.find("MiB for the memory of the tiles"), std::string::npos) << tiles.err;
  const ProgramRun calls =
      superstep(kAffineQuietly + std::string("--repeat 1000000000"), "prlimit --as=4000000000");
  EXPECT_EQ(calls.code, 71) << calls.err;
  EXPECT_NE(calls.err.find("the results of 1,000,000,000 calls take"), std::string::npos)
      << calls.err;
}

TEST(Faults, AnInterruptedCompilationNamesItsStageAndLeavesNothing) {
  const auto folder = fresh_folder("interrupted");
  // It waits for its program until the pipe, which the shell holds open, is closed. The shell's own
  // process has the pipe open too, until it executes the program.
  const std::string pipe = (folder / "pipe").string();
  const ProgramRun run = superstep(
      "version; mkfifo " + pipe + "; exec 9<>" + pipe + "; " SUPERSTEP_BINARY " compile " + pipe +
      " -m tiny4 -q --json 9>&- & pid=$!; until [ /proc/$pid/exe -ef " SUPERSTEP_BINARY
      " ] && ls -l /proc/$pid/fd | grep -q /pipe; do kill -0 $pid || break; done; "
      "kill -TERM $pid; wait $pid");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_NE(run.err.find("error: interrupted: read"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("\"exit_name\": \"interrupted\""), std::string::npos) << run.out;
  EXPECT_EQ(files_in(folder), std::vector<std::string>{"pipe"});
}

TEST(Faults, ExpectWithNothingToCompareFailsAndSaysHowManyOfHowMany) {
  const std::string two =
      "run models/quickstart/affine.mlir -m tiny4 --input random:1 -q --expect ";
  const ProgramRun nothing = superstep(two + "models/quickstart/affine_input.h5");
  EXPECT_EQ(nothing.code, 1);
  EXPECT_NE(nothing.err.find("nothing to compare"), std::string::npos) << nothing.err;
  const ProgramRun some =
      superstep(kAffineQuietly + std::string("--expect ") + "models/quickstart/affine_expected.h5");
  EXPECT_NE(some.out.find("Expected  1 of 1 results agree: within 0.0001 relative + 1e-06"),
            std::string::npos)
      << some.out;
}

}  // namespace
}  // namespace superstep
