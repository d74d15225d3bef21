#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "isa/program_image.h"
#include "sim/trace/trace.h"
#include "tests/gc200.h"

// A program of two steps and runs of it that no simulation makes, for tests of traces.

namespace superstep {

/// Two tiles, two steps: an exchange and a compute set.
inline ProgramImage two_steps() {
  ProgramImage image;
  image.machine = gc200();
  image.machine.name = "two";
  image.machine.grid = {1, 2, 1};
  image.machine.sync.column_skew = {0, 4};
  image.entries = {{TileId{0}, 0x4c000}, {TileId{1}, 0x4c000}};
  image.info.module = "jit_f";
  StepInfo move;
  move.kind = StepInfo::Kind::kExchange;
  move.name = "exchange.1";
  move.bound_cycles = 8;
  move.predicted_cycles = 9;
  move.superstep = 0;
  StepInfo add;
  add.name = "add.1";
  add.operation = "stablehlo.add";
  add.source = {{"f.mlir", 3, 7}, {"/home/user/f.py", 5, 0}};
  add.flops = 16;
  add.superstep = 0;
  add.vertices = add.tiles = 2;
  add.vertex_types = {0};
  image.info.steps = {move, add};
  image.info.memory = {{"codelets", {100, 300}}, {"variables", {1000, 700}}};
  image.info.tensors = {{"x", {DType::kF32, {4, 2}}, {{"f.mlir", 2, 1}}, 64, 32}};
  image.info.vertex_types = {{"add_f32", 40}};
  image.info.step_memory = {{1900, 0, 1100, 0}, {1900, 200, 1200, 1}};
  image.info.tile_peaks = {{1100, 0}, {1200, 1}};
  image.info.exchanges = {{0, {{0, 1, 8, 30}, {1, 0, 4, 30}}}};
  image.info.text_sha256 = "abc";
  Stream argument;
  argument.type = {DType::kF32, {4, 2}};
  argument.pieces = {{TileId{0}, 0x80000, 32, {{0, 0, 32}}},
                     {TileId{1}, 0x80000, 32, {{0, 32, 32}}}};
  image.streams = {argument};
  return image;
}

/// Superstep `k` of a run that alternates between two tile profiles; 100 cycles each.
inline SuperstepRecord superstep(std::uint64_t k, std::vector<TilePhase>& tiles) {
  tiles = {{10, 20, 70}, {10, 20 + k % 2, 70}};
  SuperstepRecord record;
  record.number = k;
  record.exchange_step = 0;
  record.step = 1;
  record.begin = Cycles(100 * k);
  record.end = Cycles(100 * (k + 1));
  record.exchange = 10_cycles;
  record.compute = Cycles(20 + k % 2);
  record.sync = Cycles(70 - k % 2);
  record.critical = TileId{static_cast<std::uint32_t>(k % 2)};
  record.exchange_bytes = 8;
  record.worker_instructions.all = 5;
  record.tiles = &tiles;
  record.shares = {{1, record.compute.value()}};
  return record;
}

inline constexpr TraceLevel kLevels[] = {TraceLevel::kSummary, TraceLevel::kSuperstep,
                                         TraceLevel::kTile, TraceLevel::kVertex,
                                         TraceLevel::kInstruction};

/// Gives the writer superstep `k`, in which workers of each tile run.
inline void add_superstep(TraceWriter& writer, std::uint64_t k) {
  for (const std::uint32_t tile : {0U, 1U}) {
    if (writer.observer() == nullptr) break;
    for (const std::uint32_t worker : {0U, 1U}) {
      const std::uint64_t begin = 100 * k + 12 + worker;
      if (writer.observer()->watch().instructions) {
        writer.observer()->on_instruction(TileId{tile}, {.context = worker, .cycle = begin});
      }
      writer.observer()->on_worker_run(
          TileId{tile},
          {.worker = worker, .launch = 100 * k + 10, .begin = begin, .end = begin + 6});
    }
  }
  std::vector<TilePhase> tiles;
  writer.on_superstep(superstep(k, tiles));
}

/// Writes a trace of a level to its end.
inline void write_trace(const std::filesystem::path& path, TraceLevel level,
                        std::uint64_t supersteps, const std::string& host) {
  const ProgramImage image = two_steps();
  TraceWriter writer(
      path,
      {.level = level, .calls = 3, .report = [](const TraceSummary&) { return std::string("{}"); }},
      image, {{"host", host}});
  for (std::uint64_t k = 0; k < supersteps; ++k) add_superstep(writer, k);
  writer.finish({}, {{"wall_seconds", 1.5}});
}

/// It has the totals of so many supersteps.
inline void expect_totals(const TraceSummary& trace, std::uint64_t supersteps) {
  EXPECT_EQ(trace.totals.supersteps, supersteps);
  EXPECT_EQ(trace.totals.cycles, Cycles(100 * supersteps));
  EXPECT_EQ(trace.totals.exchange, Cycles(10 * supersteps));
  EXPECT_EQ(trace.totals.compute, Cycles(20 * supersteps + supersteps / 2));
  EXPECT_EQ(trace.totals.exchange + trace.totals.compute + trace.totals.sync + trace.totals.host,
            trace.totals.cycles);
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[0].cycles, Cycles(10 * supersteps));
  EXPECT_EQ(trace.steps[1].count, supersteps);
  EXPECT_EQ(trace.steps[0].cycles + trace.steps[1].cycles, trace.totals.cycles);
}

}  // namespace superstep
