// Overrides of a machine: one key, several at once, and what follows from others.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

/// The error of a builtin machine with overrides; empty when there is none.
std::string error_of(const std::string& machine, const std::vector<std::string>& overrides) {
  try {
    (void)load_machine(machine, overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Override, ChangesOneKeyAndTakesAUnitWithoutQuotes) {
  const MachineConfig machine = load_machine("tiny4", {"tile.workers=8", "tile.clock=1.5 GHz"});
  EXPECT_EQ(machine.tile.workers, 8u);
  EXPECT_EQ(machine.tile.clock_hz, 1'500'000'000u);
}

TEST(Patterns, MultiplyAllNumbersLikeThemAndSaySo) {
  const std::vector<std::string> x5 = {"exchange.*_latency=x5"};
  const MachineConfig bow = load_machine("bow"), slow = load_machine("bow", x5);
  EXPECT_EQ(slow.exchange.same_column_latency, 5 * bow.exchange.same_column_latency);
  EXPECT_EQ(slow.exchange.per_row_latency, 5U);
  EXPECT_EQ(slow.exchange.cross_east_per_column, bow.exchange.cross_east_per_column);
  EXPECT_EQ(slow.sync.internal_latency, bow.sync.internal_latency);
  EXPECT_EQ(slow.name, "bow with exchange.*_latency=x5");
  EXPECT_EQ(machine_sources("bow", x5).at("exchange.per_row_latency"),
            "user: 5 x " + machine_sources("bow").at("exchange.per_row_latency"));
  EXPECT_EQ(load_machine("bow", {"tile.clock=x0.5"}).tile.clock_hz, 925'000'000U);
  EXPECT_EQ(load_machine("bow", {"sync.column_skew=x2"}).sync.column_skew[1], 8U);
  EXPECT_NE(error_of("bow", {"exchange.*_latencies=x5"}).find("no key is like"), std::string::npos);
  EXPECT_NE(error_of("bow", {"tile.workers=x9"}).find("9 x 'tile.workers' is not 1 to 16"),
            std::string::npos);
}

TEST(Patterns, LeaveOutWhatTheMachineDoesNotRead) {
  for (const std::string& name : builtin_machines()) {
    const MachineConfig plain = load_machine(name);
    const MachineConfig fast = load_machine(name, {"exchange.*_latency=x0.25"});
    EXPECT_EQ(fast.exchange.same_side_latency, (plain.exchange.same_side_latency + 2) / 4) << name;
    EXPECT_EQ(fast.exchange.hop_latency, 1U) << "a quarter of a cycle is none";
    const MachineConfig half = load_machine(name, {"exchange.*=x0.5"});
    EXPECT_EQ(half.exchange.width_bytes, plain.exchange.width_bytes / 2) << name;
    EXPECT_EQ(half.exchange.fabric, plain.exchange.fabric) << "a name";
  }
}

TEST(Patterns, AreRefusedForANumberThatTheMachineReads) {
  const std::string refusal = "0.25 x 'exchange.hop_latency' is not \"1 cycle\" to \"4096 cycles\"";
  for (const bool is_first : {true, false}) {
    std::vector<std::string> overrides = {"exchange.*_latency=x0.25", "exchange.fabric=mesh"};
    if (is_first) std::swap(overrides[0], overrides[1]);
    EXPECT_NE(error_of("small64", overrides).find(refusal), std::string::npos) << is_first;
  }
  EXPECT_NE(error_of("small64", {"exchange.hop_latency=x0.25"}).find(refusal), std::string::npos)
      << "no pattern";
  EXPECT_NE(error_of("small64", {"exchange.fabric=x0.5"}).find("is a name"), std::string::npos);
}

TEST(LongestSend, IsWhatTheEncodingHasRoomFor) {
  const std::vector<std::string> wide = {"grid.tiles=3000"};
  EXPECT_EQ(load_machine("gc200").exchange.max_send_words, 64U);
  for (const std::vector<std::string>& overrides :
       {wide, std::vector<std::string>{"isa.encoding=wide"}}) {
    EXPECT_EQ(load_machine("gc200", overrides).exchange.max_send_words, 32U);
    EXPECT_EQ(machine_sources("gc200", overrides).at("exchange.max_send_words"),
              "derived: isa.encoding = \"wide\" has room for 32");
  }
  EXPECT_EQ(load_machine("gc200", {"grid.tiles=3000", "exchange.max_send_words=16"})
                .exchange.max_send_words,
            16U);
  EXPECT_EQ(error_of("gc200", {"grid.tiles=3000", "exchange.max_send_words=40"}),
            "--set exchange.max_send_words=40: error: exchange.max_send_words = 40; isa.encoding = "
            "\"wide\" has room for 32");
}

}  // namespace
}  // namespace superstep
