// Levels below tile, and the windows of their rows.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <set>

#include "base/files.h"
#include "base/hdf5_file.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "sim/trace/trace_file.h"
#include "sim/trace/schema.h"
#include "tests/tools/program.h"
#include "tools/tensors.h"

namespace superstep {
namespace {

constexpr const char* kRun =
    "run models/linear_regression/train_step.mlir -m tiny4 --input random:1 --repeat 3 -q ";

/// A trace of three calls of linear_regression on tiny4.
std::filesystem::path traced(const std::string& name, const std::string& options) {
  const std::filesystem::path path = scratch_folder() / (name + ".h5");
  const ProgramRun run = superstep(kRun + options + " -o " + path.string());
  EXPECT_EQ(run.code, 0) << run.err;
  const ProgramRun valid = superstep("trace validate " + path.string());
  EXPECT_EQ(valid.code, 0) << valid.err;
  return path;
}

std::vector<VertexRow> vertices_of(const std::filesystem::path& path) {
  return TraceFile(path).read(kVertices);
}

bool operator==(const VertexRow& a, const VertexRow& b) {
  bool is_equal = true;
  kVertices.for_each_column([&](const auto& column) {
    is_equal = is_equal && stored_value(column, a, 0) == stored_value(column, b, 0);
  });
  return is_equal;
}

void expect_equal(const std::vector<VertexRow>& a, const std::vector<VertexRow>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i] == b[i]) << i;
}

/// All values of the columns that a level has, but for those that say how the run was made.
std::map<std::string, std::vector<std::byte>> values_of(const std::filesystem::path& path,
                                                        TraceLevel level) {
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Access::kRead);
  std::map<std::string, std::vector<std::byte>> values;
  for (const TraceColumn& column : trace_columns()) {
    if (column.level > level || column.type == Hdf5Type::kText) continue;
    const std::vector<std::uint64_t> dims = file.dims(column.path);
    std::uint64_t bytes = size_of(column.type);
    for (const std::uint64_t length : dims) bytes *= length;
    std::vector<std::byte>& of_column = values[column.path];
    of_column.resize(bytes);
    if (bytes != 0) file.read_rows(column.path, column.type, 0, dims[0], of_column);
  }
  return values;
}

TEST(TraceLevels, HoldThoseBeforeThem) {
  const auto tile = traced("tile", "--trace tile");
  const auto vertex = traced("vertex", "--trace vertex");
  EXPECT_EQ(values_of(vertex, TraceLevel::kTile), values_of(tile, TraceLevel::kTile));
  EXPECT_FALSE(vertices_of(vertex).empty());
  EXPECT_FALSE(TraceFile(tile).has(kVertices));
}

/// 20 trips of a loop with a branch, whose second arm has no exchange.
const char* const kArms = R"(
func.func @main(%a: tensor<16x16xf32>, %v: tensor<16xf32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %v) : tensor<i32>, tensor<16xf32>
  cond {
    %end = stablehlo.constant dense<20> : tensor<i32>
    %c = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %p = stablehlo.compare EQ, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %y = "stablehlo.if"(%p) ({
      %d = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>
      stablehlo.return %d : tensor<16xf32>
    }, {
      %e = stablehlo.exponential %x : tensor<16xf32>
      %t = stablehlo.tanh %e : tensor<16xf32>
      stablehlo.return %t : tensor<16xf32>
    }) : (tensor<i1>) -> tensor<16xf32>
    stablehlo.return %next, %y : tensor<i32>, tensor<16xf32>
  }
  return %r#1 : tensor<16xf32>
})";

TEST(TraceLevels, StepsAreCountedWhicheverTileLaunchesThem) {
  const std::filesystem::path module = scratch_folder() / "arms.mlir";
  std::ofstream(module) << kArms;
  const std::filesystem::path path = scratch_folder() / "arms.h5";
  for (const char* machine : {"tiny4", "small64"}) {
    SCOPED_TRACE(machine);
    const ProgramRun run =
        superstep(fmt::format("run {} -m {} --input random:1 --trace vertex -q -o {}",
                              module.string(), machine, path.string()));
    ASSERT_EQ(run.code, 0) << run.err;
    const TraceFile trace(path);
    // Cycles of launches by step, superstep and tile.
    std::map<std::uint32_t,
             std::map<std::uint64_t, std::map<std::uint32_t, std::set<std::uint64_t>>>>
        launched;
    for (const VertexRow& v : trace.read(kVertices)) {
      launched[v.step][v.superstep][v.tile].insert(v.launch);
    }
    const std::vector<StepSums> sums = trace.read(kStepSums);
    std::uint64_t most = 0;
    for (const auto& [step, supersteps] : launched) {
      std::uint64_t runs = 0;
      for (const auto& [superstep, tiles] : supersteps) {
        std::uint64_t of_tile = 0;
        for (const auto& [tile, cycles] : tiles)
          of_tile = std::max<std::uint64_t>(of_tile, cycles.size());
        runs += of_tile;
      }
      EXPECT_EQ(sums.at(step).count, supersteps.size()) << step;
      EXPECT_EQ(sums.at(step).runs, runs) << step;
      most = std::max(most, runs);
    }
    EXPECT_EQ(most, 20U);
  }
}

