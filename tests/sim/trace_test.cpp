#include "sim/trace/trace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

std::filesystem::path scratch(const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove(path);
  std::filesystem::remove(path.string() + ".part");
  return path;
}

/// Two tiles, two steps: an exchange and a compute set.
ProgramImage two_steps() {
  ProgramImage image;
  image.machine.name = "two";
  image.machine.grid = {1, 2, 1};
  image.machine.sync.column_skew = {0, 4};
  image.entries = {{TileId{0}, 0x4c000}, {TileId{1}, 0x4c000}};
  image.info.module = "jit_f";
  StepInfo move;
  move.kind = StepInfo::Kind::kExchange;
  move.name = "exchange.1";
  move.bound_cycles = 8;
  StepInfo add;
  add.name = "add.1";
  add.operation = "stablehlo.add";
  add.source = {"f.py", 3, 7};
  add.flops = 16;
  image.info.steps = {move, add};
  image.info.memory = {{"codelets", {100, 300}}, {"variables", {1000, 700}}};
  image.info.tensors = {{"x", {DType::kF32, {4, 2}}, {"f.py", 2, 1}, 64, 32}};
  return image;
}

/// Superstep `k` of a run that alternates between two tile profiles; 100 cycles each.
SuperstepRecord superstep(std::uint64_t k, std::vector<TilePhase>& tiles) {
  tiles = {{10, 20, 70}, {10, static_cast<std::uint32_t>(20 + k % 2), 70}};
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
  record.worker_instructions = 5;
  record.tiles = &tiles;
  return record;
}

void write(const std::filesystem::path& path, TraceLevel level, std::uint64_t supersteps,
           const std::string& host) {
  TraceWriter writer(path, level, two_steps(), {{"host", host}});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < supersteps; ++k) writer.on_superstep(superstep(k, tiles));
  writer.finish({}, {{"wall_seconds", "1.5"}});
}

void expect_totals(const TraceSummary& trace, std::uint64_t supersteps) {
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

std::string refusal_of(const std::filesystem::path& path) {
  try {
    (void)read_trace(path);
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kDamagedTrace);
    return error.what();
  }
  return "accepted";
}

TEST(Trace, EveryLevelHoldsTheSameTotals) {
  for (const TraceLevel level : {TraceLevel::kSummary, TraceLevel::kSuperstep, TraceLevel::kTile}) {
    const auto path = scratch("superstep_level.h5");
    write(path, level, 10, "a");
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
    const TraceSummary trace = read_trace(path);
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.outcome, "ok");
    EXPECT_EQ(trace.level, name_of(level));
    EXPECT_EQ(trace.module, "jit_f");
    EXPECT_EQ(trace.provenance.at("wall_seconds"), "1.5");
    expect_totals(trace, 10);
    EXPECT_EQ(trace.flops, 160u);
    EXPECT_EQ(trace.exchange_bytes, 80u);
  }
}

TEST(Trace, KeepsStepsTensorsAndTheMemoryOfTheFullestTile) {
  const auto path = scratch("superstep_tables.h5");
  write(path, TraceLevel::kSuperstep, 2, "a");
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.steps[0].info.kind, StepInfo::Kind::kExchange);
  EXPECT_EQ(trace.steps[1].info.source, (SourceLocation{"f.py", 3, 7}));
  // Supersteps take 20 + 70 and 21 + 69 cycles besides the exchange: the first of equals counts.
  EXPECT_EQ(trace.steps[1].worst, TileId{0});
  EXPECT_EQ(trace.worst_tile, TileId{0});
  EXPECT_EQ(trace.worst_tile_bytes, 1100u);
  ASSERT_EQ(trace.worst_tile_memory.size(), 2u);
  EXPECT_EQ(trace.worst_tile_memory[1].first, "variables");
  EXPECT_EQ(trace.worst_tile_memory[1].second, 1000u);
  ASSERT_EQ(trace.tensors.size(), 1u);
  EXPECT_EQ(trace.tensors[0].type, (TensorType{DType::kF32, {4, 2}}));
  // Tile cycles 20+20 and 20+21, peaks 20 and 21.
  EXPECT_DOUBLE_EQ(trace.balance, 81.0 / 82.0);
}

