#include "sim/trace/trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/hdf5_file.h"
#include "base/text.h"
#include "sim/trace/recorder.h"
#include "sim/trace/schema.h"
#include "tests/scratch_folder.h"
#include "tests/sim/two_steps.h"

namespace superstep {
namespace {

TEST(TraceEvents, ProfilesEndAtTheSizeLimitAndTheRestGoesOn) {
  const auto path = scratch_folder() / "limit.h5";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kTile, .max_bytes = 1}, image, {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < 10; ++k) writer.on_superstep(superstep(k, tiles));
  writer.finish({});
  expect_totals(read_trace(path), 10);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto rows = file.read_all<std::uint32_t>("/supersteps/compute_profile", Hdf5Type::kU32);
  // The first superstep was flushed, which is when the limit was seen.
  EXPECT_EQ(rows[0], 0u);
  EXPECT_EQ(rows[1], kNoProfile);
  EXPECT_EQ(rows[9], kNoProfile);
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kLimit);
  EXPECT_EQ(trace.events[0].cycle, 100_cycles);
}

TEST(TraceEvents, RowsOfLevelsBelowTileEndWithThoseOfTiles) {
  const auto path = scratch_folder() / "limit.h5";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kInstruction, .max_bytes = 1}, image, {});
  for (std::uint64_t k = 0; k < 10; ++k) add_superstep(writer, k);
  writer.finish({});
  expect_totals(read_trace(path), 10);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  for (const char* column : {"/vertices/superstep", "/instructions/superstep"}) {
    EXPECT_EQ(file.read_all<std::uint64_t>(column, Hdf5Type::kU64),
              std::vector<std::uint64_t>(4, 0))
        << column;
  }
}

TEST(TraceEvents, WarnsOnceOfStepsWhoseRowsOfTilesRarelyRepeat) {
  const auto path = scratch_folder() / "varied.h5";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    SuperstepRecord record = superstep(k, tiles);
    tiles[0].instructions.all = k;
    writer.on_superstep(record);
  }
  writer.finish({});
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kWarning);
  EXPECT_NE(trace.events[0].text.find("add.1"), std::string::npos) << trace.events[0].text;
}

TEST(TraceEvents, ATrapIsAnEventWithItsTile) {
  const ProgramImage image = two_steps();
  const auto tiles = static_cast<std::int32_t>(image.machine.tiles());
  for (const std::int32_t chip : {0, 1}) {
    const auto path = scratch_folder() / "trap.h5";
    TraceWriter writer(path, {}, image, {});
    RunResult result;
    result.trap = Trap{.cycle = Cycles(77),
                       .chip = ChipId{static_cast<std::uint32_t>(chip)},
                       .tile = TileId{1},
                       .context = "worker 2",
                       .pc = 0x4c010,
                       .cause = std::string(200, 'x')};
    writer.finish(result);
    const TraceSummary trace = read_trace(path);
    EXPECT_EQ(trace.outcome, "trap");
    ASSERT_EQ(trace.events.size(), 1u);
    EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kTrap);
    EXPECT_EQ(trace.events[0].cycle, 77_cycles);
    EXPECT_EQ(trace.events[0].tile, chip * tiles + 1);
    const std::string half(58, 'x');
    EXPECT_EQ(trace.events[0].text, fmt::format("{0}…{0}", half));
  }
}

TEST(TraceEvents, AProgramThatDoesNotFitLeavesItsMemory) {
  const auto path = scratch_folder() / "oom.h5";
  const ProgramImage image = two_steps();
  write_memory_trace(path, {}, image.machine, image.info, {});
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kOom);
  EXPECT_EQ(trace.events[0].tile, 1);
  EXPECT_EQ(trace.events[0].text, "does not fit: tile 1 needs 1200 B in add.1");
  EXPECT_EQ(trace.outcome, "oom");
  EXPECT_EQ(trace.worst_tile_bytes, 1100u);
  EXPECT_EQ(trace.totals.supersteps, 0u);
}

