#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "isa/program_image.h"
#include "sim/run_image.h"
#include "toolchain/assembler.h"

namespace superstep {

inline Segment segment_of(const std::vector<TileId>& tiles, std::uint32_t address,
                          const std::vector<std::uint32_t>& words) {
  Segment segment{tiles, address, {}};
  for (const std::uint32_t word : words) {
    const auto bytes = std::bit_cast<std::array<std::uint8_t, 4>>(word);
    segment.bytes.insert(segment.bytes.end(), bytes.begin(), bytes.end());
  }
  return segment;
}

/// Gives each of `tiles` the same supervisor program, and whatever follows it, at the start of
/// memory.
inline void add_code(ProgramImage& image, const std::vector<TileId>& tiles,
                     const std::vector<std::uint32_t>& words) {
  image.segments.push_back(segment_of(tiles, image.machine.tile.memory_base, words));
  for (const TileId tile : tiles) image.entries.push_back({tile, image.machine.tile.memory_base});
}

/// Words of a text, ready to run at the start of memory.
inline std::vector<std::uint32_t> assembled(const std::string& text, const MachineConfig& machine) {
  return assemble(text, "benchmark").words_at(machine.tile.memory_base);
}

/// A supervisor that launches the code at `worker` on every worker, `launches` times, with its
/// vertex state at `state`.
inline std::string launches_of_worker(std::uint32_t state, std::uint32_t launches) {
  return fmt::format(
      "  setzi $m1, worker\n"
      "  setzi $m2, {}\n"
      "  setzi $m3, {}\n"
      "launch:\n"
      "  runall $m1, $m3, 0\n"
      "  sync 2\n"
      "  brnzdec $m2, launch\n"
      "  sync 4\n",
      launches - 1, state);
}

inline std::vector<TileId> all_tiles(const MachineConfig& machine) {
  std::vector<TileId> tiles;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) tiles.push_back(TileId{t});
  return tiles;
}

/// Runs the image once an iteration; a trap ends the benchmark.
inline RunTotals run_all(benchmark::State& state, const ProgramImage& image,
                         std::uint32_t threads = 1) {
  RunOptions options;
  options.threads = threads;
  options.check_races = RaceChecks::kNever;  // workers do the same to the same words
  RunTotals totals;
  for ([[maybe_unused]] auto iteration : state) {
    const RunResult result = run_image(image, {}, options);
    if (result.trap) {
      state.SkipWithError(result.trap->text().c_str());
      break;
    }
    totals = result.totals;
  }
  return totals;
}

/// `count` of one iteration as a rate.
inline void set_rate(benchmark::State& state, const std::string& name, double count) {
  state.counters[name] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace superstep
