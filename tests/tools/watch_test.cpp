#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output_file.h"
#include "isa/machine_config.h"
#include "sim/trace/schema.h"
#include "sim/trace/trace.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

/// A program of one tile and one step.
ProgramImage one_step() {
  ProgramImage image;
  image.machine = load_machine("tiny4");
  image.entries = {{TileId{0}, image.machine.tile.memory_base}};
  image.info.module = "watched";
  image.info.steps.resize(2);
  image.info.steps[0].kind = StepInfo::Kind::kHost;
  image.info.steps[0].name = "host";
  image.info.steps[1].name = "add.1";
  image.info.steps[1].superstep = 0;
  image.info.step_memory.resize(2);
  return image;
}

SuperstepRecord superstep_number(std::uint64_t number, std::vector<TilePhase>& tiles) {
  tiles = {TilePhase{}};
  tiles[0].compute = 7;
  SuperstepRecord record;
  record.number = number;
  record.step = 1;
  record.begin = Cycles(7 * number);
  record.end = Cycles(7 * number + 7);
  record.compute = Cycles(7);
  record.shares = {{1, 7}};
  record.tiles = &tiles;
  return record;
}

/// `superstep watch WORDS` while this process does something else.
class Watcher {
 public:
  explicit Watcher(const std::string& words)
      : out_(popen(("LC_ALL=C.UTF-8 " SUPERSTEP_BINARY " watch " + words + " 2>&1").c_str(), "r")) {
  }

