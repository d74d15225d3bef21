#include "sim/trace/trace.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "base/output_file.h"
#include "isa/sync_zones.h"
#include "sim/trace/schema.h"
#include "tests/gc200.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

/// Two tiles, two steps: an exchange and a compute set.
ProgramImage two_steps() {
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
SuperstepRecord superstep(std::uint64_t k, std::vector<TilePhase>& tiles) {
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

constexpr TraceLevel kLevels[] = {TraceLevel::kSummary, TraceLevel::kSuperstep, TraceLevel::kTile,
                                  TraceLevel::kVertex, TraceLevel::kInstruction};

/// Gives the writer superstep `k`, in which workers of each tile run.
void add_superstep(TraceWriter& writer, std::uint64_t k) {
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

void write(const std::filesystem::path& path, TraceLevel level, std::uint64_t supersteps,
           const std::string& host) {
  TraceWriter writer(
      path,
      {.level = level, .calls = 3, .report = [](const TraceSummary&) { return std::string("{}"); }},
      two_steps(), {{"host", host}});
  for (std::uint64_t k = 0; k < supersteps; ++k) add_superstep(writer, k);
  writer.finish({}, {{"wall_seconds", 1.5}});
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
  for (const TraceLevel level : kLevels) {
    const auto path = scratch_folder() / "level.h5";
    write(path, level, 10, "a");
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

TEST(Trace, KeepsStepsTensorsAndTheMemoryOfTheFullestTile) {
  const auto path = scratch_folder() / "tables.h5";
  write(path, TraceLevel::kSuperstep, 2, "a");
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

TEST(Trace, StoresEqualTileRowsOnce) {
  const auto path = scratch_folder() / "profiles.h5";
  write(path, TraceLevel::kTile, 1000, "a");
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

/// The type of a dataset as the schema names it.
std::string type_of(const Hdf5File& file, const std::string& dataset) {
  return std::string(name_of(file.type(dataset)));
}

TEST(Trace, EveryDatasetIsInTheSchemaWithItsTypeUnitAxesAndScales) {
  for (const TraceLevel level : kLevels) {
    const auto path = scratch_folder() / "schema.h5";
    write(path, level, 5000, "a");
    const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
    std::size_t found = 0, listed = 0;
    std::set<std::string> beside;  // scales of other groups
    for (const std::string& group : trace_groups()) found += file.datasets(group).size();
    for (const TraceColumn& column : trace_columns()) {
      const std::string& dataset = column.path;
      EXPECT_EQ(file.exists(dataset), column.level <= level) << dataset;
      if (column.level > level) continue;
      ++listed;
      EXPECT_EQ(type_of(file, dataset), name_of(column.type)) << dataset;
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

TEST(Trace, PlotsAreNexusViewsOfTheData) {
  const auto path = scratch_folder() / "plots.h5";
  write(path, TraceLevel::kTile, 10, "a");
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

TEST(Trace, ProfilesEndAtTheSizeLimitAndTheRestGoesOn) {
  const auto path = scratch_folder() / "limit.h5";
  TraceWriter writer(path, {.level = TraceLevel::kTile, .max_bytes = 1}, two_steps(), {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < 10; ++k) writer.on_superstep(superstep(k, tiles));
  writer.finish({});
  expect_totals(read_trace(path), 10);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  const auto rows = file.read_all<std::uint32_t>("/supersteps/compute_profile", Hdf5Type::kU32);
  // The first superstep was flushed, which is when the limit was seen.
  EXPECT_EQ(rows[0], 0u);
  EXPECT_EQ(rows[1], kNoProfile);
  EXPECT_EQ(rows[9], kNoProfile);
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kLimit);
  EXPECT_EQ(trace.events[0].cycle, 100_cycles);
}

TEST(Trace, RowsOfLevelsBelowTileEndWithThoseOfTiles) {
  const auto path = scratch_folder() / "limit.h5";
  TraceWriter writer(path, {.level = TraceLevel::kInstruction, .max_bytes = 1}, two_steps(), {});
  for (std::uint64_t k = 0; k < 10; ++k) add_superstep(writer, k);
  writer.finish({});
  expect_totals(read_trace(path), 10);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  for (const char* column : {"/vertices/superstep", "/instructions/superstep"}) {
    EXPECT_EQ(file.read_all<std::uint64_t>(column, Hdf5Type::kU64),
              std::vector<std::uint64_t>(4, 0))
        << column;
  }
}

TEST(Trace, WarnsOnceOfStepsWhoseRowsOfTilesRarelyRepeat) {
  const auto path = scratch_folder() / "varied.h5";
  TraceWriter writer(path, {.level = TraceLevel::kTile}, two_steps(), {});
  std::vector<TilePhase> tiles;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    SuperstepRecord record = superstep(k, tiles);
    tiles[0].instructions.all = k;
    writer.on_superstep(record);
  }
  writer.finish({});
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kWarning);
  EXPECT_NE(trace.events[0].text.find("add.1"), std::string::npos) << trace.events[0].text;
}

TEST(Trace, KeepsMoreDifferentRowsOfManyTilesThanAChunkHas) {
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

TEST(Trace, ATrapIsAnEventWithItsTile) {
  const ProgramImage image = two_steps();
  const auto tiles = static_cast<std::int32_t>(image.machine.tiles());
  for (const std::int32_t chip : {0, 1}) {
    const auto path = scratch_folder() / "trap.h5";
    TraceWriter writer(path, {}, image, {});
    RunResult result;
    result.trap = Trap{.cycle = Cycles(77),
                       .chip = ChipId{static_cast<std::uint32_t>(chip)},
                       .tile = TileId{1},
                       .context = "worker 2",
                       .pc = 0x4c010,
                       .cause = std::string(200, 'x')};
    writer.finish(result);
    const TraceSummary trace = read_trace(path);
    EXPECT_EQ(trace.outcome, "trap");
    ASSERT_EQ(trace.events.size(), 1u);
    EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kTrap);
    EXPECT_EQ(trace.events[0].cycle, 77_cycles);
    EXPECT_EQ(trace.events[0].tile, chip * tiles + 1);
    EXPECT_EQ(trace.events[0].text, std::string(120, 'x'));
  }
}

TEST(Trace, StreamsHaveNameAndDirectionOfTheirKind) {
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

TEST(Trace, AStepThatComputesAfterAnotherHasItsShare) {
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

TEST(Trace, AProgramThatDoesNotFitLeavesItsMemory) {
  const auto path = scratch_folder() / "oom.h5";
  const ProgramImage image = two_steps();
  write_memory_trace(path, {}, image.machine, image.info, {});
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kOom);
  EXPECT_EQ(trace.events[0].tile, 1);
  EXPECT_EQ(trace.events[0].text, "does not fit: tile 1 needs 1200 B in add.1");
  EXPECT_EQ(trace.outcome, "oom");
  EXPECT_EQ(trace.worst_tile_bytes, 1100u);
  EXPECT_EQ(trace.totals.supersteps, 0u);
}

TEST(Trace, EqualRunsMakeEqualBytes) {
  const auto bytes = [](const std::string& name) {
    const auto path = scratch_folder() / name;
    write(path, TraceLevel::kTile, 9000, "a");
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(bytes("superstep_one.h5"), bytes("superstep_two.h5"));
}

/// Writes `supersteps` of a trace in a process that then kills itself.
void write_and_die(const std::filesystem::path& path, TraceLevel level, std::uint64_t supersteps) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    TraceWriter writer(path, {.level = level}, two_steps(), {});
    for (std::uint64_t k = 0; k < supersteps; ++k) add_superstep(writer, k);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(Trace, SurvivesAKilledWriterUpToItsLastFlush) {
  for (const TraceLevel level : kLevels) {
    const auto path = scratch_folder() / "killed.h5";
    const auto part = std::filesystem::path(path.string() + ".part");
    write_and_die(path, level, 2 * kSuperstepChunk + 10);
    EXPECT_FALSE(std::filesystem::exists(path));
    try {
      (void)read_trace(path);
      FAIL() << "is there";
    } catch (const InputOutputError& error) {
      EXPECT_NE(std::string(error.what()).find("is not there, but " + part.string() + " is"),
                std::string::npos)
          << error.what();
    }
    const TraceSummary left = read_trace(part);
    EXPECT_FALSE(left.complete);
    EXPECT_EQ(left.outcome, "running");
    expect_totals(left, 2 * kSuperstepChunk);
    const auto mended = scratch_folder() / "mended.h5";
    repair_trace(part, mended);
    const TraceSummary trace = read_trace(mended);
    EXPECT_TRUE(trace.complete);
    EXPECT_EQ(trace.outcome, "interrupted");
    EXPECT_EQ(trace.level, name_of(level));
    expect_totals(trace, 2 * kSuperstepChunk);
    const Hdf5File file = Hdf5File::open(mended, Hdf5File::Access::kRead);
    EXPECT_EQ(file.exists("/supersteps/step"), level != TraceLevel::kSummary);
    ASSERT_EQ(file.exists("/vertices/vertex"), level >= TraceLevel::kVertex);
    if (level < TraceLevel::kVertex) continue;
    const auto of = file.read_all<std::uint64_t>("/vertices/superstep", Hdf5Type::kU64);
    ASSERT_EQ(of.size(), 4 * 2 * kSuperstepChunk) << "of whole supersteps";
    EXPECT_EQ(of.back(), 2 * kSuperstepChunk - 1);
    if (level < TraceLevel::kInstruction) continue;
    EXPECT_EQ(file.read_all<std::uint64_t>("/instructions/superstep", Hdf5Type::kU64), of);
  }
}

/// The event of three supersteps, of which `tell` says that the last two have too much; `most` is
/// what the writer asks for.
TraceEvent event_of_limit(TraceLevel level, std::uint64_t Watch::*most, std::uint64_t expected,
                          void (Observer::*tell)()) {
  const auto path = scratch_folder() / "many.h5";
  TraceWriter writer(path, {.level = level}, two_steps(), {});
  EXPECT_EQ(writer.observer()->watch().*most, expected);
  for (std::uint64_t k = 0; k < 3; ++k) {
    if (k > 0) (writer.observer()->*tell)();
    std::vector<TilePhase> tiles;
    writer.on_superstep(superstep(k, tiles));
  }
  writer.finish({});
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.events.size(), 1U);
  const TraceEvent event = trace.events.empty() ? TraceEvent{} : trace.events[0];
  EXPECT_EQ(event.kind, TraceEvent::Kind::kLimit);
  EXPECT_EQ(event.cycle, 100_cycles);
  return event;
}

TEST(Trace, SaysOnceThatSuperstepsHaveMoreWorkerRunsThanItKeeps) {
  const TraceEvent event = event_of_limit(TraceLevel::kVertex, &Watch::most_worker_runs,
                                          kMostWorkerRuns, &Observer::on_too_many_worker_runs);
  EXPECT_EQ(event.text,
            "superstep 1 has more than 4194304 worker runs: none are kept, nor of others like it; "
            "--trace-tiles takes fewer tiles");
}

TEST(Trace, KeepsASuperstepOfMoreRowsThanWaitForTheFile) {
  const auto path = scratch_folder() / "long.h5";
  constexpr std::uint64_t kRows = (std::uint64_t{1} << 18) + 1000;
  TraceWriter writer(path, {.level = TraceLevel::kVertex}, two_steps(), {});
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

TEST(Trace, SaysOnceThatSuperstepsHaveMoreInstructionsThanItKeeps) {
  const TraceEvent event = event_of_limit(TraceLevel::kInstruction, &Watch::most_instructions,
                                          kMostInstructions, &Observer::on_too_many_instructions);
  EXPECT_TRUE(event.text.starts_with("superstep 1 has more than 4194304 instructions"))
      << event.text;
}

TEST(Trace, AWriterThatIsKilledEarlyLeavesItsFirstSupersteps) {
  const auto path = scratch_folder() / "early.h5";
  write_and_die(path, TraceLevel::kSummary, 11);
  expect_totals(read_trace(path.string() + ".part"), 8);
}

TEST(Trace, KeepsSuperstepsOfMoreThan2To32Cycles) {
  constexpr std::uint64_t kLong = std::uint64_t{1} << 33;
  const auto path = scratch_folder() / "long.h5";
  TraceWriter writer(path, {.level = TraceLevel::kTile}, two_steps(), {});
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

TEST(Trace, HasInstructionsByClassAndHowFarWordsGo) {
  const auto path = scratch_folder() / "classes.h5";
  TraceWriter writer(path, {.level = TraceLevel::kTile}, two_steps(), {});
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

TEST(Trace, AFinishedOneNeedsNoRepair) {
  const auto path = scratch_folder() / "finished.h5", mended = scratch_folder() / "mended.h5";
  write(path, TraceLevel::kSuperstep, 10, "a");
  EXPECT_FALSE(repair_trace(path, mended));
  EXPECT_FALSE(std::filesystem::exists(mended));
}

TEST(Trace, IsWholeThoughItsUnfinishedFileWasTakenAway) {
  const auto path = scratch_folder() / "run.h5", part = scratch_folder() / "run.h5.part";
  for (const TraceLevel level : kLevels) {
    for (const bool is_replaced : {false, true}) {
      TraceWriter writer(path, {.level = level}, two_steps(), {});
      for (std::uint64_t k = 0; k < 3; ++k) add_superstep(writer, k);
      std::filesystem::remove(part);
      if (is_replaced) std::ofstream(part) << "somebody's";
      for (std::uint64_t k = 3; k < 200; ++k) add_superstep(writer, k);
      writer.finish({});
      expect_totals(read_trace(path), 200);
      EXPECT_EQ(std::filesystem::exists(part), is_replaced) << "it stays with who put it there";
      std::filesystem::remove(part);
    }
  }
}

TEST(Trace, WhoseUnfinishedFileWasOverwrittenIsAnErrorThatNamesIt) {
  const auto path = scratch_folder() / "run.h5", part = scratch_folder() / "run.h5.part";
  TraceWriter writer(path, {.level = TraceLevel::kTile}, two_steps(), {});
  for (std::uint64_t k = 0; k < 5000; ++k) add_superstep(writer, k);
  std::ofstream(part, std::ios::in) << std::string(std::filesystem::file_size(part), 'x');
  try {
    writer.finish({});
    FAIL() << "it was finished";
  } catch (const InputOutputError& error) {
    EXPECT_NE(std::string(error.what()).find(part.string()), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Trace, SaysWhereTheRunWasInterrupted) {
  const auto path = scratch_folder() / "interrupted.h5";
  TraceWriter writer(path, {.calls = 7}, two_steps(), {});
  std::vector<TilePhase> tiles;
  for (std::uint32_t call : {4U, 5U}) {  // behind a checkpoint it is not the first
    SuperstepRecord record = superstep(call - 4, tiles);
    record.call = call;
    writer.on_superstep(record);
  }
  RunResult result;
  result.interrupted = true;
  result.place = "cycle 200, superstep 2, add.1 of f.py:5";
  writer.finish(result);
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].text,
            "the run was interrupted in call 2 of 7, behind cycle 200, superstep 2, add.1 of "
            "f.py:5");
}

TEST(Trace, IsNotRepairedWhileItIsWritten) {
  const auto path = scratch_folder() / "whole.h5", part = scratch_folder() / "whole.h5.part";
  write_and_die(path, TraceLevel::kSuperstep, 11);
  const FileLock writer(path);
  for (const auto& out : {path, scratch_folder() / "other.h5"}) {
    EXPECT_THROW((void)repair_trace(part, out), InputOutputError);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

/// Ten supersteps of `two_steps` by the program that wrote format 1.0.0, which had profiles of u4.
TEST(Trace, ReadsAndRepairsTracesOfOlderFormats) {
  const auto old = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/sim/format_1.0.0.h5.part";
  expect_totals(read_trace(old), 8);
  const auto mended = scratch_folder() / "newer.h5";
  repair_trace(old, mended);
  const TraceSummary trace = read_trace(mended);
  EXPECT_EQ(trace.format_version, "1.0.0") << "it lacks what later formats have";
  expect_totals(trace, 8);
  EXPECT_EQ(trace.assumed.sync, trace.totals.sync) << "it does not say";
  const Hdf5File file = Hdf5File::open(mended, Hdf5File::Access::kRead);
  EXPECT_EQ(type_of(file, "/profiles/compute/cycles"), "u8");
  EXPECT_EQ(file.read_all<std::uint64_t>("/profiles/compute/cycles", Hdf5Type::kU64),
            (std::vector<std::uint64_t>{20, 20, 20, 21}));
}

TEST(Trace, SaysWhereSyncAndHostCyclesComeFrom) {
  ProgramImage image = two_steps();
  const MachineSources sources = {
      {"sync.internal_latency", "derived: a"}, {"sync.skew_per_row", "measured: b"},
      {"sync.column_skew", "published: c"},    {"sync.external_latency", "assumed: d"},
      {"tile.clock", "published: e"},          {"host.bandwidth", "published: f"},
      {"host.packet_overhead", "user: g"},     {"host.phase_latency", "derived: h"},
      {"host.to_tile_packet", "published: i"}, {"host.to_host_packet", "extrapolated: j"}};
  const auto path = scratch_folder() / "sources.h5", killed = scratch_folder() / "killed.h5";
  const auto write_to = [&](const std::filesystem::path& to, bool finish) {
    TraceWriter writer(to, {.sources = sources}, image, {});
    std::vector<TilePhase> tiles;
    SuperstepRecord record = superstep(0, tiles);
    writer.on_superstep(record);
    record.number = 1;
    record.zone = kZoneExternal;
    writer.on_superstep(record);
    record.number = 2;
    record.host = record.exchange + record.compute + record.sync;
    record.exchange = record.compute = record.sync = {};
    record.shares = {};
    writer.on_superstep(record);
    record.number = 3;
    writer.on_superstep(record);
    if (finish) writer.finish({});
  };
  write_to(path, true);
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  using Numbers = std::vector<std::uint8_t>;
  const auto of = [&](const std::string& column) {
    return file.read_all<std::uint8_t>(column, Hdf5Type::kU8);
  };
  constexpr std::uint8_t kDerived = 2, kAssumed = 3;
  const Numbers sync = of("/supersteps/sync_cost_source");
  EXPECT_EQ(Numbers(sync.begin(), sync.begin() + 2), (Numbers{kDerived, kAssumed}));
  EXPECT_EQ(of("/supersteps/host_cost_source"), Numbers(4, kAssumed));
  const std::vector<std::string> keys = file.read_text("/machine/parameter/name");
  const Numbers kinds = of("/machine/parameter/cost_source");
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto source = sources.find(keys[k].substr(0, keys[k].find('[')));
    const std::string kind =
        source == sources.end() ? "assumed" : source->second.substr(0, source->second.find(':'));
    EXPECT_EQ(kCostSources[kinds[k]], kind) << keys[k];
  }
  const TraceSummary trace = read_trace(path);
  EXPECT_EQ(trace.assumed.sync, 70_cycles);
  EXPECT_EQ(trace.assumed.host, 200_cycles);
  EXPECT_EQ(trace.totals.sync, 140_cycles);
  write_to(killed, false);
  const TraceSummary left = read_trace(killed.string() + ".part");
  EXPECT_EQ(left.assumed.sync, 70_cycles);
  EXPECT_EQ(left.assumed.host, 200_cycles);
}

TEST(Trace, PartsOfBuiltinMachinesRestOnTheLeastCertainOfTheirNumbers) {
  for (const std::string& name : builtin_machines()) {
    const PartSources sources = part_sources(load_machine(name), machine_sources(name));
    EXPECT_EQ(sources.exchange, CostSource::kDerived) << name;
    EXPECT_EQ(sources.compute, CostSource::kDerived) << name;
    EXPECT_EQ(sources.internal_sync, CostSource::kDerived) << name;
    EXPECT_EQ(sources.external_sync, CostSource::kAssumed) << name;
    EXPECT_EQ(sources.host, CostSource::kAssumed) << name;
  }
  const std::vector<std::string> external = {"sync.external_latency=100 ns"};
  EXPECT_EQ(
      part_sources(load_machine("bow", external), machine_sources("bow", external)).external_sync,
      CostSource::kUser);
}

TEST(Trace, AnExchangeRestsOnTheNumbersOfItsFabric) {
  const auto sources = [](const std::vector<std::string>& overrides) {
    return part_sources(load_machine("gc200", overrides), machine_sources("gc200", overrides));
  };
  EXPECT_EQ(sources({"exchange.fabric=mesh"}).exchange, CostSource::kAssumed);
  EXPECT_EQ(sources({"exchange.fabric=ring"}).exchange, CostSource::kAssumed);
  const std::vector<std::string> known = {"exchange.fabric=mesh", "exchange.port_latency=9 cycles",
                                          "exchange.hop_latency=2 cycles"};
  EXPECT_EQ(sources(known).exchange, CostSource::kUser);
  EXPECT_EQ(sources({"grid.rows=40"}).exchange, CostSource::kExtrapolated);
  EXPECT_EQ(sources({"grid.rows=40"}).compute, CostSource::kDerived);
  EXPECT_EQ(sources({"costs.runall=7 cycles"}).compute, CostSource::kUser);
}

TEST(Trace, AScaledNumberIsNoMoreCertainThanTheOneThatWasScaled) {
  const std::vector<std::string> scaled = {"host.*=x1", "sync.*=x2"};
  const PartSources sources =
      part_sources(load_machine("bow", scaled), machine_sources("bow", scaled));
  EXPECT_EQ(sources.internal_sync, CostSource::kUser);  // derived before
  EXPECT_EQ(sources.external_sync, CostSource::kAssumed);
  EXPECT_EQ(sources.host, CostSource::kAssumed);
  const std::vector<std::string> twice = {"sync.external_latency=x2", "sync.external_latency=x0.5"};
  EXPECT_EQ(part_sources(load_machine("bow", twice), machine_sources("bow", twice)).external_sync,
            CostSource::kAssumed);
}

TEST(Trace, EveryKindOfSourceHasANumber) {
  EXPECT_EQ(std::set<std::string>(std::begin(kCostSources), std::end(kCostSources)),
            std::set<std::string>(source_kinds().begin(), source_kinds().end()));
}

TEST(Trace, RefusesDamagedForeignAndMissingFiles) {
  const auto path = scratch_folder() / "whole.h5";
  write(path, TraceLevel::kSuperstep, 100, "a");
  const auto cut = scratch_folder() / "cut.h5";
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{3000},
                                    std::filesystem::file_size(path) / 2}) {
    std::filesystem::copy_file(path, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, size);
    EXPECT_NE(refusal_of(cut), "accepted") << size;
  }
  const auto tests = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests";
  // The library reads what a writer may be changing again and again: not for ever.
  std::filesystem::copy_file(tests / "sim/format_1.0.0.h5.part", cut,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  EXPECT_NE(refusal_of(cut), "accepted");
  EXPECT_NE(refusal_of(tests / "sim" / "trace_test.cpp").find("is not an HDF5 file"),
            std::string::npos);
  EXPECT_NE(refusal_of(tests / "base" / "h5py_types.h5").find("not a Superstep trace"),
            std::string::npos);
  EXPECT_THROW((void)read_trace(scratch_folder() / "none.h5"), InputOutputError);
  EXPECT_THROW((void)read_trace(scratch_folder()), InputOutputError);
}

}  // namespace
}  // namespace superstep
