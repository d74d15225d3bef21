#include "sim/sync/barrier.h"

#include <fmt/format.h>

namespace superstep {

std::size_t critical_of(std::span<const WaitingTile> arrivals) {
  std::size_t critical = 0;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    if (arrivals[i].cycle > arrivals[critical].cycle) critical = i;
  }
  return critical;
}

std::optional<BarrierFault> check_zones(std::span<const WaitingTile> arrivals) {
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const std::uint32_t zone = arrivals[i].zone;
    if (zone != kZoneInternal && zone != kZoneExternal && zone != kZoneEnd) {
      return BarrierFault{
          i, fmt::format("sync zone {} is not modelled; zones are {} (internal), {} (external) and "
                         "{} (end of program)",
                         zone, kZoneInternal, kZoneExternal, kZoneEnd)};
    }
    if (zone != arrivals[0].zone) {
      return BarrierFault{
          i,
          fmt::format("deadlock: this tile waits in sync zone {} since cycle {}, tile {} waits in "
                      "zone {} at pc {:#x} since cycle {}",
                      zone, arrivals[i].cycle.value(), index(arrivals[0].tile), arrivals[0].zone,
                      arrivals[0].pc, arrivals[0].cycle.value())};
    }
  }
  return std::nullopt;
}

Cycles internal_opening(const MachineConfig& machine, Cycles last_arrival) {
  return last_arrival + Cycles(machine.sync.internal_latency);
}

Cycles cycles_of_ns(const MachineConfig& machine, std::uint64_t nanoseconds) {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  // Whole and part of a second apart, so that nothing overflows.
  const std::uint64_t whole = nanoseconds / kPerSecond * machine.tile.clock_hz;
  const std::uint64_t part = nanoseconds % kPerSecond * machine.tile.clock_hz;
  return Cycles(whole + (part + kPerSecond - 1) / kPerSecond);
}

}  // namespace superstep
