#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "isa/program_image.h"
#include "sim/run_image.h"
#include "toolchain/assembler.h"
#include "tests/gc200.h"

namespace superstep {

constexpr std::uint32_t kCode = 0x4c000;
constexpr std::uint32_t kData = 0x80000;

/// One column of tiles that are equally far from one another, and all leave a barrier 4 cycles
/// after it opens.
inline ProgramImage image_of(std::uint32_t tiles) {
  ProgramImage image;
  image.machine = gc200();
  image.machine.name = "row";
  const std::uint32_t lanes = std::min(tiles, 4U), rows = (tiles + lanes - 1) / lanes;
  image.machine.grid = {rows, 1, lanes, rows * lanes - tiles};
  image.machine.exchange.per_row_latency = 0;
  image.machine.sync.skew_per_row = 0;
  image.machine.sync.column_skew = {4};
  return image;
}

/// Gives a tile a supervisor program.
inline void add_program(ProgramImage& image, std::uint32_t tile, const std::string& text) {
  const Assembly code = assemble(text, "test.S");
  Segment segment{{TileId{tile}}, kCode, {}};
  for (const std::uint32_t word : code.words_at(kCode)) {
    for (int byte = 0; byte < 4; ++byte) {
      segment.bytes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
    }
  }
  image.segments.push_back(segment);
  image.entries.push_back({TileId{tile}, kCode});
}

/// A run with a copy of every superstep and of its tiles.
struct Recorded {
  RunResult result;
  std::vector<SuperstepRecord> supersteps;
  std::vector<std::vector<TilePhase>> tiles;
};

inline Recorded record(const ProgramImage& image, const std::vector<HostTensor>& arguments = {},
                       std::uint32_t calls = 1, std::uint32_t threads = 1) {
  Recorded out;
  RunOptions options;
  options.calls = calls;
  options.threads = threads;
  options.check_repeats = 8;
  options.on_superstep = [&](const SuperstepRecord& superstep) {
    out.supersteps.push_back(superstep);
    out.tiles.push_back(*superstep.tiles);
    EXPECT_EQ(superstep.exchange + superstep.compute + superstep.sync + superstep.host,
              superstep.end - superstep.begin);
  };
  out.result = run_image(image, arguments, options);
  return out;
}

}  // namespace superstep
