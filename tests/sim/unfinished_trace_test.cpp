#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "base/output_file.h"
#include "sim/trace/schema.h"
#include "sim/trace/trace.h"
#include "tests/scratch_folder.h"
#include "tests/sim/two_steps.h"

namespace superstep {
namespace {

/// Writes `supersteps` of a trace in a process that then kills itself.
void write_and_die(const std::filesystem::path& path, TraceLevel level, std::uint64_t supersteps) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const ProgramImage image = two_steps();
    TraceWriter writer(path, {.level = level}, image, {});
    for (std::uint64_t k = 0; k < supersteps; ++k) add_superstep(writer, k);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(UnfinishedTrace, SurvivesAKilledWriterUpToItsLastFlush) {
  for (const TraceLevel level : kLevels) {
    const auto path = scratch_folder() / "killed.h5";
    const auto part = std::filesystem::path(path.string() + ".part");
    write_and_die(path, level, 2 * kSuperstepChunk + 10);
    EXPECT_FALSE(std::filesystem::exists(path));
    try {
      (void)read_trace(path);
      FAIL() << "is there";
    } catch (const InputOutputError& error) {
      EXPECT_NE(std::string(error.what()).find("is not there, but " + part.string() + " is"),
                std::string::npos)
          << error.what();
    }
    const TraceSummary left = read_trace(part);
    EXPECT_FALSE(left.complete);
    EXPECT_EQ(left.outcome, "running");
    expect_totals(left, 2 * kSuperstepChunk);
    const auto mended = scratch_folder() / "mended.h5";
    repair_trace(part, mended);
    const TraceSummary trace = read_trace(mended);
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.outcome, "interrupted");
    EXPECT_EQ(trace.level, name_of(level));
    expect_totals(trace, 2 * kSuperstepChunk);
    const Hdf5File file = Hdf5File::open(mended, Hdf5File::Access::kRead);
    EXPECT_EQ(file.exists("/supersteps/step"), level != TraceLevel::kSummary);
    ASSERT_EQ(file.exists("/vertices/vertex"), level >= TraceLevel::kVertex);
    if (level < TraceLevel::kVertex) continue;
    const auto of = file.read_all<std::uint64_t>("/vertices/superstep", Hdf5Type::kU64);
    ASSERT_EQ(of.size(), 4 * 2 * kSuperstepChunk) << "of whole supersteps";
    EXPECT_EQ(of.back(), 2 * kSuperstepChunk - 1);
    if (level < TraceLevel::kInstruction) continue;
    EXPECT_EQ(file.read_all<std::uint64_t>("/instructions/superstep", Hdf5Type::kU64), of);
  }
}

TEST(UnfinishedTrace, AWriterThatIsKilledEarlyLeavesItsFirstSupersteps) {
  const auto path = scratch_folder() / "early.h5";
  write_and_die(path, TraceLevel::kSummary, 11);
  expect_totals(read_trace(path.string() + ".part"), 8);
}

TEST(UnfinishedTrace, AFinishedOneNeedsNoRepair) {
  const auto path = scratch_folder() / "finished.h5", mended = scratch_folder() / "mended.h5";
  write_trace(path, TraceLevel::kSuperstep, 10, "a");
  EXPECT_FALSE(repair_trace(path, mended));
  EXPECT_FALSE(std::filesystem::exists(mended));
}

TEST(UnfinishedTrace, IsNotRepairedWhileItIsWritten) {
  const auto path = scratch_folder() / "whole.h5", part = scratch_folder() / "whole.h5.part";
  write_and_die(path, TraceLevel::kSuperstep, 11);
  const FileLock writer(path);
  for (const auto& out : {path, scratch_folder() / "other.h5"}) {
    EXPECT_THROW((void)repair_trace(part, out), InputOutputError);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

TEST(UnfinishedTrace, IsWholeThoughItsUnfinishedFileWasTakenAway) {
  const auto path = scratch_folder() / "run.h5", part = scratch_folder() / "run.h5.part";
  for (const TraceLevel level : kLevels) {
    for (const bool is_replaced : {false, true}) {
      const ProgramImage image = two_steps();
      TraceWriter writer(path, {.level = level}, image, {});
      for (std::uint64_t k = 0; k < 3; ++k) add_superstep(writer, k);
      std::filesystem::remove(part);
      if (is_replaced) std::ofstream(part) << "somebody's";
      for (std::uint64_t k = 3; k < 200; ++k) add_superstep(writer, k);
      writer.finish({});
      expect_totals(read_trace(path), 200);
      EXPECT_EQ(std::filesystem::exists(part), is_replaced) << "it stays with who put it there";
      std::filesystem::remove(part);
    }
  }
}

TEST(UnfinishedTrace, WhoseUnfinishedFileWasOverwrittenIsAnErrorThatNamesIt) {
  const auto path = scratch_folder() / "run.h5", part = scratch_folder() / "run.h5.part";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
  for (std::uint64_t k = 0; k < 5000; ++k) add_superstep(writer, k);
  std::ofstream(part, std::ios::in) << std::string(std::filesystem::file_size(part), 'x');
  try {
    writer.finish({});
    FAIL() << "it was finished";
  } catch (const InputOutputError& error) {
    EXPECT_NE(std::string(error.what()).find(part.string()), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// Writes a trace whose unfinished file has foreign bytes at each so many-th place; whether it is
/// finished, or refused by the name of that file.
bool ends_with_foreign_bytes(std::size_t every) {
  const auto path = scratch_folder() / "run.h5", part = scratch_folder() / "run.h5.part";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
  for (std::uint64_t k = 0; k < 5000; ++k) add_superstep(writer, k);
  {
    std::ofstream out(part, std::ios::in | std::ios::binary);
    for (std::size_t at = every; at < std::filesystem::file_size(part); at += every) {
      out.seekp(static_cast<std::streamoff>(at)) << "\xff\xff";
    }
  }
  RunResult result;
  result.interrupted = true;  // an event, the first, for which the library reads its dataset
  try {
    writer.finish(result);
  } catch (const InputOutputError& error) {
    return std::string(error.what()).find(part.string()) != std::string::npos;
  }
  return true;
}

TEST(UnfinishedTrace, WhoseUnfinishedFileHasForeignBytesComesToAnEnd) {
  // The library reads metadata with a wrong sum again, with pauses that double.
  constexpr std::size_t kDistances[] = {337, 512, 1009, 4096};
  for (const std::size_t every : kDistances) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(ends_with_foreign_bytes(every) ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    // On some damage the library crashes, which it may.
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << every;
  }
}

}  // namespace
}  // namespace superstep
