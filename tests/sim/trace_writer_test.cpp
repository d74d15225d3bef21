#include "sim/trace/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/hdf5_file.h"
#include "isa/machine_config.h"
#include "sim/trace/schema.h"
#include "tests/scratch_folder.h"
#include "tests/sim/two_steps.h"

namespace superstep {
namespace {

TEST(TraceWriter, EveryLevelHoldsTheSameTotals) {
  for (const TraceLevel level : kLevels) {
    const auto path = scratch_folder() / "level.h5";
    write_trace(path, level, 10, "a");
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
    const TraceSummary trace = read_trace(path);
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.outcome, "ok");
    EXPECT_EQ(trace.level, name_of(level));
    EXPECT_EQ(trace.module, "jit_f");
    EXPECT_EQ(trace.calls, 3u);
    EXPECT_EQ(trace.provenance.at("wall_seconds"), "1.500");
    expect_totals(trace, 10);
    EXPECT_EQ(trace.flops, 160u);
    EXPECT_EQ(trace.exchange_bytes, 80u);
  }
}

TEST(TraceWriter, KeepsStepsTensorsAndTheMemoryOfTheFullestTile) {
  const auto path = scratch_folder() / "tables.h5";
  write_trace(path, TraceLevel::kSuperstep, 2, "a");
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.steps[0].info.kind, StepInfo::Kind::kExchange);
  // A trace tells nothing of the host's folders.
  EXPECT_EQ(trace.steps[1].info.source, (OpLocation{{"f.mlir", 3, 7}, {"f.py", 5, 0}}));
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

TEST(TraceWriter, StoresEqualTileRowsOnce) {
  const auto path = scratch_folder() / "profiles.h5";
  write_trace(path, TraceLevel::kTile, 1000, "a");
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  using Dims = std::vector<std::uint64_t>;
  EXPECT_EQ(file.dims("/profiles/compute/cycles"), (Dims{2, 2}));
  EXPECT_EQ(file.dims("/profiles/exchange/cycles"), (Dims{1, 2}));
  EXPECT_EQ(file.read_all<std::uint64_t>("/profiles/compute/cycles", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{20, 20, 20, 21}));
  const auto rows = file.read_all<std::uint32_t>("/supersteps/compute_profile", Hdf5Type::kU32);
  EXPECT_EQ(rows.size(), 1000u);
  EXPECT_EQ(rows[998], 0u);
  EXPECT_EQ(rows[999], 1u);
}

TEST(TraceWriter, EveryDatasetIsInTheSchemaWithItsTypeUnitAxesAndScales) {
  for (const TraceLevel level : kLevels) {
    const auto path = scratch_folder() / "schema.h5";
    write_trace(path, level, 5000, "a");
    const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
    std::size_t found = 0, listed = 0;
    std::set<std::string> beside;  // scales of other groups
    for (const std::string& group : trace_groups()) found += file.datasets(group).size();
    for (const TraceColumn& column : trace_columns()) {
      const std::string& dataset = column.path;
      EXPECT_EQ(file.exists(dataset), column.level <= level) << dataset;
      if (column.level > level) continue;
      ++listed;
      EXPECT_EQ(file.type(dataset), column.type) << dataset;
      const std::string unit(column.unit.empty() ? "1" : column.unit);
      EXPECT_EQ(std::get<std::string>(*file.attribute(dataset, "units")), unit) << dataset;
      EXPECT_EQ(std::get<std::string>(*file.attribute(dataset, "long_name")), column.meaning);
      EXPECT_EQ(std::get<std::string>(*file.attribute(dataset, "axes")), column.axes);
      std::istringstream axes{std::string(column.axes)};
      unsigned axis = 0;
      for (std::string name; axes >> name; ++axis) {
        const std::string scale(scale_of(name));
        if (scale.empty() || scale == dataset) continue;
        EXPECT_TRUE(file.has_scale(dataset, axis, scale)) << dataset << " " << name;
        EXPECT_EQ(file.dims(dataset)[axis], file.dims(scale)[0]) << dataset << " " << name;
        const std::string near =
            dataset.substr(0, dataset.rfind('/')) + scale.substr(scale.rfind('/'));
        EXPECT_TRUE(file.has_scale(dataset, axis, near)) << dataset << " " << name;
        if (near != scale) beside.insert(near);
      }
      EXPECT_EQ(file.dims(dataset).size(), axis) << dataset;
      EXPECT_NE(trace_schema_markdown().find(dataset), std::string::npos);
    }
    EXPECT_EQ(found, listed + beside.size());
    const std::string rows =
        level == TraceLevel::kSummary ? "/summary/step/count" : "/launches/launch";
    EXPECT_EQ(file.dims(rows)[0], level == TraceLevel::kSummary ? 3u : 5000u);
    for (const TraceAttribute& attribute : trace_attributes()) {
      const auto value = file.attribute(std::string(attribute.object), std::string(attribute.name));
      ASSERT_TRUE(value) << attribute.name;
      EXPECT_EQ(file.attribute_type(std::string(attribute.object), std::string(attribute.name)),
                attribute.type)
          << attribute.name;
    }
  }
}

TEST(TraceWriter, PlotsAreNexusViewsOfTheData) {
  const auto path = scratch_folder() / "plots.h5";
  write_trace(path, TraceLevel::kTile, 10, "a");
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto text = [&](const std::string& object, const std::string& name) {
    return std::get<std::string>(file.attribute(object, name).value());
  };
  EXPECT_EQ(text("/", "default"), "plots");
  EXPECT_EQ(text("/plots", "NX_class"), "NXentry");
  EXPECT_EQ(text("/plots", "default"), "phases");
  for (const TracePlot& plot : trace_plots()) {
    const std::string group = "/plots/" + std::string(plot.name);
    EXPECT_EQ(text(group, "NX_class"), "NXdata");
    const auto signal = file.dims(group + "/" + text(group, "signal"));
    const auto axes = std::get<std::vector<std::string>>(file.attribute(group, "axes").value());
    ASSERT_EQ(axes.size(), signal.size()) << group;
    for (std::size_t a = 0; a < axes.size(); ++a)
      EXPECT_EQ(file.dims(group + "/" + axes[a])[0], signal[a]) << group;
  }
}

TEST(TraceWriter, KeepsMoreDifferentRowsOfManyTilesThanAChunkHas) {
  constexpr std::uint32_t kTiles = 1472;
  constexpr std::uint64_t kRows = 3 * kProfileChunk / 2;
  ProgramImage image = two_steps();
  image.machine = load_machine("bow");
  image.entries.clear();
  for (std::uint32_t t = 0; t < kTiles; ++t) image.entries.push_back({TileId{t}, 0x4c000});
  const auto path = scratch_folder() / "many.h5";
  TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < kRows; ++k) {
    SuperstepRecord record = superstep(k, tiles);
    tiles.assign(kTiles, {10, 20, 70});
    for (std::uint64_t t = 0; t < kTiles; ++t) tiles[t].worker_busy = kTiles * k + t;
    writer.on_superstep(record);
  }
  writer.finish({});
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto busy = file.read_all<std::uint64_t>("/profiles/compute/worker_busy", Hdf5Type::kU64);
  ASSERT_EQ(busy.size(), kRows * kTiles);
  for (std::size_t i = 0; i < busy.size(); ++i) ASSERT_EQ(busy[i], i);
}