/// The event of three supersteps, of which `tell` says that the last two have too much; `most` is
/// what the writer asks for.
TraceEvent event_of_limit(TraceLevel level, std::uint64_t Watch::*most, std::uint64_t expected,
                          void (Observer::*tell)()) {
  const auto path = scratch_folder() / "many.h5";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = level}, image, {});
  EXPECT_EQ(writer.observer()->watch().*most, expected);
  for (std::uint64_t k = 0; k < 3; ++k) {
    if (k > 0) (writer.observer()->*tell)();
    std::vector<TilePhase> tiles;
    writer.on_superstep(superstep(k, tiles));
  }
  writer.finish({});
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.events.size(), 1U);
  const TraceEvent event = trace.events.empty() ? TraceEvent{} : trace.events[0];
  EXPECT_EQ(event.kind, TraceEvent::Kind::kLimit);
  EXPECT_EQ(event.cycle, 100_cycles);
  return event;
}

TEST(TraceEvents, SaysOnceThatSuperstepsHaveMoreWorkerRunsThanItKeeps) {
  const TraceEvent event =
      event_of_limit(TraceLevel::kVertex, &Watch::most_worker_runs, TraceOptions().most_worker_runs,
                     &Observer::on_too_many_worker_runs);
  EXPECT_EQ(event.text,
            "superstep 1 has more than 4194304 worker runs: none are kept, nor of others like it; "
            "--trace-tiles takes fewer tiles");
}

TEST(TraceEvents, SaysOnceThatSuperstepsHaveMoreInstructionsThanItKeeps) {
  const TraceEvent event =
      event_of_limit(TraceLevel::kInstruction, &Watch::most_instructions,
                     TraceOptions().most_instructions, &Observer::on_too_many_instructions);
  EXPECT_TRUE(event.text.starts_with("superstep 1 has more than 4194304 instructions"))
      << event.text;
}

/// What the trace of a run keeps that was interrupted in its second call.
TraceSummary interrupted(const std::string& step, std::optional<std::uint32_t> inside) {
  const auto path = scratch_folder() / "interrupted.h5";
  ProgramImage image = two_steps();
  image.info.steps[1].name = step;
  image.info.predicted_cycles = 100;
  TraceWriter writer(path, {.calls = 7}, image, {});
  std::vector<TilePhase> tiles;
  for (const std::uint32_t call : {4U, 5U}) {  // behind a checkpoint it is not the first
    SuperstepRecord record = superstep(call - 4, tiles);
    record.call = call;
    writer.on_superstep(record);
  }
  RunResult result;
  result.interrupted = true;
  result.totals.supersteps = 2;
  result.last_step = 1;
  result.step_inside = inside;
  writer.finish(result);
  const TraceSummary shown = writer.recorder().summary("interrupted");
  EXPECT_EQ(shown.events.at(0).text, read_trace(path).events.at(0).text);
  EXPECT_EQ(shown.calls, read_trace(path).calls);
  return read_trace(path);
}

TEST(TraceEvents, SaysWhereTheRunWasInterrupted) {
  EXPECT_EQ(interrupted("add.1", std::nullopt).events.at(0).text,
            "behind add.1 of f.py:5, in call 6 of 11, superstep 2");
  EXPECT_EQ(interrupted("add.1", 0).events.at(0).text,
            "inside exchange.1, in call 6 of 11, superstep 2");
  const std::string cut =
      interrupted(fmt::format("{}ö…", std::string(80, 'o')), std::nullopt).events.at(0).text;
  EXPECT_LE(cut.size(), kTextBytes);
  EXPECT_FALSE(not_utf8(cut)) << cut;
  EXPECT_TRUE(cut.starts_with("behind ooo")) << cut;
  EXPECT_TRUE(cut.ends_with(", in call 6 of 11, superstep 2")) << cut;
}

TEST(TraceEvents, OfARunThatDidNotEndCountsTheCallsThatDid) {
  const TraceSummary trace = interrupted("add.1", std::nullopt);
  EXPECT_EQ(trace.calls, 1U);
  EXPECT_EQ(trace.predicted, Cycles()) << "of all calls, which did not run";
}

}  // namespace
}  // namespace superstep
