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

/// Four words from tile 0 to tile 1, both at row 0 of one column: 32 cycles away.
inline ProgramImage one_transfer(const std::string& rest) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n send 3, 0x20000, 3\n sync 3\n sync 4\n");
  add_program(image, 1,
              "sync 3\n"
              "delaypic 30, 0, 0x20000\n"  // the pointer, in cycle 30
              "delayxpic 1, 0, 0\n"        // tile 0, in cycle 32
              "delayxpic 3, 0, 0x640\n" +  // idle again, in cycle 36
                  rest +
                  "sync 3\n sync 4\n");
  Segment data{{TileId{0}}, kData, {}};
  for (std::uint8_t byte = 1; byte <= 16; ++byte) data.bytes.push_back(byte);
  image.segments.push_back(data);
  return image;
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
