#pragma once

#include <cstdint>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/machine.h"

namespace superstep {

/// One row of /supersteps, as it is stored.
struct SuperstepRow {
  std::uint64_t start_cycle = 0;
  std::uint32_t step = 0, exchange_step = 0;
  std::uint64_t exchange_cycles = 0, compute_cycles = 0, sync_cycles = 0, host_cycles = 0;
  std::uint32_t critical_tile = 0;
  std::uint64_t exchange_bytes = 0, host_bytes = 0, worker_instructions = 0;
  std::uint64_t tile_cycles = 0, peak_cycles = 0;
  std::uint32_t profile = 0;

  /// Calls `visit(name, member)` for every column, in file order.
  template <class Self, class Visit>
  static void for_each_column(Self& row, const Visit& visit) {
    visit("start_cycle", row.start_cycle);
    visit("step", row.step);
    visit("exchange_step", row.exchange_step);
    visit("exchange_cycles", row.exchange_cycles);
    visit("compute_cycles", row.compute_cycles);
    visit("sync_cycles", row.sync_cycles);
    visit("host_cycles", row.host_cycles);
    visit("critical_tile", row.critical_tile);
    visit("exchange_bytes", row.exchange_bytes);
    visit("host_bytes", row.host_bytes);
    visit("worker_instructions", row.worker_instructions);
    visit("tile_cycles", row.tile_cycles);
    visit("peak_cycles", row.peak_cycles);
    visit("profile", row.profile);
  }
};

/// What one step added up to.
struct StepSums {
  std::uint64_t count = 0;
  std::uint64_t exchange_cycles = 0, compute_cycles = 0, sync_cycles = 0, host_cycles = 0;
  std::uint32_t worst_tile = 0;
  std::uint64_t longest_cycles = 0;
  std::uint64_t tile_cycles = 0, peak_cycles = 0;

  /// Calls `visit(name, member)` for every column of /summary/step, in file order.
  template <class Self, class Visit>
  static void for_each_column(Self& sums, const Visit& visit) {
    visit("count", sums.count);
    visit("exchange_cycles", sums.exchange_cycles);
    visit("compute_cycles", sums.compute_cycles);
    visit("sync_cycles", sums.sync_cycles);
    visit("host_cycles", sums.host_cycles);
    visit("worst_tile", sums.worst_tile);
    visit("longest_cycles", sums.longest_cycles);
    visit("tile_cycles", sums.tile_cycles);
    visit("peak_cycles", sums.peak_cycles);
  }
};

/// Totals of a run, from its supersteps; the same whether they come from the machine or from a
/// file.
struct TraceTotals {
  RunTotals run;
  std::uint64_t exchange_bytes = 0, host_bytes = 0, tile_cycles = 0, peak_cycles = 0;
  std::vector<StepSums> steps;

  explicit TraceTotals(std::size_t step_count) : steps(step_count) {}
  /// A step number past the last counts as the last.
  void add(const SuperstepRow& row);
};

/// The type of a column by the C++ type that holds it.
constexpr Hdf5Type hdf5_type_of(std::uint8_t) { return Hdf5Type::kU8; }
constexpr Hdf5Type hdf5_type_of(std::uint32_t) { return Hdf5Type::kU32; }
constexpr Hdf5Type hdf5_type_of(std::uint64_t) { return Hdf5Type::kU64; }

}  // namespace superstep
