#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "isa/assembler.h"
#include "sim/tile/tile.h"

namespace superstep::testing {

inline constexpr std::uint32_t kProgram = 0x4c000;  ///< where tests load the supervisor program
inline constexpr std::uint32_t kCodelet = 0x4d000;
inline constexpr std::uint32_t kData = 0x50000;  ///< vertex state and results of tests
inline constexpr std::uint32_t kInterleaved = 0x80000;

/// A tile with programs of a test.
class TileRun {
 public:
  explicit TileRun(MachineConfig machine = {})
      : machine_(std::move(machine)), code_(machine_), tile_(machine_, TileId{0}, code_) {}

  Tile& tile() { return tile_; }

  void load(std::uint32_t address, std::string_view assembly) {
    const Assembly code = assemble(assembly, "test.S", machine_);
    std::vector<std::uint32_t> words = code.words;
    for (const std::uint32_t index : code.relocations) {
      words[index] = relocate(words[index], address);
    }
    put(address, words);
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
    return supervise(
        "setzi $m0, 0x4d000\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n sync 2\n sync 15");
  }
  /// Runs a codelet on worker 0 alone, the others leave at once; returns the slots of worker 0.
  std::uint64_t slots(std::string_view codelet) {
    load(kCodelet, codelet);
    const TileStop stop =
        supervise("setzi $m0, 0x4d000\n setzi $m1, 0x4000\n run $m0, $m1, 0\n sync 2\n sync 15");
    EXPECT_EQ(stop.kind, TileStop::Kind::kSync)
        << (tile_.fault() ? tile_.fault()->cause : std::string());
    const TileLaunches& launches = tile_.launches();
    return (launches.last_exit_cycle - launches.first_cycle - machine_.costs.runall) /
           machine_.tile.workers;
  }

 private:
  MachineConfig machine_;
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

}  // namespace superstep::testing
