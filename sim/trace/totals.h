#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/hdf5_file.h"
#include "sim/run_image.h"
#include "sim/trace/trace.h"

namespace superstep {

/// One row of /supersteps, as it is stored.
struct SuperstepRow {
  std::uint64_t number = 0, start_cycle = 0;
  std::uint32_t call = 0, step = 0, exchange_step = 0;
  std::uint64_t trip = 0;
  std::uint32_t operation = 0;
  std::uint64_t exchange_cycles = 0, compute_cycles = 0, sync_cycles = 0, host_cycles = 0;
  std::uint32_t critical_tile = 0, active_tiles = 0;
  std::uint64_t compute_max = 0, compute_min = 0, compute_sum = 0;
  std::uint64_t h_bytes = 0, bytes_sent = 0;
  std::uint32_t messages = 0;
  std::uint64_t host_bytes = 0, flops = 0, instructions = 0, live_bytes = 0, predicted_cycles = 0;
  std::uint32_t compute_profile = 0, exchange_profile = 0;

  /// Calls `visit(name, member)` for every column, in file order.
  template <class Self, class Visit>
  static constexpr void for_each_column(Self& row, const Visit& visit) {
    visit("superstep", row.number);
    visit("start_cycle", row.start_cycle);
    visit("iteration", row.call);
    visit("step", row.step);
    visit("exchange_step", row.exchange_step);
    visit("trip", row.trip);
    visit("operation", row.operation);
    visit("exchange_cycles", row.exchange_cycles);
    visit("compute_cycles", row.compute_cycles);
    visit("sync_cycles", row.sync_cycles);
    visit("host_cycles", row.host_cycles);
    visit("critical_tile", row.critical_tile);
    visit("active_tiles", row.active_tiles);
    visit("compute_cycles_max", row.compute_max);
    visit("compute_cycles_min", row.compute_min);
    visit("compute_cycles_sum", row.compute_sum);
    visit("h_bytes", row.h_bytes);
    visit("bytes_sent", row.bytes_sent);
    visit("messages", row.messages);
    visit("host_bytes", row.host_bytes);
    visit("flops", row.flops);
    visit("instructions", row.instructions);
    visit("live_bytes", row.live_bytes);
    visit("predicted_cycles", row.predicted_cycles);
    visit("compute_profile", row.compute_profile);
    visit("exchange_profile", row.exchange_profile);
  }
};

/// One row of /launches: a step's share of the critical tile's compute cycles in a superstep.
struct LaunchRow {
  std::uint64_t number = 0, superstep = 0;
  std::uint32_t step = 0;
  std::uint64_t cycles = 0, runs = 0;

  template <class Self, class Visit>
  static constexpr void for_each_column(Self& row, const Visit& visit) {
    visit("launch", row.number);
    visit("superstep", row.superstep);
    visit("step", row.step);
    visit("cycles", row.cycles);
    visit("runs", row.runs);
  }
};

/// One row of /host.
struct TransferRow {
  std::uint64_t number = 0, superstep = 0;
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;
  std::uint64_t bytes = 0, start_cycle = 0, cycles = 0;

  template <class Self, class Visit>
  static constexpr void for_each_column(Self& row, const Visit& visit) {
    visit("transfer", row.number);
    visit("superstep", row.superstep);
    visit("stream", row.stream);
    visit("direction", row.direction);
    visit("bytes", row.bytes);
    visit("start_cycle", row.start_cycle);
    visit("cycles", row.cycles);
  }
};

constexpr std::size_t kEventTextBytes = 120;

/// One row of /events.
struct EventRow {
  std::uint32_t number = 0;
  std::uint64_t cycle = 0;
  std::uint8_t kind = 0;
  std::int32_t tile = -1;
  std::array<char, kEventTextBytes> text{};

