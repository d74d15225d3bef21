// What runs for more than 2^34 cycles without an end is taken for an endless loop. Instructions of
// 64 slots on a pipeline of 64 cycles come there soon.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep::testing {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 34;
constexpr std::uint64_t kLong = std::uint64_t{64} * 64;  ///< cycles of an `f32exp`

MachineConfig slow_machine() {
  MachineConfig machine = gc200();
  machine.tile.pipeline_depth = 64;
  machine.costs.f32exp = 64;
  return machine;
}

/// A worker that takes a little more than so many cycles.
std::string worker_of(std::uint64_t cycles) {
  return fmt::format("ldconst $m0, {}\n1: f32exp $a0, $a1\n brnzdec $m0, 1b\n exitz $mzero",
                     cycles / (kLong + 64));
}

/// `launches` workers, one after the other, that take so many cycles each.
TileStop run_workers(TileRun& run, int launches, std::uint64_t cycles,
                     const std::string& wait = "sync 2\n") {
  run.load(kCodelet, worker_of(cycles));
  std::string text = "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n";
  for (int i = 0; i < launches; ++i) text += "run $m0, $m1, 0\n" + wait;
  return run.supervise(text + "sync 4");
}

TEST(EndlessLoop, AWorkerIsNoneUntilItsLimit) {
  TileRun run(slow_machine());
  const TileStop stop = run_workers(run, 1, kLimit - kLimit / 64);
  EXPECT_EQ(stop.kind, TileStop::Kind::kSync) << run.cause();
  EXPECT_GT(stop.cycle, kLimit - kLimit / 32);
}

TEST(EndlessLoop, AWorkerIsOneBehindItsLimit) {
  TileRun run(slow_machine());
  EXPECT_EQ(run_workers(run, 1, kLimit + kLimit / 64).kind, TileStop::Kind::kFault);
  EXPECT_EQ(run.cause(), "more than 2^34 cycles since its launch: an endless loop");
  ASSERT_TRUE(run.tile().fault());
  EXPECT_EQ(run.tile().fault()->context, "worker 0");
  EXPECT_EQ(run.tile().fault()->kind, TrapKind::kLimit);
  EXPECT_LT(run.tile().fault()->cycle, kLimit + kLimit / 64);
}

TEST(EndlessLoop, ASupervisorThatWaitsForWorkersIsNone) {
  TileRun run(slow_machine());
  const TileStop stop = run_workers(run, 3, kLimit / 2);
  EXPECT_EQ(stop.kind, TileStop::Kind::kSync) << run.cause();
  EXPECT_GT(stop.cycle, kLimit + kLimit / 4);
}

/// A supervisor that counts for a little more than so many cycles.
std::string count_for(std::uint64_t cycles) {
  constexpr std::uint64_t kDelay = 1 << 16;
  return fmt::format("ldconst $m2, {}\n2: delay {}\n brnzdec $m2, 2b\n", cycles / kDelay,
                     kDelay - 1);
}

TEST(EndlessLoop, ASupervisorIsOneBehindItsLimit) {
  TileRun run(slow_machine());
  EXPECT_EQ(run.supervise(count_for(kLimit - kLimit / 64) + "sync 4").kind, TileStop::Kind::kSync)
      << run.cause();
  EXPECT_EQ(run.supervise(count_for(kLimit + kLimit / 64) + "sync 4").kind, TileStop::Kind::kFault);
  EXPECT_EQ(run.cause(), "more than 2^34 cycles without a sync or a worker: an endless loop");
  ASSERT_TRUE(run.tile().fault());
  EXPECT_EQ(run.tile().fault()->kind, TrapKind::kLimit);
}

TEST(EndlessLoop, ASupervisorIsNoneUntilItsLimitBehindItsLastWorker) {
  for (const bool comes_too_late : {false, true}) {
    TileRun run(slow_machine());
    const std::uint64_t counted = comes_too_late ? 2 * kLimit : kLimit + kLimit / 2;
    const TileStop stop = run_workers(run, 1, kLimit - kLimit / 8, count_for(counted));
    EXPECT_EQ(stop.kind, comes_too_late ? TileStop::Kind::kFault : TileStop::Kind::kSync)
        << run.cause();
  }
}

}  // namespace
}  // namespace superstep::testing