TEST(TraceWriter, StreamsHaveNameAndDirectionOfTheirKind) {
  using Kind = Stream::Kind;
  ProgramImage image = two_steps();
  const TensorType type{DType::kF32, {2}};
  image.streams.clear();
  for (const Kind kind :
       {Kind::kArgument, Kind::kResult, Kind::kGoesOn, Kind::kInfeed, Kind::kOutfeed}) {
    image.streams.push_back({.kind = kind, .position = 1, .type = type, .pieces = {}});
  }
  const auto path = scratch_folder() / "streams.h5";
  TraceWriter(path, {}, image, {}).finish({});
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  EXPECT_EQ(file.read_text("/program/stream/name"),
            (std::vector<std::string>{"arg1", "result1", "goes_on", "infeed1", "outfeed1"}));
  EXPECT_EQ(file.read_all<std::uint8_t>("/program/stream/direction", Hdf5Type::kU8),
            (std::vector<std::uint8_t>{0, 1, 0, 0, 1}))
      << "0 to_device, 1 to_host";
}

TEST(TraceWriter, AStepThatComputesAfterAnotherHasItsShare) {
  ProgramImage image = two_steps();
  StepInfo more = image.info.steps[1];
  more.name = "exp.2";
  more.flops = 3;
  image.info.steps.push_back(more);
  image.info.step_memory.push_back({1900, 600, 1500, 0});
  const auto path = scratch_folder() / "shares.h5";
  TraceWriter writer(path, {}, image, {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < 4; ++k) {
    SuperstepRecord record = superstep(0, tiles);
    record.number = k;
    record.shares = {{1, 5}, {2, 15}};
    writer.on_superstep(record);
  }
  writer.finish({});
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.flops, 4u * 19);
  EXPECT_EQ(trace.steps[1].compute, 20_cycles);
  EXPECT_EQ(trace.steps[2].compute, 60_cycles);
  EXPECT_EQ(trace.steps[2].count, 4u);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  EXPECT_EQ(file.read_all<std::uint64_t>("/supersteps/live_bytes", Hdf5Type::kU64)[0], 2500u);
  EXPECT_EQ(file.read_all<std::uint64_t>("/supersteps/predicted_cycles", Hdf5Type::kU64)[0], 9u);
  EXPECT_EQ(file.read_all<std::uint64_t>("/launches/cycles", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{5, 15, 5, 15, 5, 15, 5, 15}));
}