TEST(Trace, StoresEqualTileRowsOnce) {
  const auto path = scratch("superstep_profiles.h5");
  write(path, TraceLevel::kTile, 1000, "a");
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  EXPECT_EQ(file.dims("/profiles/compute_cycles"), (std::vector<std::uint64_t>{2, 2}));
  const auto rows = file.read_all<std::uint32_t>("/supersteps/profile", Hdf5Type::kU32);
  EXPECT_EQ(rows.size(), 1000u);
  EXPECT_EQ(rows[998], 0u);
  EXPECT_EQ(rows[999], 1u);
}

TEST(Trace, EveryDatasetHasUnitMeaningAndAxesAndIsInTheSchema) {
  const auto path = scratch("superstep_schema.h5");
  write(path, TraceLevel::kTile, 5000, "a");
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  std::size_t found = 0;
  for (const std::string_view group : trace_groups()) {
    for (const std::string& name : file.datasets(std::string(group))) {
      const std::string dataset = std::string(group) + "/" + name;
      ++found;
      for (const char* attribute : {"units", "long_name", "axes"}) {
        EXPECT_TRUE(file.attribute(dataset, attribute).has_value()) << dataset << attribute;
      }
    }
  }
  EXPECT_EQ(found, trace_columns().size());
  for (const TraceAttribute& attribute : trace_attributes()) {
    EXPECT_TRUE(file.attribute(std::string(attribute.object), std::string(attribute.name)))
        << attribute.name;
  }
  for (const TraceColumn& column : trace_columns()) {
    EXPECT_NE(trace_schema_markdown().find(std::string(column.path)), std::string::npos);
  }
}

TEST(Trace, EqualRunsMakeEqualBytes) {
  const auto bytes = [](const std::string& name) {
    const auto path = scratch(name);
    write(path, TraceLevel::kTile, 9000, "a");
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes("superstep_one.h5"), bytes("superstep_two.h5"));
}

TEST(Trace, SurvivesAKilledWriterUpToItsLastFlush) {
  const auto path = scratch("superstep_killed.h5");
  const auto part = std::filesystem::path(path.string() + ".part");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TraceWriter writer(path, TraceLevel::kTile, two_steps(), {});
    std::vector<TilePhase> tiles;
    for (std::uint64_t k = 0; k < 2 * kSuperstepChunk + 10; ++k) {
      writer.on_superstep(superstep(k, tiles));
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(std::filesystem::exists(path));
  const TraceSummary left = read_trace(part);
  EXPECT_FALSE(left.complete);
  EXPECT_EQ(left.outcome, "running");
  expect_totals(left, 2 * kSuperstepChunk);
  const auto mended = scratch("superstep_mended.h5");
  repair_trace(part, mended);
  const TraceSummary trace = read_trace(mended);
  EXPECT_TRUE(trace.complete);
  EXPECT_EQ(trace.outcome, "interrupted");
  expect_totals(trace, 2 * kSuperstepChunk);
}

TEST(Trace, RefusesDamagedForeignAndMissingFiles) {
  const auto path = scratch("superstep_whole.h5");
  write(path, TraceLevel::kSuperstep, 100, "a");
  const auto cut = scratch("superstep_cut.h5");
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{3000},
                                    std::filesystem::file_size(path) / 2}) {
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, size);
    EXPECT_NE(refusal_of(cut), "accepted") << size;
  }
  const auto tests = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests";
  EXPECT_NE(refusal_of(tests / "sim" / "trace_test.cpp").find("not a readable HDF5 file"),
            std::string::npos);
  EXPECT_NE(refusal_of(tests / "base" / "h5py_types.h5").find("not a Superstep trace"),
            std::string::npos);
  EXPECT_NE(refusal_of(scratch("superstep_none.h5")).find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace superstep
