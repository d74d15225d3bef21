#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/host/packets.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

/// A host whose numbers are whole cycles: 4 bytes, 10 a packet, and 100 of latency.
MachineConfig round_numbers() {
  MachineConfig machine = gc200();
  machine.tile.clock_hz = 1'000'000'000;
  machine.host.bytes_per_second = 4'000'000'000;
  machine.host.packet_overhead_ns = 10;
  machine.host.phase_latency_ns = 100;
  return machine;
}

using Ends = std::vector<std::uint64_t>;

/// When packets of so many bytes end, in the order in which they go.
Ends ends_of(const MachineConfig& machine, const std::vector<std::uint32_t>& bytes,
             const Ends& ready = {}) {
  std::vector<HostPacket> packets;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    packets.push_back({.bytes = bytes[i], .ready = Cycles(ready.empty() ? 0 : ready[i])});
  }
  time_packets(machine, packets);
  Ends ends;
  for (const HostPacket& packet : packets) ends.push_back(packet.end.value());
  return ends;
}

TEST(Packets, OneEndsTheLatencyItsOverheadAndItsBytesLater) {
  EXPECT_EQ(ends_of(round_numbers(), {1024}), (Ends{100 + 10 + 256}));
}

TEST(Packets, FollowEachOtherOnTheirLink) {
  EXPECT_EQ(ends_of(round_numbers(), {4, 4, 4, 8, 4}), (Ends{111, 122, 133, 145, 156}));
}

TEST(Packets, AreDealtToTheLinksInTurn) {
  MachineConfig machine = round_numbers();
  machine.host.links = 2;
  EXPECT_EQ(ends_of(machine, {40, 4, 4, 4, 4}), (Ends{120, 111, 131, 122, 142}));
}

TEST(Packets, WaitForAPlaceThatIsFreeAgainALatencyAfterAPacketsEnd) {
  MachineConfig machine = round_numbers();
  machine.host.packets_in_flight = 1;
  EXPECT_EQ(ends_of(machine, {4, 4, 4}), (Ends{111, 222, 333}));
  machine.host.packets_in_flight = 2;
  EXPECT_EQ(ends_of(machine, {4, 4, 4, 4}), (Ends{111, 122, 222, 233}));
  machine.host.links = 2;
  EXPECT_EQ(ends_of(machine, {4, 4, 4, 4, 4}), (Ends{111, 111, 122, 122, 222}));
}

TEST(Packets, OfABuiltinMachineNeverWaitForAPlace) {
  MachineConfig machine = gc200();
  const std::vector<std::uint32_t> smallest(1000, 4);
  const Ends ends = ends_of(machine, smallest);
  machine.host.packets_in_flight = 1000;
  EXPECT_EQ(ends, ends_of(machine, smallest));
  machine.host.packets_in_flight = 99;
  EXPECT_LT(ends.back(), ends_of(machine, smallest).back());
}

TEST(Packets, ThatBecomeReadyLaterGoLater) {
  EXPECT_EQ(ends_of(round_numbers(), {40, 4, 8}, {300, 50, 100}), (Ends{111, 123, 320}));
  EXPECT_EQ(ends_of(round_numbers(), {4, 4}, {99, 0}), (Ends{111, 122})) << "both by the latency";
}

TEST(Packets, HaveExactTimesThatAreRoundedUpOnce) {
  MachineConfig machine = round_numbers();
  machine.host.bytes_per_second = 3'000'000'000;
  machine.host.packet_overhead_ns = 0;
  EXPECT_EQ(ends_of(machine, {4, 4, 4}), (Ends{102, 103, 104}));
}

/// All keys at their extremes that make a packet take longest.
MachineConfig slowest_packets(std::uint64_t clock_hz, std::uint64_t bytes_per_second) {
  MachineConfig machine = gc200();
  machine.tile.clock_hz = clock_hz;
  machine.host.bytes_per_second = bytes_per_second;
  machine.host.packet_overhead_ns = machine.host.phase_latency_ns = 1'000'000'000;
  machine.host.packets_in_flight = 65'536;
  return machine;
}

TEST(Packets, AreExactWithAllKeysAtTheirExtremes) {
  // A packet takes 100,000,000,000 cycles and its 4 bytes 0.04.
  const Ends ends = ends_of(slowest_packets(100'000'000'000, 10'000'000'000'000),
                            std::vector<std::uint32_t>(400'000, 4));
  for (std::uint64_t i = 0; i < ends.size(); ++i) {
    ASSERT_EQ(ends[i], (i + 2) * 100'000'000'000 + (i + 25) / 25) << i;
  }
}

TEST(Packets, AreExactWhereClockAndBandwidthHaveNoCommonDivisor) {
  using Wide = unsigned __int128;
  constexpr std::uint64_t kClock = 99'999'999'977, kBandwidth = 9'999'999'999'971;
  const Ends ends = ends_of(slowest_packets(kClock, kBandwidth), {1024, 1024, 1024});
  for (std::uint64_t i = 0; i < ends.size(); ++i) {
    // A second of latency, then a second and 1024 bytes for each.
    const Wide product = Wide{kClock} * ((i + 2) * kBandwidth + (i + 1) * 1024);
    EXPECT_EQ(ends[i], static_cast<std::uint64_t>((product + kBandwidth - 1) / kBandwidth));
  }
}

TEST(Packets, BehindTheLastCycleOf64BitsEndInIt) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(ends_of(round_numbers(), {4, 4, 4}, {0, kLast - 20, kLast - 20}),
            (Ends{111, kLast - 9, kLast}));
}

}  // namespace
}  // namespace superstep
