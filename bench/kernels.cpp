// How many instructions a second does the interpreter do in kernels like those of PopLibs: on one
// tile and on all of `bow`, with 1 and 2 host threads? A bundle counts as two.

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "bench/program.h"

namespace superstep {
namespace {

constexpr std::uint32_t kState = 0x50000;

std::string kernel_text(const std::string& name) {
  std::ifstream file(SUPERSTEP_SOURCE_DIR "/bench/kernels/" + name + ".S");
  SUPERSTEP_CHECK(file.good(), "no kernel " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The kernel on all workers of each tile, `launches` times; `state` begins with `vectors` vectors,
/// each in elements of its own of the interleaved region.
void run_kernel(benchmark::State& state, const std::string& name, std::uint32_t launches,
                std::uint32_t vectors, const std::vector<std::uint32_t>& numbers) {
  ProgramImage image;
  image.machine = load_machine("bow");
  std::vector<TileId> tiles = all_tiles(image.machine);
  tiles.resize(static_cast<std::size_t>(state.range(0)));
  if (tiles.size() == 1) launches *= 100;
  add_code(image, tiles,
           assembled(launches_of_worker(kState, launches) + kernel_text(name), image.machine));
  std::vector<std::uint32_t> words;
  for (std::uint32_t v = 0; v < vectors; ++v) {
    words.push_back(image.machine.tile.region1_base + v * 8 * image.machine.tile.element_bytes);
  }
  words.insert(words.end(), numbers.begin(), numbers.end());
  image.segments.push_back(segment_of(tiles, kState, words));
  const RunTotals totals = run_all(state, image, static_cast<std::uint32_t>(state.range(1)));
  set_rate(state, "instructions", static_cast<double>(totals.worker_instructions));
}

void fill(benchmark::State& state) {
  run_kernel(state, "fill", 20, 1, {2000, std::bit_cast<std::uint32_t>(1.5F)});
}
void scaled_add(benchmark::State& state) {
  run_kernel(state, "scaled_add", 10, 2, {1000, std::bit_cast<std::uint32_t>(0.5F)});
}
void amp_f16(benchmark::State& state) { run_kernel(state, "amp", 5, 3, {254}); }
void sort(benchmark::State& state) { run_kernel(state, "sort", 1, 2, {256}); }

void tiles_and_threads(benchmark::internal::Benchmark* kernel) {
  kernel->ArgNames({"tiles", "threads"})->ArgsProduct({{1, 1472}, {1, 2}});
  kernel->Unit(benchmark::kMillisecond)->UseRealTime();
}
BENCHMARK(fill)->Apply(tiles_and_threads);
BENCHMARK(scaled_add)->Apply(tiles_and_threads);
BENCHMARK(amp_f16)->Apply(tiles_and_threads);
BENCHMARK(sort)->Apply(tiles_and_threads);

}  // namespace
}  // namespace superstep
