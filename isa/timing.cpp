#include "isa/timing.h"

#include <algorithm>
#include <bit>

namespace superstep {
namespace {

/// Which half of the chip a column is in, and how far from its edge: both count inwards to the
/// spine.
struct ColumnPlace {
  bool east;
  std::uint32_t from_edge;
};

ColumnPlace column_place(const MachineConfig& machine, std::uint32_t column) {
  const std::uint32_t west_columns = std::max(machine.grid.columns / 2, 1U);
  if (column < west_columns) return {false, column};
  return {true, machine.grid.columns - 1 - column};
}

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

std::uint32_t mesh_hops(const MachineConfig& machine, const TilePlace& from, const TilePlace& to) {
  const std::uint32_t lanes = machine.grid.lanes;
  return distance(from.row, to.row) +
         distance(from.column * lanes + from.lane, to.column * lanes + to.lane);
}

std::uint32_t ring_hops(const MachineConfig& machine, TileId from, TileId to) {
  const std::uint32_t apart = distance(index(from), index(to));
  return std::min(apart, machine.tiles() - apart);
}

Cycles over_hops(const MachineConfig::Exchange& law, std::uint32_t hops) {
  return Cycles(law.port_latency + std::uint64_t{hops} * law.hop_latency);
}

unsigned log2(std::uint32_t power) { return static_cast<unsigned>(std::countr_zero(power)); }

}  // namespace

TilePlace place_of(const MachineConfig& machine, TileId tile) {
  // osmarks/ipu-stack crates/ipu-target/src/topology.rs: the tiles of a pair differ in the upper
  // lane bit; one run of pairs goes up a column, the next comes down the same column.
  const std::uint32_t width = machine.grid.lanes % 2 == 0 ? 2 : 1;
  const std::uint32_t runs_per_column = machine.grid.lanes / width;
  const std::uint32_t group = index(tile) / width;
  const std::uint32_t run = group / machine.grid.rows;
  const std::uint32_t step = group % machine.grid.rows;
  const std::uint32_t lane = run % runs_per_column + (index(tile) % width) * runs_per_column;
  const std::uint32_t row = run % 2 == 0 ? step : machine.grid.rows - 1 - step;
  return {row, run / runs_per_column, lane, tile};
}

Cycles exchange_latency(const MachineConfig& machine, TileId source, TileId destination) {
  return exchange_latency(machine, place_of(machine, source), place_of(machine, destination));
}

Cycles exchange_latency(const MachineConfig& machine, const TilePlace& from, const TilePlace& to) {
  const MachineConfig::Exchange& law = machine.exchange;
  const std::uint32_t rows = (from.row + to.row) * law.per_row_latency;
  switch (law.fabric) {
    case FabricKind::kCrossbar:
      break;
    case FabricKind::kTable:
      return Cycles(rows + law.table[from.column * machine.grid.columns + to.column]);
    case FabricKind::kMesh:
      return over_hops(law, mesh_hops(machine, from, to));
    case FabricKind::kRing:
      return over_hops(law, ring_hops(machine, from.tile, to.tile));
  }
  if (from.column == to.column) return Cycles(rows + law.same_column_latency);
  const ColumnPlace a = column_place(machine, from.column);
  const ColumnPlace b = column_place(machine, to.column);
  if (a.east == b.east) {
    const std::uint32_t distance =
        std::max(from.column, to.column) - std::min(from.column, to.column);
    return Cycles(rows + law.same_side_latency + distance * law.per_column_latency);
  }
  const std::uint32_t east = a.east ? a.from_edge : b.from_edge;
  const std::uint32_t west = a.east ? b.from_edge : a.from_edge;
  if (east >= west) {
    return Cycles(rows + law.cross_east_latency + (east - west) * law.cross_east_per_column);
  }
  return Cycles(rows + law.cross_west_latency + (west - east) * law.cross_west_per_column);
}

ExchangeItem::ExchangeItem(const MachineConfig& machine)
    : log_words_(log2(std::max(machine.exchange.width_bytes, 4U) / 4)),
      log_cycles_(log2(4 / std::min(machine.exchange.width_bytes, 4U))) {}

Cycles longest_exchange_latency(const MachineConfig& machine) {
  const MachineConfig::Grid& grid = machine.grid;
  const std::uint32_t last_row = grid.rows - 1;
  switch (machine.exchange.fabric) {
    case FabricKind::kMesh:
      return exchange_latency(machine, {0, 0, 0, {}},
                              {last_row, grid.columns - 1, grid.lanes - 1, {}});
    case FabricKind::kRing:
      return over_hops(machine.exchange, machine.tiles() / 2);
    case FabricKind::kCrossbar:
    case FabricKind::kTable:
      break;
  }
  // It grows with both rows and is that of any lane, so the ends of columns stand for all.
  Cycles longest;
  for (std::uint32_t from = 0; from < grid.columns; ++from) {
    for (std::uint32_t to = 0; to < grid.columns; ++to) {
      longest = std::max(longest,
                         exchange_latency(machine, {last_row, from, 0, {}}, {last_row, to, 0, {}}));
    }
  }
  return longest;
}

std::uint32_t memory_element(const MachineConfig& machine, std::uint32_t address) {
  const MachineConfig::Tile& tile = machine.tile;
  if (address < tile.region1_base || address >= machine.region2_base())
    return (address - tile.memory_base) / tile.element_bytes;
  const std::uint32_t pair = (address - tile.region1_base) / (2 * tile.element_bytes);
  const std::uint32_t region0 = (tile.region1_base - tile.memory_base) / tile.element_bytes;
  return region0 + 2 * pair + (address >> 3) % 2;
}

Cycles barrier_latency(const MachineConfig& machine) {
  const std::uint32_t doublings = static_cast<std::uint32_t>(std::bit_width(machine.tiles() - 1));
  return Cycles(machine.sync.internal_latency + machine.sync.per_doubling * doublings);
}

Cycles cycles_of_ns(const MachineConfig& machine, std::uint64_t nanoseconds) {
  using Wide = unsigned __int128;
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  // Within a second, which the keys of a machine allow, the product has up to 67 bits.
  const Wide product = Wide{nanoseconds} * machine.tile.clock_hz;
  return Cycles(static_cast<std::uint64_t>((product + kPerSecond - 1) / kPerSecond));
}

Cycles release_skew(const MachineConfig& machine, TileId tile) {
  const TilePlace place = place_of(machine, tile);
  const std::vector<std::uint32_t>& skew = machine.sync.column_skew;
  std::uint32_t column = 0;
  if (!skew.empty()) {
    // A machine with fewer columns than entries takes them from both ends.
    const ColumnPlace place_in_half = column_place(machine, place.column);
    const auto last = static_cast<std::uint32_t>(skew.size()) - 1;
    const std::uint32_t step = std::min(place_in_half.from_edge, last);
    column = skew[place_in_half.east ? last - step : step];
  }
  return Cycles(std::uint64_t{place.row} * machine.sync.skew_per_row + column);
}

}  // namespace superstep
