// Damaged traces, finished and not: each is refused as a damaged trace, or read and repaired.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "sim/trace/trace.h"
#include "tests/errors/damage.h"
#include "tests/gc200.h"
#include "tests/scratch_folder.h"

/// For LeakSanitizer: HDF5 1.10 does not free an object whose header it cannot decode (below
/// H5O_protect).
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace superstep {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A trace of a hundred supersteps: as it is while the run lasts, and when that has ended.
struct Traces {
  std::string unfinished, finished;
};

Traces make_traces(TraceLevel level) {
  ProgramImage image;
  image.machine = gc200();
  image.machine.grid = {1, 1, 2};
  image.machine.sync.column_skew = {4};
  image.entries = {{TileId{0}, 0x4c000}, {TileId{1}, 0x4c000}};
  StepInfo move;
  move.kind = StepInfo::Kind::kExchange;
  move.name = "exchange.1";
  StepInfo add;
  add.name = "add.1";
  add.vertices = add.tiles = 2;
  add.vertex_types = {0};
  image.info.steps = {move, add};
  image.info.memory = {{"codelets", {100, 300}}, {"variables", {1000, 700}}};
  image.info.tensors = {{"x", {DType::kF32, {4, 2}}, {{"f.py", 2, 1}, {}}, 64, 32}};
  image.info.vertex_types = {{"add_f32", 40}};
  image.info.exchanges = {{0, {{0, 1, 8, 30}, {1, 0, 4, 30}}}};
  const auto path = scratch_folder() / "whole.h5";
  TraceWriter writer(path, {.level = level}, image, {{"host", std::string("a")}});
  for (std::uint64_t k = 0; k < 100; ++k) {
    const std::vector<TilePhase> tiles = {{10, 20, 70}, {10, 20 + k % 3, 70}};
    SuperstepRecord record;
    record.number = k;
    record.step = 1;
    record.begin = Cycles(100 * k);
    record.end = Cycles(100 * (k + 1));
    record.exchange = 10_cycles;
    record.compute = 20_cycles;
    record.sync = 70_cycles;
    record.tiles = &tiles;
    record.shares = {{1, 20}};
    if (Observer* const observer = writer.observer()) {
      const std::uint64_t begin = 100 * k + 12;
      observer->on_worker_run(TileId{1}, {.launch = begin - 6, .begin = begin, .end = begin + 6});
      observer->on_instruction(TileId{1}, {.pc = 0x4c000, .cycle = begin, .cycles = 6});
    }
    writer.on_superstep(record);
  }
  Traces traces;
  traces.unfinished = bytes_of(path.string() + ".part");
  writer.finish({});
  traces.finished = bytes_of(path);
  return traces;
}

/// Whether a call takes a trace; when it does not, it says that the trace is damaged.
template <class Call>
bool takes(const Call& call) {
  try {
    call();
    return true;
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kDamagedTrace) << error.what();
    EXPECT_FALSE(error.problems().empty());
    return false;
  }
}

TEST(Fuzz, DamagedTracesAreRefusedOrReadAndRepaired) {
  const Traces whole = make_traces(TraceLevel::kInstruction),
               summary = make_traces(TraceLevel::kSummary);
  const std::array traces = {&whole.finished, &whole.unfinished, &summary.finished,
                             &summary.unfinished};
  const auto path = scratch_folder() / "damaged.h5.part", mended = scratch_folder() / "mended.h5";
  Damage damage(5);
  int read = 0;
  const int inputs = fuzz_inputs(400);
  for (int i = 0; i < inputs; ++i) {
    SCOPED_TRACE(i);
    const std::string bytes =
        damage.apply_to_bytes(*traces[static_cast<std::size_t>(i) % traces.size()]);
    std::ofstream(path, std::ios::binary) << bytes;
    const bool is_read = takes([&] { (void)read_trace(path); });
    read += is_read;
    bool is_repaired = false;
    const bool is_repairable = takes([&] { is_repaired = repair_trace(path, mended); });
    EXPECT_TRUE(is_read || !is_repairable || is_repaired) << "a damaged trace needs no repair";
    if (is_repaired) {
      EXPECT_NO_THROW((void)read_trace(mended));
    }
    std::filesystem::remove(mended);
  }
  EXPECT_GT(read, inputs / 50);
}

}  // namespace
}  // namespace superstep
