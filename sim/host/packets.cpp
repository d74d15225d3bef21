#include "sim/host/packets.h"

#include <algorithm>

namespace superstep {
namespace {

/// Exact times: of cycles, nanoseconds and bytes on a link as multiples of one unit.
class ExactTime {
 public:
  using Wide = unsigned __int128;

  explicit ExactTime(const MachineConfig& machine)
      : cycle_(Wide{kPerSecond} * machine.host.bytes_per_second),
        nanosecond_(Wide{machine.tile.clock_hz} * machine.host.bytes_per_second),
        byte_(Wide{machine.tile.clock_hz} * kPerSecond) {}

  [[nodiscard]] Wide cycles(Cycles count) const { return cycle_ * count.value(); }
  [[nodiscard]] Wide nanoseconds(std::uint64_t count) const { return nanosecond_ * count; }
  [[nodiscard]] Wide bytes(std::uint64_t count) const { return byte_ * count; }
  [[nodiscard]] Cycles rounded_up(Wide time) const {
    return Cycles(static_cast<std::uint64_t>((time + cycle_ - 1) / cycle_));
  }

 private:
  static constexpr std::uint64_t kPerSecond = 1'000'000'000;
  Wide cycle_, nanosecond_, byte_;
};

}  // namespace

void time_packets(const MachineConfig& machine, std::vector<HostPacket>& packets) {
  const MachineConfig::Host& host = machine.host;
  const ExactTime exact(machine);
  const ExactTime::Wide latency = exact.nanoseconds(host.phase_latency_ns);
  const ExactTime::Wide overhead = exact.nanoseconds(host.packet_overhead_ns);
  const Cycles first = exact.rounded_up(latency);
  const auto can_go = [&](const HostPacket& packet) { return std::max(packet.ready, first); };
  if (!std::ranges::is_sorted(packets, {}, can_go)) std::ranges::stable_sort(packets, {}, can_go);
  const std::size_t window = std::size_t{host.links} * host.packets_in_flight;
  std::vector<ExactTime::Wide> ends;
  ends.reserve(packets.size());
  for (HostPacket& packet : packets) {
    const std::size_t i = ends.size();
    ExactTime::Wide begin = std::max(latency, exact.cycles(packet.ready));
    if (i >= host.links) begin = std::max(begin, ends[i - host.links]);
    if (i >= window) begin = std::max(begin, ends[i - window] + latency);
    ends.push_back(begin + overhead + exact.bytes(packet.bytes));
    packet.begin = exact.rounded_up(begin);
    packet.end = exact.rounded_up(ends.back());
  }
}

}  // namespace superstep
