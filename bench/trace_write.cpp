// How many supersteps a second does the trace take, at each level?

#include <benchmark/benchmark.h>

#include <filesystem>
#include <vector>

#include "isa/machine_config.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

constexpr std::uint64_t kSupersteps = 2000;
constexpr std::uint64_t kPeriod = 20;  ///< supersteps until the tiles' rows come back

void write_trace(benchmark::State& state, TraceLevel level) {
  ProgramImage image;
  image.machine = load_machine("bow");
  for (std::uint32_t t = 0; t < image.machine.tiles(); ++t) {
    image.entries.push_back({TileId{t}, image.machine.tile.memory_base});
  }
  image.info.steps = {StepInfo{}, StepInfo{}};
  std::vector<std::vector<TilePhase>> profiles(kPeriod);
  for (std::uint32_t p = 0; p < kPeriod; ++p) {
    for (std::uint32_t t = 0; t < image.machine.tiles(); ++t) {
      profiles[p].push_back({100, 200 + (t * p) % 50, 100});
    }
  }
  const auto path = std::filesystem::temp_directory_path() / "superstep-bench-trace.h5";
  for ([[maybe_unused]] auto iteration : state) {
    TraceWriter writer(path, {.level = level}, image, {});
    for (std::uint64_t k = 0; k < kSupersteps; ++k) {
      SuperstepRecord record;
      record.number = k;
      record.step = static_cast<std::uint32_t>(k % 2);
      record.begin = Cycles(400 * k);
      record.end = Cycles(400 * (k + 1));
      record.exchange = 100_cycles;
      record.compute = 200_cycles;
      record.sync = 100_cycles;
      record.tiles = &profiles[k % kPeriod];
      writer.on_superstep(record);
    }
    writer.finish({});
  }
  std::filesystem::remove(path);
  state.counters["supersteps"] = benchmark::Counter(static_cast<double>(kSupersteps),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(write_trace, summary, TraceLevel::kSummary)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_trace, superstep, TraceLevel::kSuperstep)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_trace, tile, TraceLevel::kTile)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace superstep
