#include "compiler/schedule/ports.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace superstep {
namespace {

constexpr std::uint32_t kCycles = 1000;

/// Ports that are busy in random cycles, as bits and one by one.
struct RandomPorts {
  std::vector<BusyCycles> busy{3};
  std::vector<std::uint32_t> latencies{0, 29, 64};
  std::vector<bool> sender_is_busy = std::vector<bool>(2 * kCycles);

  explicit RandomPorts(std::uint32_t seed) {
    std::mt19937 engine(seed);
    const auto below = [&](std::uint32_t limit) {
      return static_cast<std::uint32_t>(engine() % limit);
    };
    if (seed % 2 == 1) {  // full from the first cycle on
      const std::uint32_t port = below(3), end = latencies[port] + below(400);
      busy[port].add(0, end + 1);
      for (std::uint32_t c = 0; c + latencies[port] <= end; ++c) sender_is_busy[c] = true;
    }
    for (int i = 0; i < 24; ++i) {
      const std::uint32_t port = below(3);
      const std::uint32_t begin = 64 + below(kCycles - 200), words = 1 + below(70);
      busy[port].add(begin + latencies[port], begin + latencies[port] + words);
      for (std::uint32_t c = begin; c < begin + words; ++c) sender_is_busy[c] = true;
    }
  }

  [[nodiscard]] JointCycles joint() const {
    JointCycles joint;
    for (std::size_t i = 0; i < busy.size(); ++i) joint.add(busy[i], latencies[i]);
    return joint;
  }
  [[nodiscard]] std::uint32_t next_busy(std::uint32_t from) const {
    while (from < kCycles && !sender_is_busy[from]) ++from;
    return from < kCycles ? from : BusyCycles::kNeverBusy;
  }
  [[nodiscard]] std::uint32_t gap(std::uint32_t from, std::uint32_t length) const {
    while (next_busy(from) - from < length) ++from;
    return from;
  }
};

TEST(JointCycles, FirstGapIsTheFirstCycleFromWhichAllPortsAreFree) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const RandomPorts ports(seed);
    const JointCycles joint = ports.joint();
    for (const std::uint32_t length : {1U, 2U, 11U, 63U, 64U, 65U, 200U}) {
      for (std::uint32_t from = 0; from < kCycles; from += 7) {
        ASSERT_EQ(joint.first_gap(from, length), ports.gap(from, length))
            << "seed " << seed << ", length " << length << ", from " << from;
      }
    }
  }
}

TEST(JointCycles, CyclesAreFreeUntilOnePortIsBusy) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const RandomPorts ports(seed);
    const JointCycles joint = ports.joint();
    for (std::uint32_t from = 0; from < kCycles; ++from) {
      ASSERT_EQ(joint.free_until(from), ports.next_busy(from)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace superstep
