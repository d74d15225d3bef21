// How many tile-cycles a second does a whole machine simulate: bound by compute, bound by exchange,
// mostly idle?

#include <fmt/format.h>

#include "bench/program.h"
#include "compiler/schedule/schedule.h"
#include "isa/instruction_word.h"
#include "isa/timing.h"

namespace superstep {
namespace {

constexpr std::uint32_t kData = 0x80000;

void report(benchmark::State& state, const ProgramImage& image) {
  const RunTotals totals = run_all(state, image, static_cast<std::uint32_t>(state.range(0)));
  set_rate(state, "tile_cycles",
           static_cast<double>(totals.cycles.value()) * static_cast<double>(image.entries.size()));
  set_rate(state, "supersteps", static_cast<double>(totals.supersteps));
}

/// `body` between internal syncs, `times` times.
std::string supersteps(const std::string& body, int times) {
  return fmt::format(
      "  setzi $m1, worker\n"
      "  setzi $m2, {}\n"
      "  setzi $m3, {}\n"
      "again:\n"
      "  sync 3\n"
      "{}"
      "  brnzdec $m2, again\n"
      "  sync 4\n",
      times - 1, kData, body);
}

constexpr const char* kWorker =
    ".align 8\n"
    "worker:\n"
    "  setzi $m0, 500\n"
    "loop:\n"
    "  { ld64 $a0:1, $m13, $m15, 0; f32v2mul $a2:3, $a0:1, $a4:5 }\n"
    "  { nop; f32v2add $a4:5, $a2:3, $a4:5 }\n"
    "  brnzdec $m0, loop\n"
    "  exitz $m15\n";

/// All tiles compute.
void compute_bound(benchmark::State& state) {
  ProgramImage image;
  image.machine = load_machine("bow");
  const std::string text = supersteps("  runall $m1, $m3, 0\n  sync 2\n", 5) + kWorker;
  add_code(image, all_tiles(image.machine), assembled(text, image.machine));
  report(state, image);
}
BENCHMARK(compute_bound)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Every tile sends 1 KiB to a tile far from it, in pieces that lie apart as rows of a matrix do.
ExchangePhase far_sends(const MachineConfig& machine, std::uint32_t words) {
  const std::vector<TileId> tiles = all_tiles(machine);
  const auto count = static_cast<std::uint32_t>(tiles.size());
  std::vector<Transfer> transfers;
  for (std::uint32_t t = 0; t < count; ++t) {
    // 5 shares no factor with the number of tiles: a permutation.
    const TileId to{(5 * t + count / 2) % count};
    for (std::uint32_t w = 0; w < 256; w += words) {
      const std::uint32_t at = kData + 8 * w;
      transfers.push_back({{TileId{t}, at}, {{to, at + 0x10000}}, words});
    }
  }
  return schedule_exchange(machine, transfers, tiles);
}

/// Twenty phases of pieces of so many words, each with code of its own.
void exchange_bound(benchmark::State& state) {
  ProgramImage image;
  image.machine = load_machine("bow");
  const auto words = static_cast<std::uint32_t>(state.range(1));
  for (const ExchangeRow& row : far_sends(image.machine, words).rows) {
    std::vector<std::uint32_t> code;
    for (int repeat = 0; repeat < 20; ++repeat) {
      code.insert(code.end(), row.code.begin(), row.code.end());
    }
    code.push_back(encode("sync", {4}));
    add_code(image, {row.tile}, code);
  }
  report(state, image);
}
BENCHMARK(exchange_bound)
    ->Args({1, 256})
    ->Args({2, 256})
    ->Args({1, 4})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// One such phase, a hundred times.
void exchange_loop(benchmark::State& state) {
  ProgramImage image;
  image.machine = load_machine("bow");
  const auto words = static_cast<std::uint32_t>(state.range(1));
  constexpr std::uint32_t kTrips = 100;
  for (const ExchangeRow& row : far_sends(image.machine, words).rows) {
    // Two words before the row keep its pairs of words aligned.
    std::vector<std::uint32_t> code = {encode("setzi", {2, kTrips - 1}), encode("delay", {0})};
    code.insert(code.end(), row.code.begin(), row.code.end());
    code.push_back(encode("brnzdec", {2, image.machine.tile.memory_base + 8}));
    code.push_back(encode("sync", {4}));
    add_code(image, {row.tile}, code);
  }
  report(state, image);
}
BENCHMARK(exchange_loop)
    ->Args({1, 256})
    ->Args({2, 256})
    ->Args({1, 4})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// One tile computes while all others wait for it.
void mostly_idle(benchmark::State& state) {
  ProgramImage image;
  image.machine = load_machine("bow");
  std::vector<TileId> tiles = all_tiles(image.machine);
  const std::string busy = supersteps("  runall $m1, $m3, 0\n  sync 2\n", 50) + kWorker;
  add_code(image, {tiles[0]}, assembled(busy, image.machine));
  tiles.erase(tiles.begin());
  add_code(image, tiles, assembled(supersteps("  nop\n", 50) + "worker:\n", image.machine));
  report(state, image);
}
BENCHMARK(mostly_idle)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace superstep
