// How does the time of exchange schedules grow with the transfers of a phase, and with phases?

#include <benchmark/benchmark.h>

#include <vector>

#include "bench/program.h"
#include "compiler/schedule/phases.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

constexpr std::uint32_t kOut = 0x50000, kIn = 0x60000;

/// As the partial sums of a product: each tile of a group of 32 sends its rows to the tiles of its
/// group in turn.
std::vector<Transfer> partial_sums(const MachineConfig& machine, std::uint32_t rows,
                                   std::uint32_t words) {
  constexpr std::uint32_t kGroup = 32;
  std::vector<Transfer> transfers;
  for (std::uint32_t tile = 0; tile < machine.tiles() / kGroup * kGroup; ++tile) {
    const std::uint32_t first = tile / kGroup * kGroup;
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t to = first + row % kGroup;
      const std::uint32_t at = row / kGroup * kGroup + tile % kGroup;
      transfers.push_back(
          {{TileId{tile}, kOut + row * words * 4}, {{TileId{to}, kIn + at * words * 4}}, words});
    }
  }
  return transfers;
}

/// Independent unicasts that follow no pattern.
std::vector<Transfer> scattered(const MachineConfig& machine, std::uint32_t a_tile) {
  const std::uint32_t tiles = machine.tiles();
  std::vector<Transfer> transfers;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    for (std::uint32_t i = 0; i < a_tile; ++i) {
      // 389 shares no factor with the number of tiles: a permutation for each i.
      const std::uint32_t to = (tile * 389 + i * i * 97) % tiles, words = 4 + (tile + i) % 9;
      transfers.push_back({{TileId{tile}, kOut + i * 64}, {{TileId{to}, kIn + i * 64}}, words});
    }
  }
  return transfers;
}

void schedule(benchmark::State& state, std::size_t phases, auto transfers_of) {
  const MachineConfig machine = load_machine("bow");
  const std::vector<TileId> tiles = all_tiles(machine);
  std::uint64_t bound = 0, length = 0;
  for ([[maybe_unused]] auto iteration : state) {
    PhaseScheduler scheduler(machine, tiles, false);
    bound = length = 0;
    for (const ExchangePhase& phase : scheduler.schedule(
             phases, [&](std::size_t phase) { return transfers_of(machine, phase); })) {
      bound += phase.bound_cycles;
      length += phase.length.value();
    }
  }
  state.SetComplexityN(state.range(0));
  state.counters["length_by_bound"] = static_cast<double>(length) / static_cast<double>(bound);
}

void regular_transfers_a_tile(benchmark::State& state) {
  const auto rows = static_cast<std::uint32_t>(state.range(0));
  schedule(state, 1, [&](const MachineConfig& machine, std::size_t) {
    return partial_sums(machine, rows, 16);
  });
}
BENCHMARK(regular_transfers_a_tile)
    ->RangeMultiplier(2)
    ->Range(32, 512)
    ->Complexity()
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

void scattered_transfers_a_tile(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  schedule(state, 1,
           [&](const MachineConfig& machine, std::size_t) { return scattered(machine, count); });
}
BENCHMARK(scattered_transfers_a_tile)
    ->RangeMultiplier(2)
    ->Range(16, 256)
    ->Complexity()
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

void different_phases(benchmark::State& state) {
  schedule(state, static_cast<std::size_t>(state.range(0)),
           [](const MachineConfig& machine, std::size_t phase) {
             return partial_sums(machine, 32, 8 + static_cast<std::uint32_t>(phase));
           });
}
BENCHMARK(different_phases)
    ->RangeMultiplier(2)
    ->Range(4, 32)
    ->Complexity()
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

/// As those of the layers of a deep network: placed once.
void equal_phases(benchmark::State& state) {
  schedule(state, static_cast<std::size_t>(state.range(0)),
           [](const MachineConfig& machine, std::size_t) { return partial_sums(machine, 32, 16); });
}
BENCHMARK(equal_phases)
    ->RangeMultiplier(2)
    ->Range(4, 32)
    ->Complexity()
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace superstep
