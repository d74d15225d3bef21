#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "isa/assembler.h"
#include "isa/program_image.h"
#include "sim/machine.h"

namespace superstep {

/// Gives each of `tiles` the same supervisor program, and whatever follows it, at the start of
/// memory.
inline void add_code(ProgramImage& image, const std::vector<TileId>& tiles,
                     std::vector<std::uint32_t> words) {
  Segment segment{tiles, image.machine.tile.memory_base, {}};
  for (const std::uint32_t word : words) {
    const auto bytes = std::bit_cast<std::array<std::uint8_t, 4>>(word);
    segment.bytes.insert(segment.bytes.end(), bytes.begin(), bytes.end());
  }
  image.segments.push_back(std::move(segment));
  for (const TileId tile : tiles) image.entries.push_back({tile, image.machine.tile.memory_base});
}

/// Words of a text, ready to run at the start of memory.
inline std::vector<std::uint32_t> assembled(const std::string& text, const MachineConfig& machine) {
  const Assembly code = assemble(text, "benchmark", machine);
  std::vector<std::uint32_t> words = code.words;
  for (const std::uint32_t at : code.relocations) {
    words[at] = relocate(words[at], machine.tile.memory_base);
  }
  return words;
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
