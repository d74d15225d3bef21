// Files on which the HDF5 library crashes are damaged files to those who use the command.

#include <hdf5.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace superstep {
namespace {

/// With a sanitizer the process ends with its report, in place of a signal.
#ifdef SUPERSTEP_SANITIZED
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

constexpr std::string_view kCrashed = "is damaged: the process that read it crashed (";

std::string bytes_in(const std::string& path) {
  return text_of(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / path);
}

/// With `bytes` at an offset.
std::filesystem::path damaged(std::string file, std::size_t at, std::string_view bytes) {
  file.replace(at, bytes.size(), bytes);
  const std::filesystem::path path = scratch_folder() / "damaged.h5";
  std::ofstream(path, std::ios::binary) << file;
  return path;
}

TEST(DamagedFiles, OfTracesEndNoCommandByASignal) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer ends the process";
  const std::string whole = bytes_in("tests/sim/format_1.0.0.h5.part");
  // Names of datasets lie there: 1.10.8 crashes on some of these when it lists them.
  constexpr std::size_t kFirst = 47'870, kEnd = 48'950, kStep = 67;
  int crashes = 0;
  for (std::size_t at = kFirst; at < kEnd; at += kStep) {
    const std::string path = damaged(whole, at, "\xff\xff").string();
    for (const std::string verb : {"trace ls ", "trace validate ", "report "}) {
      const ProgramRun run = superstep(verb + path);
      EXPECT_TRUE(run.code == 0 || run.code == 7) << verb << at << ": " << run.code << run.err;
      if (run.err.find(path + ": error: " + std::string(kCrashed)) == std::string::npos) continue;
      ++crashes;
      EXPECT_EQ(run.code, 7);
      EXPECT_EQ(run.out, "");
    }
  }
  if (H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 10) {
    EXPECT_GT(crashes, 0);
  }
}

TEST(DamagedFiles, OfInputsEndNoRunByASignal) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer ends the process";
  // A chunk of a dataset claims to be 255 times as long as it is.
  const std::string path = damaged(bytes_in("models/cnn/train.h5"), 61'451, "\xff").string();
  const ProgramRun run = superstep("run models/cnn/train_step.mlir -m gc200 -q --input " + path);
  EXPECT_EQ(run.code, 5) << run.err;
  EXPECT_NE(run.err.find(path + ": error: "), std::string::npos) << run.err;
  if (H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 10) {
    EXPECT_NE(run.err.find(kCrashed), std::string::npos) << run.err;
  }
}

TEST(DamagedFiles, AreNamedByTheAnswerOfACommandWhoseProcessCrashed) {
  const std::string words = (scratch_folder() / "none.h5").string() + " --wait 60 -q";
  for (const bool is_json : {false, true}) {
    const ProgramRun run =
        superstep("watch " + words + (is_json ? " --json" : "") +
                  " & pid=$!; until child=$(pgrep -P $pid); do kill -0 $pid || break; done; "
                  "kill -SEGV $child; wait $pid");
    EXPECT_EQ(run.code, 7) << run.err;
    EXPECT_NE(run.err.find("none.h5: error: " + std::string(kCrashed)), std::string::npos)
        << run.err;
    if (is_json) {
      EXPECT_EQ(nlohmann::json::parse(run.out)["exit_code"], 7) << run.out;
    }
  }
}

}  // namespace
}  // namespace superstep
