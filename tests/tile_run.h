#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/tile/tile.h"
#include "toolchain/assembler.h"
#include "tests/gc200.h"

namespace superstep::testing {

inline constexpr std::uint32_t kProgram = 0x4c000;  ///< where tests load the supervisor program
inline constexpr std::uint32_t kCodelet = 0x4d000;
inline constexpr std::uint32_t kData = 0x50000;  ///< vertex state and results of tests
inline constexpr std::uint32_t kInterleaved = 0x80000;

/// A supervisor program that runs kCodelet on worker 0 alone, the others leave at once.
inline constexpr const char* kRunWorker =
    "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n run $m0, $m1, 0\n sync 2\n sync 4";
/// The same on every worker.
inline constexpr const char* kRunAllWorkers =
    "setzi $m0, 0x4d000\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n sync 2\n sync 4";

/// One tile, with supervisor programs of a test.
class TileRun {
 public:
  explicit TileRun(MachineConfig machine = gc200())
      : machine_(std::move(machine)), code_(machine_), tile_(machine_, TileId{0}, code_) {}

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  Tile& tile() { return tile_; }

  void load(std::uint32_t address, std::string_view assembly) {
    put(address, assemble(assembly, "test.S").words_at(address));
  }
  template <class T>
  void put(std::uint32_t address, const std::vector<T>& values) {
    EXPECT_TRUE(tile_.memory().write(address, std::as_bytes(std::span(values))));
  }
  template <class T = std::uint32_t>
  [[nodiscard]] std::vector<T> get(std::uint32_t address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(tile_.memory().read(address, std::as_writable_bytes(std::span(values))));
    return values;
  }

  /// Runs a supervisor program.
  TileStop supervise(std::string_view assembly, std::uint64_t release = 0) {
    load(kProgram, assembly);
    tile_.boot(kProgram);
    return tile_.run(release);
  }
  /// Runs a codelet on every worker with its vertex state at kData.
  TileStop work(std::string_view codelet) {
    load(kCodelet, codelet);
    return supervise(kRunAllWorkers);
  }
  /// Runs a codelet on worker 0 with its vertex state at kData.
  TileStop work_alone(std::string_view codelet) {
    load(kCodelet, codelet);
    return supervise(kRunWorker);
  }
  /// `work_alone`, which must not trap; returns the slots of worker 0.
  std::uint64_t slots(std::string_view codelet) {
    EXPECT_EQ(work_alone(codelet).kind, TileStop::Kind::kSync) << cause();
    const TileLaunches& launches = tile_.launches();
    return (launches.last_exit_cycle - launches.first_cycle - machine_.costs.runall) /
           machine_.issue_period();
  }
  /// Of the trap that ended the run; `none` without one.
  [[nodiscard]] std::string cause() const { return tile_.fault() ? tile_.fault()->cause : "none"; }

 private:
  MachineConfig machine_ = gc200();
  CodeStore code_;
  Tile tile_;
};

/// Words that a codelet stores at its vertex state, for the given state; the codelet ends itself.
inline std::vector<std::uint32_t> run_worker(std::string_view codelet,
                                             const std::vector<std::uint32_t>& state,
                                             std::size_t words) {
  TileRun run;
  run.put(kData, state);
  run.slots(codelet);
  return run.get(kData, words);
}

/// The cause of the trap of a codelet on worker 0, or `none`.
inline std::string worker_cause(std::string_view codelet) {
  TileRun run;
  run.work_alone(codelet);
  return run.cause();
}
/// The same of a supervisor program.
inline std::string supervisor_cause(std::string_view program) {
  TileRun run;
  run.supervise(program);
  return run.cause();
}

}  // namespace superstep::testing