TEST(TraceLevels, AreTheSameForAnyNumberOfThreads) {
  EXPECT_EQ(values_of(traced("one", "--trace vertex --threads 1"), TraceLevel::kVertex),
            values_of(traced("two", "--trace vertex --threads 2"), TraceLevel::kVertex));
}

TEST(TraceLevels, ChangeNoResult) {
  const auto results = [](const std::string& options) {
    const auto folder = scratch_folder();
    const ProgramRun run = superstep(kRun + options + " --output " + (folder / "r.h5").string());
    EXPECT_EQ(run.code, 0) << run.err;
    return text_of(folder / "r.h5");
  };
  const std::string plain = results("");
  for (const char* level : {"tile", "vertex", "instruction --trace-tiles 0-3"}) {
    const std::string path = (scratch_folder() / "t.h5").string();
    EXPECT_EQ(results(fmt::format("--trace {} -o {}", level, path)), plain) << level;
  }
}

TEST(TraceWindows, KeepTheRowsThatAreInside) {
  const std::vector<VertexRow> all = vertices_of(traced("all", "--trace vertex"));
  const auto expect_rows = [&](const std::string& options, const auto& is_inside) {
    std::vector<VertexRow> expected;
    std::ranges::copy_if(all, std::back_inserter(expected), is_inside);
    ASSERT_FALSE(expected.empty());
    ASSERT_LT(expected.size(), all.size());
    expect_equal(vertices_of(traced("some", "--trace vertex " + options)), expected);
  };
  expect_rows("--trace-supersteps 3:6",
              [](const VertexRow& row) { return row.superstep >= 3 && row.superstep < 6; });
  expect_rows("--trace-supersteps :4", [](const VertexRow& row) { return row.superstep < 4; });
  expect_rows("--trace-tiles 1,3", [](const VertexRow& row) { return row.tile % 2 == 1; });
  const std::vector<OperationRow> operations =
      TraceFile(traced("tile", "--trace tile")).read(kOperations);
  const auto is_reduce = [&](const VertexRow& row) {
    return operations[row.operation].name.starts_with("reduce.");
  };
  expect_rows("--trace-ops 'reduce.*'", is_reduce);
  expect_rows(
      "--trace-ops 'reduce.*' --trace-tiles 0-2 --trace-supersteps 5:",
      [&](const VertexRow& row) { return is_reduce(row) && row.tile < 3 && row.superstep >= 5; });
}

TEST(VertexLevel, ThatLeavesOutSuperstepsWithTooManyRunsIsValid) {
  const char* const program = "models/kmeans/kmeans.mlir";
  const auto source = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / program;
  const ProgramImage image =
      compile(import_stablehlo(read_text_file(source), program), load_machine("tiny4"));
  const std::filesystem::path path = scratch_folder() / "fewer.h5";
  TraceWriter writer(path, {.level = TraceLevel::kVertex, .most_worker_runs = 100}, image, {});
  RunOptions options;
  options.observer = writer.observer();
  options.on_superstep = [&](const SuperstepRecord& record) { writer.on_superstep(record); };
  writer.finish(run_image(image, load_arguments(image, {"random:1"}, TensorFile{}), options));
  const TraceSummary trace = read_trace(path);
  ASSERT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.events[0].kind, TraceEvent::Kind::kLimit);
  EXPECT_FALSE(vertices_of(path).empty());
  const ProgramRun valid = superstep("trace validate " + path.string());
  EXPECT_EQ(valid.code, 0) << valid.err;
}

