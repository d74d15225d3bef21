#include "sim/host/packets.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

namespace superstep {
namespace {

using Wide = unsigned __int128;
constexpr std::uint64_t kPerSecond = 1'000'000'000;

/// An exact time: whole cycles, and a part of one in the machine's parts.
struct ExactTime {
  Wide cycles = 0, part = 0;

  auto operator<=>(const ExactTime&) const = default;
};

/// Exact times of nanoseconds and of bytes on a link. Parts of a cycle are so small that both are
/// whole numbers of them; cycles and parts are apart since as one number they may exceed 128 bits.
class ExactTimes {
 public:
  explicit ExactTimes(const MachineConfig& machine)
      : clock_(machine.tile.clock_hz),
        bandwidth_(machine.host.bytes_per_second),
        parts_(bandwidth_ * kPerSecond) {}

  [[nodiscard]] ExactTime nanoseconds(std::uint64_t count) const {
    return {clock_ * count / kPerSecond, clock_ * count % kPerSecond * bandwidth_};
  }
  [[nodiscard]] ExactTime bytes(std::uint64_t count) const {
    return {clock_ * count / bandwidth_, clock_ * count % bandwidth_ * kPerSecond};
  }
  [[nodiscard]] ExactTime sum(const ExactTime& a, const ExactTime& b) const {
    const Wide part = a.part + b.part;
    const bool carries = part >= parts_;
    return {a.cycles + b.cycles + (carries ? 1 : 0), carries ? part - parts_ : part};
  }

 private:
  Wide clock_, bandwidth_;
  Wide parts_;  ///< of a cycle
};

Cycles rounded_up(const ExactTime& time) {
  const Wide cycles = time.cycles + (time.part > 0 ? 1 : 0);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return Cycles(static_cast<std::uint64_t>(std::min(cycles, Wide{kMost})));
}

}  // namespace

void time_packets(const MachineConfig& machine, std::vector<HostPacket>& packets) {
  const MachineConfig::Host& host = machine.host;
  const ExactTimes exact(machine);
  const ExactTime latency = exact.nanoseconds(host.phase_latency_ns);
  const ExactTime overhead = exact.nanoseconds(host.packet_overhead_ns);
  const Cycles first = rounded_up(latency);
  const auto can_go = [&](const HostPacket& packet) { return std::max(packet.ready, first); };
  if (!std::ranges::is_sorted(packets, {}, can_go)) std::ranges::stable_sort(packets, {}, can_go);
  const std::size_t window = std::size_t{host.links} * host.packets_in_flight;
  std::vector<ExactTime> ends;
  ends.reserve(packets.size());
  for (HostPacket& packet : packets) {
    const std::size_t i = ends.size();
    ExactTime begin = std::max(latency, {packet.ready.value(), 0});
    if (i >= host.links) begin = std::max(begin, ends[i - host.links]);
    if (i >= window) begin = std::max(begin, exact.sum(ends[i - window], latency));
    ends.push_back(exact.sum(exact.sum(begin, overhead), exact.bytes(packet.bytes)));
    packet.begin = rounded_up(begin);
    packet.end = rounded_up(ends.back());
  }
}

}  // namespace superstep