  /// The next line of both its streams; blocks until it is there, empty at the end.
  std::string line() {
    std::array<char, 4096> text{};
    return fgets(text.data(), text.size(), out_) != nullptr ? text.data() : "";
  }
  std::string rest() {
    std::string all;
    for (std::string next = line(); !next.empty(); next = line()) all += next;
    return all;
  }
  int code() {
    const int status = pclose(out_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  FILE* out_;
};

TEST(Watch, FollowsARunAndEndsWithItsReport) {
  const std::filesystem::path path = scratch_folder() / "watched.h5";
  const std::filesystem::path page = scratch_folder() / "watched.html";
  const ProgramImage image = one_step();
  TraceWriter writer(path, {}, image, {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t s = 0; s < 4; ++s) writer.on_superstep(superstep_number(s, tiles));
  Watcher watcher(path.string() + " -o " + page.string());
  const std::string first = watcher.line();
  EXPECT_NE(first.find("4 supersteps, 28 device cycles"), std::string::npos) << first;
  // More than one chunk behind what the look before has read.
  const std::uint64_t more = 2 * kSuperstepChunk + 4096;
  for (std::uint64_t s = 4; s < more; ++s) writer.on_superstep(superstep_number(s, tiles));
  std::string second = watcher.line();
  // One may be of a look in the middle.
  if (second.find("6,144") == std::string::npos) second = watcher.line();
  EXPECT_NE(second.find("6,144 supersteps, 43,008 device cycles"), std::string::npos) << second;
  EXPECT_NE(text_of(page).find("http-equiv=\"refresh\""), std::string::npos);
  RunResult result;
  writer.finish(result);
  const std::string rest = watcher.rest();
  EXPECT_EQ(watcher.code(), 0) << rest;
  const ProgramRun whole = superstep("report " + path.string());
  EXPECT_NE(rest.find(whole.out), std::string::npos) << rest << whole.out;
  EXPECT_EQ(text_of(page).find("http-equiv=\"refresh\""), std::string::npos);
}

TEST(Watch, WaitsForARunToBeginAndTakesNoOlderTraceForIt) {
  const std::filesystem::path path = scratch_folder() / "later.h5";
  std::vector<TilePhase> tiles;
  for (const std::uint64_t supersteps : {1U, 3U}) {
    Watcher watcher(path.string() + " --wait 60");
    const std::string waits = watcher.line();
    EXPECT_NE(waits.find("no run writes " + path.string() + " yet"), std::string::npos) << waits;
    {
      // As a run does that compiles first.
      const auto lock = std::make_shared<FileLock>(path);
      const std::string compiles = watcher.line();
      EXPECT_NE(compiles.find("has not begun"), std::string::npos) << compiles;
      const ProgramImage image = one_step();
      TraceWriter writer(path, {.lock = lock}, image, {});
      for (std::uint64_t s = 0; s < supersteps; ++s) {
        writer.on_superstep(superstep_number(s, tiles));
      }
      writer.finish({});
    }
    const std::string rest = watcher.rest();
    EXPECT_EQ(watcher.code(), 0) << rest;
    EXPECT_NE(rest.find(superstep("report " + path.string()).out), std::string::npos) << rest;
  }
}

TEST(Watch, OfARunThatEndsWithoutATraceIsAnError) {
  const std::filesystem::path path = scratch_folder() / "failed.h5";
  const ProgramImage image = one_step();
  TraceWriter(path, {}, image, {}).finish({});
  Watcher watcher(path.string() + " --wait 60");
  watcher.line();
  {
    const FileLock lock(path);
    watcher.line();
  }
  const std::string rest = watcher.rest();
  EXPECT_EQ(watcher.code(), 74);
  EXPECT_NE(rest.find("the run ended before it wrote a trace"), std::string::npos) << rest;
}

TEST(Watch, ThatIsInterruptedLeavesAPageThatStands) {
  const std::filesystem::path path = scratch_folder() / "left.h5";
  const std::filesystem::path page = scratch_folder() / "left.html";
  const ProgramImage image = one_step();
  TraceWriter writer(path, {}, image, {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t s = 0; s < 4; ++s) writer.on_superstep(superstep_number(s, tiles));
  // `timeout` interrupts it once it has made a page.
  const ProgramRun run = superstep("watch " + path.string() + " -o " + page.string(),
                                   "timeout --foreground --preserve-status -s INT 3");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_NE(text_of(page).find("watched"), std::string::npos);
  EXPECT_EQ(text_of(page).find("http-equiv=\"refresh\""), std::string::npos);
  writer.finish({});
}

TEST(Watch, EndsWithTheCodeOfTheRun) {
  const std::filesystem::path path = scratch_folder() / "codes.h5";
  const auto code_of = [&](const RunResult& result) {
    const ProgramImage image = one_step();
    TraceWriter writer(path, {}, image, {});
    writer.finish(result);
    return superstep("watch --wait 0 " + path.string()).code;
  };
  RunResult trapped, interrupted;
  trapped.trap = Trap{};
  interrupted.interrupted = true;
  EXPECT_EQ(code_of({}), 0);
  EXPECT_EQ(code_of(trapped), 1);
  EXPECT_EQ(code_of(interrupted), 130);
}

TEST(Watch, OfARunThatWasKilledSaysWhatItLeft) {
  const std::filesystem::path path = scratch_folder() / "killed.h5";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const ProgramImage image = one_step();
    TraceWriter writer(path, {}, image, {});
    std::vector<TilePhase> tiles;
    for (std::uint64_t s = 0; s < 4; ++s) writer.on_superstep(superstep_number(s, tiles));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::string part = path.string() + ".part";
  for (const std::string& name : {path.string(), part}) {
    const ProgramRun run = superstep("watch --wait 0 " + name);
    EXPECT_EQ(run.code, 7);
    EXPECT_NE(run.err.find(part + ": error: the run was killed; `superstep trace repair`"),
              std::string::npos)
        << run.err;
    EXPECT_EQ(run.out, superstep("report " + part).out);
  }
}

TEST(Watch, OfAFinishedRunIsItsReportAndOfNoneAnError) {
  const std::filesystem::path path = scratch_folder() / "ended.h5";
  const ProgramImage image = one_step();
  TraceWriter writer(path, {}, image, {});
  std::vector<TilePhase> tiles;
  writer.on_superstep(superstep_number(0, tiles));
  writer.finish({});
  EXPECT_EQ(superstep("watch --wait 0 " + path.string()).out,
            superstep("report " + path.string()).out);
  EXPECT_EQ(superstep("watch --wait 0 " + (scratch_folder() / "none.h5").string()).code, 74);
}

}  // namespace
}  // namespace superstep