TEST(Interruption, OfATileInASuperstepSaysTheStep) {
  const std::string endless =
      "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n"
      "  %0 = stablehlo.while(%y = %x) : tensor<64xf32> cond {\n"
      "    %t = stablehlo.constant dense<true> : tensor<i1>\n"
      "    stablehlo.return %t : tensor<i1>\n"
      "  } do {\n"
      "    %z = stablehlo.negate %y : tensor<64xf32>\n"
      "    stablehlo.return %z : tensor<64xf32>\n"
      "  }\n"
      "  return %0 : tensor<64xf32>\n}\n";
  const ProgramImage image =
      compile(import_stablehlo(endless, "endless.mlir"), load_machine("tiny4"));
  std::atomic<int> polls = 0;
  RunOptions options;
  options.interrupted = [&] { return ++polls > 1000; };
  const RunResult result =
      run_image(image, load_arguments(image, {"random:1"}, TensorFile{}), options);
  EXPECT_TRUE(result.interrupted);
  ASSERT_TRUE(result.step_inside);
  const StepInfo& inside = image.info.steps.at(*result.step_inside);
  EXPECT_TRUE(inside.name.starts_with("negate")) << inside.name;
  EXPECT_EQ(inside.source.module.line, 6U);
}

TEST(VertexLevel, NamesStepsThatRunTheCodelet) {
  for (const auto& [program, machine] :
       {std::pair{"models/linear_regression/train_step.mlir", "tiny4"},
        {"models/digits_mlp/train_step.mlir", "small64"},
        {"models/mandelbrot/mandelbrot.mlir", "tiny4"}}) {
    SCOPED_TRACE(program);
    const auto module = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / program;
    const ProgramImage image =
        compile(import_stablehlo(read_text_file(module), program), load_machine(machine));
    const auto path = scratch_folder() / "steps.h5";
    TraceWriter writer(path, {.level = TraceLevel::kVertex}, image, {});
    RunOptions run;
    run.observer = writer.observer();
    run.on_superstep = [&](const SuperstepRecord& record) { writer.on_superstep(record); };
    writer.finish(run_image(image, load_arguments(image, {"random:1"}, TensorFile{}), run));
    const std::vector<VertexRow> rows = vertices_of(path);
    EXPECT_GT(rows.size(), 50U);
    for (const VertexRow& row : rows) {
      ASSERT_LT(row.step, image.info.steps.size()) << "no launch is of code between steps";
      const std::vector<std::uint32_t>& types = image.info.steps[row.step].vertex_types;
      ASSERT_TRUE(row.vertex_type);
      EXPECT_EQ(std::ranges::count(types, *row.vertex_type), 1) << image.info.steps[row.step].name;
    }
  }
}

std::vector<InstructionRow> instructions_of(const std::filesystem::path& path) {
  return TraceFile(path).read(kInstructions);
}

constexpr const char* kTwoTiles = "--trace instruction --trace-tiles 1,2 ";

TEST(InstructionLevel, HoldsTheLevelsBeforeIt) {
  const auto path = traced("instruction", kTwoTiles);
  EXPECT_EQ(values_of(path, TraceLevel::kTile),
            values_of(traced("tile", "--trace tile"), TraceLevel::kTile));
  expect_equal(vertices_of(path),
               vertices_of(traced("vertex", "--trace vertex --trace-tiles 1,2")));
  EXPECT_EQ(
      values_of(path, TraceLevel::kInstruction),
      values_of(traced("two", std::string(kTwoTiles) + "--threads 2"), TraceLevel::kInstruction));
}

TEST(InstructionLevel, CountsWhatTheTilesCount) {
  const auto path = traced("instruction", kTwoTiles);
  const TraceFile trace(path);
  const std::vector<OpcodeRow> opcodes = trace.read(kOpcodes);
  InstructionCounts issued, counted;
  for (const InstructionRow& row : instructions_of(path)) {
    ASSERT_TRUE(row.opcode);
    EXPECT_EQ(row.aux_opcode.has_value(), row.instructions == 2);
    if (row.aux_opcode) {
      EXPECT_EQ(opcodes[*row.opcode].pipe, isa::Pipe::kMain);
      EXPECT_EQ(opcodes[*row.aux_opcode].pipe, isa::Pipe::kAux);
    }
    if (!row.worker) continue;
    issued.all += row.instructions;
    issued.aux += (opcodes[*row.opcode].pipe == isa::Pipe::kAux ? 1 : 0) + (row.aux_opcode ? 1 : 0);
    issued.branches += opcodes[*row.opcode].name.starts_with("br") ? 1 : 0;
  }
  for (const VertexRow& row : vertices_of(path)) counted += row.instructions;
  EXPECT_GT(issued.all, 0U);
  EXPECT_EQ(issued.all, counted.all);
  EXPECT_EQ(issued.aux, counted.aux);
  EXPECT_EQ(issued.branches, counted.branches);
}

