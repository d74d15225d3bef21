// What a run says of itself and what its trace says of it are one.

#include "sim/trace/recorder.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "tests/scratch_folder.h"
#include "report/report.h"
#include "tools/tensors.h"

namespace superstep {
namespace {

enum class End { kOk, kTrap, kInterrupted };

struct Program {
  const char* path;
  const char* machine;
  std::uint32_t calls;
};

void expect_equal(const TraceSummary& run, const TraceSummary& file) {
  EXPECT_EQ(text_report(run, {.columns = 80}), text_report(file, {.columns = 80}));
  EXPECT_EQ(text_report(run, {.columns = 200}), text_report(file, {.columns = 200}));
  EXPECT_EQ(json_report(run), json_report(file));
  EXPECT_EQ(run.machine_toml, file.machine_toml);
  EXPECT_EQ(run.level, file.level);
  EXPECT_EQ(run.program_sha256, file.program_sha256);
  EXPECT_EQ(run.format_version, file.format_version);
  EXPECT_EQ(run.complete, file.complete);
  EXPECT_EQ(run.workers, file.workers);
  ASSERT_EQ(run.tensors.size(), file.tensors.size());
  for (std::size_t t = 0; t < run.tensors.size(); ++t) {
    EXPECT_EQ(run.tensors[t].name, file.tensors[t].name);
    EXPECT_EQ(run.tensors[t].type.text(), file.tensors[t].type.text());
    EXPECT_EQ(run.tensors[t].source, file.tensors[t].source);
    EXPECT_EQ(run.tensors[t].max_tile_bytes, file.tensors[t].max_tile_bytes);
  }
}

void expect_one_summary(const Program& program, TraceLevel level, End end) {
  SCOPED_TRACE(fmt::format("{} on {}, {}, {}", program.path, program.machine, name_of(level),
                           static_cast<int>(end)));
  const auto module = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / program.path;
  ProgramImage image = compile(import_stablehlo(read_text_file(module), program.path),
                               load_machine(program.machine));
  // Nothing on the last tile is code: the first instruction there traps.
  if (end == End::kTrap) image.entries.back().pc = image.machine.tile.memory_base;
  const TraceOptions options{.level = level, .calls = program.calls};
  const auto path = scratch_folder() / "recorded.h5";
  TraceWriter writer(path, options, image, {});
  RunRecorder alone(image, options);
  std::uint64_t supersteps = 0;
  RunOptions run;
  run.calls = program.calls;
  run.observer = writer.observer();
  run.on_superstep = [&](const SuperstepRecord& record) {
    writer.on_superstep(record);
    alone.add(record);
    ++supersteps;
  };
  run.interrupted = [&] { return end == End::kInterrupted && supersteps >= 2; };
  const RunResult result = run_image(image, load_arguments(image, {"random:1"}, TensorFile{}), run);
  ASSERT_EQ(result.trap.has_value(), end == End::kTrap);
  ASSERT_EQ(result.interrupted, end == End::kInterrupted);
  writer.finish(result);
  alone.finish(result);
  const TraceSummary file = read_trace(path);
  const std::string trap = result.trap ? result.trap->text() : std::string();
  EXPECT_EQ(file.trap, trap);
  EXPECT_EQ(file.totals.supersteps, supersteps);
  for (const RunRecorder* recorder : {&writer.recorder(), static_cast<const RunRecorder*>(&alone)})
    expect_equal(recorder->summary(outcome_of(result), result.trap), file);
}

TEST(RunRecorder, SaysWhatTheTraceSays) {
  const Program programs[] = {{"models/quickstart/affine.mlir", "tiny4", 1},
                              {"models/quickstart/square_plus_one.mlir", "small64", 3},
                              {"models/linear_regression/train_step.mlir", "tiny4", 7},
                              {"models/digits_mlp/train_step.mlir", "small64", 3}};
  for (const Program& program : programs) {
    for (const TraceLevel level : {TraceLevel::kSummary, TraceLevel::kSuperstep, TraceLevel::kTile,
                                   TraceLevel::kVertex, TraceLevel::kInstruction}) {
      for (const End end : {End::kOk, End::kTrap, End::kInterrupted})
        expect_one_summary(program, level, end);
    }
  }
}

}  // namespace
}  // namespace superstep