  template <class Self, class Visit>
  static constexpr void for_each_column(Self& row, const Visit& visit) {
    visit("event", row.number);
    visit("cycle", row.cycle);
    visit("kind", row.kind);
    visit("tile", row.tile);
    visit("text", row.text);
  }
};

/// A matrix of tiles that is a column of one kind of profile; rows of the kind are of all its
/// columns.
struct ProfileColumn {
  std::string_view path;
  std::uint64_t TilePhase::*member;
};
inline constexpr ProfileColumn kComputeProfile[] = {
    {"/profiles/compute/cycles", &TilePhase::compute},
    {"/profiles/compute/wait_cycles", &TilePhase::sync},
    {"/profiles/compute/instructions", &TilePhase::instructions},
    {"/profiles/compute/worker_busy", &TilePhase::worker_busy},
};
inline constexpr ProfileColumn kExchangeProfile[] = {
    {"/profiles/exchange/cycles", &TilePhase::exchange},
    {"/profiles/exchange/idle_cycles", &TilePhase::exchange_idle},
    {"/profiles/exchange/sent_bytes", &TilePhase::sent_bytes},
    {"/profiles/exchange/received_bytes", &TilePhase::received_bytes},
};

/// Steps that run between the same two barriers, whichever tiles they run on, have equal ones. A
/// superstep of -1 has one step.
struct StepGroup {
  std::int32_t superstep = -1, parent = -1;  ///< as in /program/step
  bool operator==(const StepGroup&) const = default;
};

/// What one step added up to.
struct StepSums {
  std::uint64_t count = 0, runs = 0;
  std::uint64_t exchange_cycles = 0, compute_cycles = 0, sync_cycles = 0, host_cycles = 0;
  std::uint32_t critical_tile = 0;
  std::uint64_t longest_cycles = 0;
  std::uint64_t compute_sum = 0, compute_max = 0;

  /// Calls `visit(name, member)` for every column of /summary/step, in file order.
  template <class Self, class Visit>
  static constexpr void for_each_column(Self& sums, const Visit& visit) {
    visit("count", sums.count);
    visit("runs", sums.runs);
    visit("exchange_cycles", sums.exchange_cycles);
    visit("compute_cycles", sums.compute_cycles);
    visit("sync_cycles", sums.sync_cycles);
    visit("host_cycles", sums.host_cycles);
    visit("critical_tile", sums.critical_tile);
    visit("longest_cycles", sums.longest_cycles);
    visit("compute_cycles_sum", sums.compute_sum);
    visit("compute_cycles_max", sums.compute_max);
  }
};

/// Totals of a run, from its supersteps; the same whether they come from the machine or from a
/// file.
struct TraceTotals {
  RunTotals run;
  std::uint64_t bytes_exchanged = 0, host_bytes = 0, flops = 0, compute_sum = 0, compute_max = 0;
  std::vector<StepSums> steps;

  explicit TraceTotals(std::vector<StepGroup> group_by_step);
  /// A step number past the last counts as the last. `launches` are those of the superstep.
  void add(const SuperstepRow& row, std::span<const LaunchRow> launches);

 private:
  void count(std::size_t step) {
    ++steps[step].count;
    ++steps[step].runs;
  }
  void count_with(std::size_t step);
  /// Whether one counts when the other does.
  [[nodiscard]] bool are_together(std::size_t a, std::size_t b) const {
    return a == b || (groups_[a].superstep >= 0 && groups_[a] == groups_[b]);
  }

  std::vector<StepGroup> groups_;
};

/// The totals of one step, without what the program says of it.
[[nodiscard]] StepTotals step_totals(const StepSums& sums);

/// The type of a column by the C++ type that holds it.
constexpr Hdf5Type hdf5_type_of(std::uint8_t) { return Hdf5Type::kU8; }
constexpr Hdf5Type hdf5_type_of(std::uint32_t) { return Hdf5Type::kU32; }
constexpr Hdf5Type hdf5_type_of(std::uint64_t) { return Hdf5Type::kU64; }
constexpr Hdf5Type hdf5_type_of(std::int32_t) { return Hdf5Type::kI32; }
template <std::size_t kBytes>
constexpr Hdf5Type hdf5_type_of(const std::array<char, kBytes>&) {
  return Hdf5Type::kText;
}

}  // namespace superstep