TEST(InstructionLevel, KeepsTheRowsOfItsWindow) {
  const std::vector<InstructionRow> all = instructions_of(traced("all", kTwoTiles));
  const auto expect_rows = [&](const std::string& options, const auto& is_inside) {
    const std::vector<InstructionRow> found =
        instructions_of(traced("some", std::string("--trace instruction ") + options));
    auto next = found.begin();
    for (const InstructionRow& row : all) {
      if (!is_inside(row)) continue;
      ASSERT_NE(next, found.end());
      EXPECT_EQ(next->cycle, row.cycle);
      EXPECT_EQ(next->pc, row.pc);
      EXPECT_EQ(next->worker, row.worker);
      ++next;
    }
    EXPECT_EQ(next, found.end());
    EXPECT_LT(found.size(), all.size());
  };
  expect_rows("--trace-tiles 2", [](const InstructionRow& row) { return row.tile == 2; });
  expect_rows("--trace-tiles 1-2 --trace-supersteps 5:",
              [](const InstructionRow& row) { return row.superstep >= 5; });
  // Of an operation those of its workers.
  const auto path = traced("reduce", std::string(kTwoTiles) + "--trace-ops 'reduce.*'");
  std::uint64_t issued = 0, counted = 0;
  for (const InstructionRow& row : instructions_of(path)) {
    EXPECT_TRUE(row.worker);
    issued += row.instructions;
  }
  for (const VertexRow& row : vertices_of(path)) counted += row.instructions.all;
  EXPECT_GT(issued, 0U);
  EXPECT_EQ(issued, counted);
}

TEST(InstructionLevel, NeedsTiles) {
  const ProgramRun run = superstep(kRun + std::string("--trace instruction -o ") +
                                   (scratch_folder() / "all.h5").string());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("of the tiles of --trace-tiles, which is not given"), std::string::npos);
}

TEST(TraceWindows, WhereNothingCanBeAreRefused) {
  const auto refused = [](const std::string& options) {
    const auto path = scratch_folder() / "none.h5";
    const ProgramRun run = superstep(kRun + options + " -o " + path.string());
    EXPECT_EQ(run.code, 2);
    EXPECT_FALSE(std::filesystem::exists(path));
    return run.err;
  };
  EXPECT_NE(refused("--trace vertex --trace-tiles 0,7")
                .find("train_step.mlir: error: has no program on tile 7"),
            std::string::npos);
  EXPECT_NE(refused("--trace vertex --trace-ops 'dot*'").find("has no operation like 'dot*'"),
            std::string::npos);
  EXPECT_NE(refused("--trace vertex --trace-supersteps 4:4")
                .find("--trace-supersteps takes A:B, supersteps A to B - 1, not '4:4'"),
            std::string::npos);
  EXPECT_NE(refused("--trace vertex --trace-tiles 1-x").find("--trace-tiles takes tiles as in"),
            std::string::npos);
  EXPECT_NE(refused("--trace tile --trace-tiles 1").find("--trace-tiles is for --trace vertex and"),
            std::string::npos);
}

TEST(TraceWindows, ThatNoSuperstepCameToAreAWarning) {
  const std::string late = (scratch_folder() / "late.h5").string();
  for (const char* window : {"--trace vertex --trace-supersteps 99: ",
                             "--trace vertex --trace-supersteps 900:1000 --trace-tiles 1 ",
                             "--trace instruction --trace-supersteps 99: --trace-tiles 1 "}) {
    const ProgramRun run = superstep(kRun + std::string(window) + "-o " + late);
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.out.find("no worker ran in the window of the trace; the run has 11"),
              std::string::npos)
        << run.out;
    const std::vector<TraceEvent> events = read_trace(late).events;
    ASSERT_EQ(events.size(), 1U) << window;
    EXPECT_EQ(events[0].kind, TraceEvent::Kind::kWarning);
    EXPECT_EQ(events[0].text,
              "no worker ran in the window of the trace; the run has 11 supersteps");
    EXPECT_NE(superstep("report " + late).out.find("no worker ran in the window of the trace"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace superstep