TEST(TraceWriter, EqualRunsMakeEqualBytes) {
  const auto bytes = [](const std::string& name) {
    const auto path = scratch_folder() / name;
    write_trace(path, TraceLevel::kTile, 9000, "a");
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes("superstep_one.h5"), bytes("superstep_two.h5"));
}

TEST(TraceWriter, KeepsASuperstepOfMoreRowsThanWaitForTheFile) {
  const auto path = scratch_folder() / "long.h5";
  constexpr std::uint64_t kRows = (std::uint64_t{1} << 18) + 1000;
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kVertex}, image, {});
  add_superstep(writer, 0);
  for (std::uint64_t i = 0; i < kRows; ++i) {
    writer.observer()->on_worker_run(TileId{1},
                                     {.launch = 100 + i, .begin = 101 + i, .end = 102 + i});
  }
  std::vector<TilePhase> tiles;
  writer.on_superstep(superstep(1, tiles));
  add_superstep(writer, 2);
  writer.finish({});
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto begin = file.read_all<std::uint64_t>("/vertices/start_cycle", Hdf5Type::kU64);
  const auto of = file.read_all<std::uint64_t>("/vertices/superstep", Hdf5Type::kU64);
  ASSERT_EQ(begin.size(), kRows + 8);
  EXPECT_EQ(begin[4], 101U);
  EXPECT_EQ(begin[4 + kRows - 1], 100 + kRows);
  EXPECT_EQ(std::ranges::count(of, 1U), static_cast<std::ptrdiff_t>(kRows));
  EXPECT_TRUE(std::ranges::is_sorted(of));
}

TEST(TraceWriter, KeepsSuperstepsOfMoreThan2To32Cycles) {
  constexpr std::uint64_t kLong = std::uint64_t{1} << 33;
  const auto path = scratch_folder() / "long.h5";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
  std::vector<TilePhase> tiles;
  SuperstepRecord record = superstep(0, tiles);
  tiles[1].compute += kLong;
  tiles[1].instructions.all = kLong;
  tiles[1].worker_busy = 6 * kLong;
  record.compute += Cycles(kLong);
  record.end += Cycles(kLong);
  record.shares = {{1, record.compute.value()}};
  writer.on_superstep(record);
  writer.finish({});
  EXPECT_EQ(read_trace(path).totals.cycles, Cycles(100 + kLong));
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto last = [&](const std::string& column) {
    return file.read_all<std::uint64_t>(column, Hdf5Type::kU64).back();
  };
  EXPECT_EQ(last("/supersteps/compute_cycles_max"), 20 + kLong);
  EXPECT_EQ(last("/profiles/compute/cycles"), 20 + kLong);
  EXPECT_EQ(last("/profiles/compute/instructions"), kLong);
  EXPECT_EQ(last("/profiles/compute/worker_busy"), 6 * kLong);
}

TEST(TraceWriter, HasInstructionsByClassAndHowFarWordsGo) {
  const auto path = scratch_folder() / "classes.h5";
  const ProgramImage image = two_steps();
  TraceWriter writer(path, {.level = TraceLevel::kTile}, image, {});
  std::vector<TilePhase> tiles;
  SuperstepRecord record = superstep(0, tiles);
  tiles[1].instructions = {.all = 9, .aux = 4, .amp = 3, .loads = 2, .stores = 1, .branches = 1};
  tiles[1].word_rows = 12;
  tiles[1].word_columns = 34;
  record.worker_instructions = tiles[1].instructions;
  record.worker_instructions += tiles[1].instructions;
  record.word_rows = 56;
  record.word_columns = 78;
  writer.on_superstep(record);
  writer.finish({});
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto numbers_of = [&](const std::string& group, const auto& columns) {
    std::vector<std::uint64_t> last;
    for (const char* column : columns) {
      last.push_back(file.read_all<std::uint64_t>(group + column, Hdf5Type::kU64).back());
    }
    return last;
  };
  constexpr const char* kClasses[] = {
      "instructions",      "main_instructions",  "aux_instructions",   "amp_instructions",
      "load_instructions", "store_instructions", "branch_instructions"};
  constexpr const char* kWays[] = {"word_rows", "word_columns"};
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(numbers_of("/supersteps/", kClasses), (Numbers{18, 10, 8, 6, 4, 2, 2}));
  EXPECT_EQ(numbers_of("/profiles/compute/", kClasses), (Numbers{9, 5, 4, 3, 2, 1, 1}));
  EXPECT_EQ(numbers_of("/supersteps/", kWays), (Numbers{56, 78}));
  EXPECT_EQ(numbers_of("/profiles/exchange/", kWays), (Numbers{12, 34}));
}

}  // namespace
}  // namespace superstep
