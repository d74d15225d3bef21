// The host of a simulation: callbacks, feeds, and host programs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "isa/timing.h"
#include "tests/sim/call_programs.h"
#include "tests/sim/knowing_engine.h"
#include "tests/sim/lengths.h"

namespace superstep {
namespace {

bool give_zeros(std::span<std::byte> bytes) {
  std::ranges::fill(bytes, std::byte{0});
  return true;
}

TEST(Streams, CallbacksTakeTheHostsTimeUnlessTheyRunAhead) {
  const auto cycles_with = [](std::uint32_t prefetch, bool by_callback) {
    ProgramImage image = increments();
    image.machine.host.callback_latency_ns = 60'000;
    image.machine.host.prefetch = prefetch;
    Simulation sim(image);
    std::int32_t value = 0;
    if (by_callback) {
      sim.connect_argument(0, [&](std::span<std::byte> bytes) {
        const std::array<std::int32_t, 2> pair = {value++, 0};
        std::memcpy(bytes.data(), pair.data(), bytes.size());
        return true;
      });
    }
    for (std::int32_t call = 0; call < 3; ++call) {
      if (!by_callback) sim.set_argument(0, pair_of(call, 0));
      EXPECT_EQ(sim.call().kind, StopKind::kCall);
      EXPECT_EQ(sim.result(0).get<std::int32_t>(0), call + 1);
    }
    return sim.now();
  };
  const Cycles latency = cycles_of_ns(increments().machine, 60'000);
  const Cycles plain = cycles_with(0, false);
  // The host comes when its callback is done; without one, an external latency before it.
  const Cycles external =
      cycles_of_ns(increments().machine, increments().machine.sync.external_latency_ns);
  EXPECT_EQ(cycles_with(0, true), plain + 3 * (latency - external));
  const Cycles ahead = cycles_with(1, true);
  EXPECT_LT(ahead, plain + 3 * (latency - external));
  EXPECT_GT(ahead, plain + (latency - external)) << "the first value cannot be made ahead";
}

TEST(Streams, AsManyValuesAsThePrefetchAreMadeAheadOneAfterTheOther) {
  // Takes a value, computes for longer than three callbacks, and takes four more at once: each in a
  // superstep that waits for the host, and one that is the visit.
  constexpr std::uint64_t kLatency = 79'500;  // 60 us at 1.325 GHz
  const auto run_with = [](std::uint32_t prefetch) {
    ProgramImage image = image_of(1);
    const TensorType pair{DType::kI32, {2}};
    image.streams = {{Stream::Kind::kInfeed, 0, pair, {{TileId{0}, kData, 8, {{0, 0, 8}}}}}};
    image.visits = {{kCode, {{}, {0}}}, {kCode + 32, {{}, {0}}}};
    const std::string visit = "  sync 4\n  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\n";
    add_program(image, 0,
                visit + "  setzi $m2, 62\nwork:\n  delay 4000\n  brnzdec $m2, work\n" +
                    "  setzi $m1, 3\nagain:\n" + visit + "  brnzdec $m1, again\n  sync 4\n");
    image.machine.host.callback_latency_ns = 60'000;
    image.machine.host.prefetch = prefetch;
    Simulation sim(image);
    Lengths lengths(sim);
    std::vector<std::size_t> made;  // by value: supersteps that were done then
    sim.connect_infeed(0, [&](std::span<std::byte> bytes) {
      made.push_back(lengths.cycles.size());
      return give_zeros(bytes);
    });
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    EXPECT_EQ(std::ranges::count(made, 2), prefetch) << "those made as the first visit ends";
    return lengths.cycles;
  };
  for (const std::uint32_t prefetch : {1U, 2U, 3U}) {
    const std::vector<std::uint64_t> cycles = run_with(prefetch);
    ASSERT_EQ(cycles.size(), 11U);
    EXPECT_EQ(cycles[0], kLatency) << "none is made before the tiles ask for the first";
    EXPECT_GT(cycles[2], 3 * kLatency) << "the tile computes";
    for (std::size_t value = 2; value <= 4; ++value) {
      // A tile that is not kept waiting asks a few cycles after a visit, 398 before the next.
      EXPECT_EQ(cycles[2 * value] < 398 + 20, value <= prefetch) << prefetch << ", " << value;
    }
    // The value behind those that were there is begun at the end of the second visit.
    std::uint64_t since = 0;
    for (std::size_t s = 4; s <= 2 * (prefetch + 1); ++s) since += cycles[s];
    EXPECT_EQ(since, kLatency) << prefetch;
  }
}

TEST(Streams, CallbacksOfTwoStreamsOfAVisitRunOneAfterTheOther) {
  const auto first_wait = [](std::uint32_t callbacks) {
    ProgramImage image = image_of(1);
    const TensorType pair{DType::kI32, {2}};
    const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
    const std::vector<StreamPiece> others = {{TileId{0}, kData + 8, 8, {{0, 0, 8}}}};
    image.streams = {{Stream::Kind::kInfeed, 0, pair, pieces},
                     {Stream::Kind::kInfeed, 1, pair, others}};
    image.visits = {{kCode, {{}, {0, 1}}}};
    add_program(image, 0, "  sync 4\n  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\n  sync 4\n");
    image.machine.host.callback_latency_ns = 60'000;
    Simulation sim(image);
    Lengths lengths(sim);
    for (std::uint32_t queue = 0; queue < 2; ++queue) {
      if (queue < callbacks) {
        sim.connect_infeed(queue, give_zeros);
      } else {
        sim.feed(queue, pair_of(1, 2));
      }
    }
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    return lengths.cycles[0];
  };
  EXPECT_EQ(first_wait(0), 398u) << "the latency of the external sync: 300 ns at 1.325 GHz";
  EXPECT_EQ(first_wait(1), 79'500u) << "60 us";
  EXPECT_EQ(first_wait(2), 159'000u);
}

TEST(Streams, OutfeedsGoToTheirCallbacksAndTheHostIsBusyWithThem) {
  const auto run_with = [](std::uint32_t callback_ns, std::vector<std::int32_t>& seen) {
    ProgramImage image = feeds();
    image.machine.host.callback_latency_ns = callback_ns;
    Simulation sim(image);
    Lengths lengths(sim);
    std::int32_t value = 5;
    sim.connect_infeed(0, [&](std::span<std::byte> bytes) {
      std::memcpy(bytes.data(), pair_of(value++, 0).data.data(), bytes.size());
      return true;
    });
    sim.connect_outfeed(0, [&](std::span<const std::byte> bytes) {
      EXPECT_EQ(bytes.size(), 8u);
      std::int32_t first = 0;
      std::memcpy(&first, bytes.data(), sizeof(first));
      seen.push_back(first);
    });
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    EXPECT_FALSE(sim.take(0)) << "the callback has them";
    return lengths.cycles;
  };
  std::vector<std::int32_t> seen;
  const std::vector<std::uint64_t> cycles = run_with(60'000, seen);
  EXPECT_EQ(seen, (std::vector<std::int32_t>{5, 6, 7}));
  // Of each value: the wait for it, its visit, the wait for the host, the visit that takes it.
  ASSERT_GE(cycles.size(), 8u);
  EXPECT_EQ(cycles[0], 1 + 79'500u) << "the tile asks in cycle 1";
  EXPECT_LT(cycles[2], 420u) << "the host has nothing to do before it takes a value";
  // Behind that visit, which ends as the superstep begins, the callback that takes the value runs,
  // and then the one that makes the next.
  EXPECT_EQ(cycles[4], 2 * 79'500u);
  EXPECT_EQ(cycles[8], 2 * 79'500u);
}

TEST(Streams, AnOutfeedWhoseCallbackThrowsIsALocatedTrap) {
  Simulation sim(feeds());
  sim.connect_infeed(0, give_zeros);
  sim.connect_outfeed(0, [](std::span<const std::byte>) { throw std::runtime_error("disk full"); });
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->cause, "the callback of outfeed0 fails: disk full");
  EXPECT_EQ(stop.trap->kind, TrapKind::kHost);
  EXPECT_EQ(stop.trap->pc, kCode + 20) << "the sync that began the visit";
  EXPECT_THROW(sim.connect_outfeed(1, nullptr), MalformedInput);
}

/// The simulation stopped for the host, and stays so.
void expect_trap_of_host(Simulation& sim, const Stop& stop, const std::string& cause) {
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_EQ(stop.trap->cause, cause);
  EXPECT_EQ(stop.trap->kind, TrapKind::kHost);
  EXPECT_EQ(sim.run().kind, StopKind::kTrap);
}

TEST(Streams, ACallbackThatThrowsIsALocatedTrap) {
  Simulation sim(increments());
  sim.connect_argument(
      0, [](std::span<std::byte>) -> bool { throw std::runtime_error("no more files"); });
  const Stop stop = sim.call();
  expect_trap_of_host(sim, stop, "the callback of arg0 fails: no more files");
}

TEST(Streams, AnInfeedWhoseCallbackThrowsOrRunsDryIsALocatedTrap) {
  for (const bool throws : {false, true}) {
    Simulation sim(feeds());
    int values = 1;
    sim.connect_infeed(0, [&](std::span<std::byte> bytes) {
      if (values-- > 0) return give_zeros(bytes);
      if (throws) throw std::runtime_error("no more files");
      return false;
    });
    const Stop stop = sim.run();
    ASSERT_EQ(stop.kind, StopKind::kTrap);
    EXPECT_EQ(stop.trap->context, "host");
    EXPECT_EQ(stop.trap->kind, TrapKind::kHost);
    EXPECT_EQ(stop.trap->pc, kCode + 4) << "the sync at which the tile asks for it";
    const char* const cause =
        throws ? "the callback of infeed0 fails: no more files" : "infeed0 runs dry";
    EXPECT_NE(stop.trap->cause.find(cause), std::string::npos) << stop.trap->cause;
    EXPECT_TRUE(sim.take(0)) << "the first value came back before";
    EXPECT_EQ(sim.run().kind, StopKind::kTrap);
  }
}

TEST(Streams, AResultWhoseCallbackThrowsIsALocatedTrap) {
  Simulation sim(increments());
  sim.connect_result(0, [](std::span<const std::byte>) { throw std::runtime_error("disk full"); });
  sim.set_argument(0, pair_of(1, 2));
  const Stop stop = sim.call(true);
  expect_trap_of_host(sim, stop, "the callback of result0 fails: disk full");
}

TEST(Streams, WhatAHostProgramThrowsLeavesTheSimulationForGood) {
  Simulation sim(increments());
  sim.set_host_program([](std::uint32_t) -> HostTurn { throw std::runtime_error("no plan"); });
  EXPECT_THROW((void)sim.run(), std::runtime_error);
  EXPECT_THROW((void)sim.run(), UserError);
}

TEST(Streams, ASourceThatRunsDryIsALocatedTrap) {
  Simulation sim(increments());
  int values = 2;
  sim.connect_argument(0, [&](std::span<std::byte>) { return values-- > 0; });
  EXPECT_EQ(sim.call().kind, StopKind::kCall);
  EXPECT_EQ(sim.call().kind, StopKind::kCall);
  const Stop stop = sim.call();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_NE(stop.trap->cause.find("arg0 runs dry"), std::string::npos) << stop.trap->cause;
}

TEST(Streams, ResultsGoToTheirCallbacks) {
  Simulation sim(increments());
  std::vector<std::int32_t> seen;
  sim.connect_result(0, [&](std::span<const std::byte> bytes) {
    std::int32_t first = 0;
    std::memcpy(&first, bytes.data(), sizeof(first));
    seen.push_back(first);
  });
  sim.call({pair_of(3, 0)});
  sim.call({pair_of(5, 0)}, true);
  EXPECT_EQ(seen, (std::vector<std::int32_t>{4, 6}));
}

TEST(Streams, FeedsInsideAProgramTakeAndGiveValuesInOrder) {
  Simulation sim(feeds());
  for (std::int32_t i = 0; i < 3; ++i) sim.feed(0, pair_of(i, 10 * i));
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  for (std::int32_t i = 0; i < 3; ++i) {
    const std::optional<HostTensor> value = sim.take(0);
    ASSERT_TRUE(value);
    EXPECT_EQ(value->get<std::int32_t>(0), i);
    EXPECT_EQ(value->get<std::int32_t>(1), 10 * i);
  }
  EXPECT_FALSE(sim.take(0));
}

TEST(Streams, AnEmptyInfeedIsALocatedTrap) {
  Simulation sim(feeds());
  sim.feed(0, pair_of(1, 2));
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->pc, kCode + 4);
  EXPECT_NE(stop.trap->cause.find("infeed0 is empty"), std::string::npos) << stop.trap->cause;
  EXPECT_TRUE(sim.take(0)) << "the first value came back before";
}

TEST(Streams, AHostThatStopsLeavesTheTilesWaiting) {
  Simulation sim(increments());
  sim.call({pair_of(1, 2)});
  const Cycles then = sim.now();
  EXPECT_EQ(sim.run().kind, StopKind::kCall);
  EXPECT_EQ(sim.step_superstep().kind, StopKind::kCall);
  EXPECT_EQ(sim.now(), then);
}

TEST(Streams, ACallbackThatThrowsAnythingIsATrap) {
  Simulation sim(increments());
  sim.connect_argument(0, [](std::span<std::byte>) -> bool { throw 42; });
  const Stop stop = sim.call();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_EQ(sim.run().kind, StopKind::kTrap);
}

TEST(Streams, AHostProgramThatWaitsIsAskedAgain) {
  Simulation sim(increments());
  const HostTensor pair = pair_of(5, 6);
  bool is_ready = false;
  sim.set_host_program([&](std::uint32_t) {
    if (!is_ready) return HostTurn::kWaits;
    sim.send_argument(0, std::as_bytes(std::span(pair.data)));
    return HostTurn::kLastCall;
  });
  EXPECT_EQ(sim.run().kind, StopKind::kCall);
  EXPECT_EQ(sim.run().kind, StopKind::kCall);
  EXPECT_THROW(sim.begin_call(), UserError);
  is_ready = true;
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(sim.result(0).data, pair_of(6, 7).data);
}

TEST(Streams, TheHostComesOnceToASyncHoweverOftenTheRunStandsStillBefore) {
  const auto run = [](bool stands_still) {
    ProgramImage image = increments();
    image.machine.host.callback_latency_ns = 60'000;
    Simulation sim(std::move(image));
    int asked = 0;
    sim.set_host_program([&](std::uint32_t) {
      ++asked;
      return HostTurn::kLastCall;
    });
    sim.connect_argument(0, give_zeros);
    for (int i = 0; stands_still && i < 3; ++i) {
      EXPECT_EQ(sim.step_cycles(1000).kind, StopKind::kBreakpoint);
      EXPECT_THROW(sim.begin_call(), UserError);
    }
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(sim.result(0).data, pair_of(1, 1).data);
    return sim.now();
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Streams, AStreamHasItsValuesFromOnePlace) {
  Simulation calls(increments());
  calls.connect_argument(0, give_zeros);
  EXPECT_THROW(calls.set_argument(0, pair_of(1, 2)), MalformedInput);
  Simulation connected(feeds());
  connected.connect_infeed(0, give_zeros);
  EXPECT_THROW(connected.feed(0, pair_of(1, 2)), MalformedInput);
  Simulation fed(feeds());
  fed.feed(0, pair_of(1, 2));
  EXPECT_THROW(fed.connect_infeed(0, give_zeros), MalformedInput);
}

TEST(Streams, ValuesThatWereMadeAheadComeBeforeThoseOfAnotherCallback) {
  ProgramImage image = feeds();
  image.machine.host.prefetch = 2;
  Simulation sim(image);
  const auto connect = [&](std::int32_t first, std::int32_t end) {
    sim.connect_infeed(0, [next = first, end](std::span<std::byte> bytes) mutable {
      if (next == end) return false;
      const HostTensor value = pair_of(next, next);
      ++next;
      std::ranges::copy(value.data, bytes.begin());
      return true;
    });
  };
  connect(1, 3);  // two values: dry when a third one is made ahead
  while (sim.infeeds_taken(0) == 0) ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  ASSERT_EQ(sim.infeeds_made(0), 2u);
  ASSERT_EQ(sim.infeeds_taken(0), 1u);
  connect(10, 100);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  for (const std::int32_t value : {1, 2, 10}) {
    EXPECT_EQ(sim.take(0).value().data, pair_of(value, value).data);
  }
}

TEST(Streams, InfeedsAreMadeAheadInTheLastCallToo) {
  // A call that takes ten pairs, and computes for longer than the host needs for the next one.
  const auto cycles = [](std::uint32_t prefetch) {
    ProgramImage image = image_of(1);
    const TensorType pair{DType::kI32, {2}};
    const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
    image.streams = {{Stream::Kind::kArgument, 0, pair, pieces},
                     {Stream::Kind::kInfeed, 0, pair, pieces}};
    image.arguments = {pair};
    image.first.arguments = {0};
    image.next = {{}, {0}};
    image.visits = {{kCode + 20, {{}, {1}}}};
    const std::string listen = "  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\n";
    add_program(image, 0,
                "  setzi $m1, 9\n  sync 4\n" + listen + "again:\n  sync 4\n" + listen +
                    "  setzi $m5, 30\nwork:\n  delay 4000\n  brnzdec $m5, work\n  sync 3\n"
                    "  brnzdec $m1, again\n  sync 4\n  sync 4\n  sync 4\n");
    image.machine.host.prefetch = prefetch;
    Simulation sim(image);
    sim.set_argument(0, pair_of(1, 2));
    sim.connect_infeed(0, give_zeros);
    EXPECT_EQ(sim.call(true).kind, StopKind::kEnd);
    return sim.now();
  };
  EXPECT_LT(cycles(1).value() + 100'000, cycles(0).value());
}

/// result0 = arg0, in one call. The tile is at its last sync in the cycle in which the visit ends
/// that brings the result.
ProgramImage gives_back_at_its_end() {
  ProgramImage image = image_of(1);
  image.machine.sync.column_skew = {0};
  const TensorType pair{DType::kI32, {2}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
  image.streams = {{Stream::Kind::kArgument, 0, pair, pieces},
                   {Stream::Kind::kResult, 0, pair, pieces}};
  image.arguments = image.results = {pair};
  image.alias = {std::nullopt};
  image.first.arguments = {0};
  image.last.results = {1};
  add_program(image, 0,
              "  sync 4\n  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\n  sync 4\n" + kVisit +
                  "  sync 4\n  sync 4\n");
  return image;
}

TEST(Streams, AResultWhoseCallbackThrowsAsTheProgramEndsIsALocatedTrap) {
  Simulation sim(gives_back_at_its_end());
  sim.connect_result(0, [](std::span<const std::byte>) { throw std::runtime_error("disk full"); });
  sim.set_argument(0, pair_of(1, 2));
  const Stop stop = sim.call(true);
  expect_trap_of_host(sim, stop, "the callback of result0 fails: disk full");
  EXPECT_EQ(stop.trap->cycle, sim.now()) << "in the last cycle of the program";
  Simulation thrown(gives_back_at_its_end());
  thrown.connect_result(0, [](std::span<const std::byte>) { throw 42; });
  EXPECT_THROW((void)thrown.call({pair_of(1, 2)}, true), UserError);
  Simulation works(gives_back_at_its_end());
  EXPECT_EQ(works.call({pair_of(1, 2)}, true).at(0).data, pair_of(1, 2).data);
}

TEST(Streams, AVisitThatEndsBehindTheLastCycleIsALocatedTrap) {
  const auto run_behind = [](std::uint64_t slots) {
    ProgramImage image = image_of(1);
    const TensorType pair{DType::kI32, {2}};
    image.streams = {{Stream::Kind::kInfeed, 0, pair, {{TileId{0}, kData, 8, {{0, 0, 8}}}}}};
    const std::string launch = "  runall $m1, $m3, 0\n  sync 2\n";
    image.visits = {{kCode + 24, {{}, {0}}}};
    add_program(image, 0,
                "  setzi $m1, worker\n  setzi $m3, 0x80000\n" + launch + launch +
                    "  sync 4\n  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\n  sync 4\n"
                    "  .align 8\nworker:\n  exitz $m15\n");
    Simulation sim(image, {.make_engine = [&](TileId, Engine&) {
                     return std::make_unique<KnowingEngine>(slots);
                   }});
    sim.feed(0, pair_of(1, 2));
    return sim.run();
  };
  // Two launches of so many slots of 6 cycles.
  constexpr std::uint64_t kUntilLastCycle = (std::uint64_t{1} << 63) / 12;
  EXPECT_EQ(run_behind(kUntilLastCycle - 10'000).kind, StopKind::kEnd);
  const Stop stop = run_behind(kUntilLastCycle);
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_EQ(stop.trap->pc, kCode + 24);
  EXPECT_EQ(stop.trap->cause,
            "the packets of this visit end behind cycle 9223372036854775808, up to which a run "
            "goes: try a shorter host.packet_overhead, larger packets, a lower tile.clock or fewer "
            "calls");
}

}  // namespace
}  // namespace superstep
