#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "isa/timing.h"
#include "tests/sim/call_programs.h"

namespace superstep {
namespace {

TEST(Simulation, CallsOneByOneWithoutANumberKnownBeforehand) {
  Simulation sim(increments());
  for (std::int32_t i = 0; i < 5; ++i) {
    const std::vector<HostTensor> results = sim.call({pair_of(10 * i, i)});
    EXPECT_EQ(results[0].get<std::int32_t>(0), 10 * i + 1);
    EXPECT_EQ(results[0].get<std::int32_t>(1), i + 1);
    EXPECT_EQ(sim.calls_done(), static_cast<std::uint32_t>(i + 1));
  }
  const std::vector<HostTensor> results = sim.call({pair_of(100, 200)}, true);
  EXPECT_EQ(results[0].get<std::int32_t>(1), 201);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

TEST(Simulation, CallsOneByOneTakeTheCyclesOfARunOfAsMany) {
  HostTensor stacked(TensorType{DType::kI32, {3, 2}});
  for (std::size_t i = 0; i < 6; ++i) stacked.set(i, static_cast<std::int32_t>(i));
  RunOptions options;
  options.calls = 3;
  const RunResult run = run_image(increments(), {stacked}, options);
  ASSERT_FALSE(run.trap) << run.trap->text();
  Simulation sim(increments());
  sim.call({pair_of(0, 1)});
  sim.call({pair_of(2, 3)});
  const std::vector<HostTensor> results = sim.call({pair_of(4, 5)}, true);
  EXPECT_EQ(sim.now(), run.totals.cycles);
  EXPECT_EQ(sim.totals().supersteps, run.totals.supersteps);
  EXPECT_EQ(results[0].get<std::int32_t>(0), run.results[0].get<std::int32_t>(4));
}

TEST(Simulation, AnArgumentThatIsNotSetAgainKeepsWhatTheProgramLeft) {
  Simulation sim(increments());
  sim.call({pair_of(1, 2)});
  EXPECT_EQ(sim.call().kind, StopKind::kCall);
  EXPECT_EQ(sim.result(0).get<std::int32_t>(0), 3);
  EXPECT_EQ(sim.result(0).get<std::int32_t>(1), 4);
}

TEST(Simulation, StepsFromOpeningToOpening) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n sync 4\n");
  Simulation sim(image);
  std::vector<std::uint64_t> openings;
  while (sim.step_superstep().kind == StopKind::kSuperstep) openings.push_back(sim.now().value());
  const Recorded whole = record(image);
  ASSERT_EQ(openings.size(), whole.supersteps.size());
  for (std::size_t s = 0; s < openings.size(); ++s) {
    EXPECT_EQ(openings[s], whole.supersteps[s].end.value());
  }
  EXPECT_EQ(sim.step_superstep().kind, StopKind::kEnd) << "the end stays the end";
}

TEST(Simulation, StopsAtBreakpoints) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n delay 70\n sync 3\n sync 4\n");
  const Recorded whole = record(image);
  Simulation sim(image);
  EXPECT_EQ(sim.run_until({.superstep = 2}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.totals().supersteps, 2u);
  Simulation other(image);
  const Cycles cycle = whole.supersteps[0].end + 1_cycles;
  EXPECT_EQ(other.run_until({.cycle = cycle}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(other.now(), cycle);
  EXPECT_EQ(other.run().kind, StopKind::kEnd);
  EXPECT_EQ(other.now(), whole.result.totals.cycles);
}

TEST(Simulation, StopsBehindASuperstepOfAStep) {
  // Twice: a superstep of step 0 and one of step 1, each named by the sync that begins it.
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "setzi $m1, 1\n again:\n sync 3\n delay 50\n sync 3\n delay 70\n"
              "brnzdec $m1, again\n sync 4\n");
  image.info.steps.resize(2);
  image.marks = {{TileId{0}, kCode + 4, 0}, {TileId{0}, kCode + 12, 1}};
  const Recorded whole = record(image);
  const std::vector<std::uint32_t> steps = {2, 0, 1, 0, 1};  // 2 is none of the program
  ASSERT_EQ(whole.supersteps.size(), steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) EXPECT_EQ(whole.supersteps[s].step, steps[s]);
  Simulation sim(image);
  EXPECT_EQ(sim.run_until({.step = 1}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.totals().supersteps, 3u);
  EXPECT_EQ(sim.now(), whole.supersteps[2].end);
  EXPECT_EQ(sim.last_step(), 1u);
  EXPECT_EQ(sim.run_until({.step = 0}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.totals().supersteps, 4u);
  EXPECT_EQ(sim.last_step(), 0u);
  Simulation first_of_both(image);
  EXPECT_EQ(first_of_both.run_until({.superstep = 4, .step = 1}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(first_of_both.totals().supersteps, 3u);
  EXPECT_EQ(first_of_both.run_until({.superstep = 4, .step = 1}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(first_of_both.totals().supersteps, 4u);
  Simulation never(image);
  EXPECT_EQ(never.run_until({.step = 3}).kind, StopKind::kEnd);
}

TEST(Simulation, MemoryCanBeReadAndChangedBetweenSupersteps) {
  Simulation sim(increments());
  sim.set_argument(0, pair_of(5, 6));
  ASSERT_EQ(sim.call().kind, StopKind::kCall);
  const TileView tile = sim.tile(TileId{0});
  EXPECT_EQ(tile.word(kData), 6u);
  EXPECT_THROW((void)tile.word(kData + 2), MalformedInput);
  const std::array<std::uint32_t, 2> words = {40, 50};
  ASSERT_TRUE(tile.write(kData, std::as_bytes(std::span(words))));
  sim.call();
  EXPECT_EQ(sim.result(0).get<std::int32_t>(0), 41);
}

TEST(Simulation, RefusesArgumentsAndTilesThatAreNotThere) {
  Simulation sim(increments());
  EXPECT_THROW(sim.set_argument(1, pair_of(0, 0)), MalformedInput);
  EXPECT_THROW(sim.set_argument(0, HostTensor(TensorType{DType::kF32, {2}})), MalformedInput);
  EXPECT_THROW((void)sim.call(), MalformedInput) << "arg0 is not set";
  EXPECT_THROW((void)sim.tile(TileId{7}), MalformedInput);
  EXPECT_THROW((void)sim.result(1), MalformedInput);
  EXPECT_EQ(sim.call({pair_of(1, 1)})[0].get<std::int32_t>(0), 2) << "it goes on after all of them";
}

TEST(Simulation, StandsStillForGoodAtATrap) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n setzi $m1, 3\n ld32 $m2, $m15, $m1, 0\n sync 4\n");
  Simulation sim(image);
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->superstep, 1u);
  const Stop again = sim.run();
  ASSERT_EQ(again.kind, StopKind::kTrap);
  EXPECT_EQ(again.trap->text(), stop.trap->text());
}

TEST(Simulation, CallbacksTakeTheHostsTimeUnlessTheyRunAhead) {
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

/// Cycles of each superstep.
class Lengths : public Observer {
 public:
  explicit Lengths(Simulation& simulation) { simulation.observe(*this); }

  void on_superstep(const SuperstepRecord& record) override {
    cycles.push_back((record.end - record.begin).value());
  }

  std::vector<std::uint64_t> cycles;
};

bool give_zeros(std::span<std::byte> bytes) {
  std::ranges::fill(bytes, std::byte{0});
  return true;
}

TEST(Simulation, AsManyValuesAsThePrefetchAreMadeAheadOneAfterTheOther) {
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

TEST(Simulation, CallbacksOfTwoStreamsOfAVisitRunOneAfterTheOther) {
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

TEST(Simulation, OutfeedsGoToTheirCallbacksAndTheHostIsBusyWithThem) {
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

TEST(Simulation, AnOutfeedWhoseCallbackThrowsIsALocatedTrap) {
  Simulation sim(feeds());
  sim.connect_infeed(0, give_zeros);
  sim.connect_outfeed(0, [](std::span<const std::byte>) { throw std::runtime_error("disk full"); });
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->cause, "the callback of outfeed 0 fails: disk full");
  EXPECT_EQ(stop.trap->kind, TrapKind::kHost);
  EXPECT_EQ(stop.trap->pc, kCode + 20) << "the sync that began the visit";
  EXPECT_THROW(sim.connect_outfeed(1, nullptr), MalformedInput);
}

TEST(Simulation, GoesOnWhereItWasWhenItIsMoved) {
  Simulation whole(increments());
  const std::vector<HostTensor> first = whole.call({pair_of(1, 2)});
  const std::vector<HostTensor> second = whole.call({pair_of(5, 6)}, true);
  std::vector<Simulation> moved;
  std::optional<Lengths> lengths;
  {
    Simulation sim(increments());
    lengths.emplace(sim);
    EXPECT_EQ(sim.call({pair_of(1, 2)})[0].data, first[0].data);
    sim.set_argument(0, pair_of(5, 6));
    sim.begin_call(true);
    ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
    moved.push_back(std::move(sim));
  }
  const TileView tile = moved[0].tile(TileId{0});
  moved.reserve(moved.capacity() + 1);  // moves it once more
  Simulation assigned(increments());
  assigned = std::move(moved[0]);
  moved[0] = std::move(assigned);
  EXPECT_EQ(moved[0].run().kind, StopKind::kEnd);
  EXPECT_EQ(moved[0].result(0).data, second[0].data);
  EXPECT_EQ(moved[0].now(), whole.now());
  EXPECT_EQ(moved[0].calls_done(), 2u);
  EXPECT_EQ(lengths->cycles.size(), whole.totals().supersteps);
  EXPECT_EQ(tile.word(kData), 6u) << "a view stays with its tile";
}

TEST(Simulation, ACallbackThatThrowsIsALocatedTrap) {
  Simulation sim(increments());
  sim.connect_argument(
      0, [](std::span<std::byte>) -> bool { throw std::runtime_error("no more files"); });
  const Stop stop = sim.call();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_EQ(stop.trap->cause, "the callback of arg0 fails: no more files");
  EXPECT_EQ(stop.trap->kind, TrapKind::kHost);
  EXPECT_EQ(sim.run().kind, StopKind::kTrap);
}

TEST(Simulation, ASourceThatRunsDryIsALocatedTrap) {
  Simulation sim(increments());
  int values = 2;
  sim.connect_argument(0, [&](std::span<std::byte>) { return values-- > 0; });
  EXPECT_EQ(sim.call().kind, StopKind::kCall);
  EXPECT_EQ(sim.call().kind, StopKind::kCall);
  const Stop stop = sim.call();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_NE(stop.trap->cause.find("arg0 runs dry"), std::string::npos) << stop.trap->cause;
}

TEST(Simulation, ResultsGoToTheirCallbacks) {
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

TEST(Simulation, FeedsInsideAProgramTakeAndGiveValuesInOrder) {
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

TEST(Simulation, AnEmptyInfeedIsALocatedTrap) {
  Simulation sim(feeds());
  sim.feed(0, pair_of(1, 2));
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->pc, kCode + 4);
  EXPECT_NE(stop.trap->cause.find("infeed 0 is empty"), std::string::npos) << stop.trap->cause;
  EXPECT_TRUE(sim.take(0)) << "the first value came back before";
}

TEST(Simulation, AHostThatStopsLeavesTheTilesWaiting) {
  Simulation sim(increments());
  sim.call({pair_of(1, 2)});
  const Cycles then = sim.now();
  EXPECT_EQ(sim.run().kind, StopKind::kCall);
  EXPECT_EQ(sim.step_superstep().kind, StopKind::kCall);
  EXPECT_EQ(sim.now(), then);
}

/// Keeps what it is told.
class Watcher : public Observer {
 public:
  explicit Watcher(Watch watch) : watch_(std::move(watch)) {}

  [[nodiscard]] Watch watch() const override { return watch_; }
  void on_instruction(TileId tile, const IssuedInstruction& instruction) override {
    issued.emplace_back(tile, instruction);
  }

  std::vector<std::pair<TileId, IssuedInstruction>> issued;

 private:
  Watch watch_;
};

TEST(Simulation, ObserversSeeTheInstructionsOfTheTilesAndSuperstepsThatTheyWatch) {
  ProgramImage image = image_of(3);
  for (std::uint32_t tile = 0; tile < 3; ++tile) {
    add_program(image, tile, "setzi $m1, 1\n sync 3\n setzi $m2, 2\n sync 3\n sync 4\n");
  }
  Simulation sim(image, {.threads = 2});
  Watcher both({.tiles = {TileId{2}, TileId{0}}, .first_superstep = 1, .last_superstep = 1});
  sim.observe(both);
  ASSERT_EQ(sim.run().kind, StopKind::kEnd);
  ASSERT_EQ(both.issued.size(), 4u) << "a setzi and a sync on two tiles";
  EXPECT_EQ(both.issued[0].first, TileId{0});
  EXPECT_EQ(both.issued[1].first, TileId{2});
  EXPECT_EQ(both.issued[0].second.pc, kCode + 8);
  EXPECT_EQ(both.issued[0].second.cycle, both.issued[1].second.cycle);
  Watcher none({.tiles = {TileId{9}}});
  EXPECT_THROW(sim.observe(none), MalformedInput);
}

TEST(Simulation, ObserversSeeNothingBehindATrap) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "delay 50\n setzi $m1, 3\n ld32 $m2, $m15, $m1, 0\n sync 4\n");
  add_program(image, 1, "setzi $m1, 99\n 1: nop\n brnzdec $m1, 1b\n sync 4\n");
  Watcher watcher({.tiles = {TileId{0}, TileId{1}}});
  Simulation sim(image);
  sim.observe(watcher);
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  ASSERT_FALSE(watcher.issued.empty());
  EXPECT_LE(watcher.issued.back().second.cycle, stop.trap->cycle.value());
  EXPECT_GT(watcher.issued.back().second.cycle + 10, stop.trap->cycle.value());
}

TEST(Simulation, InstructionsThatAreWantedAsIssuedAreSeenBeforeTheSuperstepEnds) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "1: nop\n bri 1b\n");
  Watcher watcher({.tiles = {TileId{0}}, .as_issued = true});
  Simulation sim(image, {.interrupted = [&] { return watcher.issued.size() > 100; }});
  sim.observe(watcher);
  EXPECT_EQ(sim.run().kind, StopKind::kInterrupted);
  EXPECT_GT(watcher.issued.size(), 100u);
  EXPECT_EQ(watcher.issued[1].second.pc, kCode + 4);
}

TEST(Simulation, ATileIsLookedAtWhereItWaits) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "setzi $m1, 1\n sync 3\n sync 4\n");
  Simulation sim(image);
  sim.step_superstep();
  EXPECT_EQ(sim.tile(TileId{0}).supervisor_pc(), kCode + 8);
  EXPECT_EQ(sim.tile(TileId{0}).worker_busy_cycles(0), 0u);
  EXPECT_EQ(sim.tile(TileId{0}).worker_instructions().all, 0u);
}

/// A fabric that counts the phases that it is given.
class CountingFabric : public FabricModel {
 public:
  CountingFabric(const MachineConfig& machine, int& phases) : fabric_(machine), phases_(phases) {}
  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    ++phases_;
    return fabric_.resolve(ports);
  }

 private:
  Fabric fabric_;
  int& phases_;
};

TEST(Simulation, RunsOnAFabricOfItsUser) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n delay 30\n send 1, 0x20000, 3\n sync 4\n");
  add_program(image, 1, "sync 3\n sync 4\n");
  int phases = 0;
  Simulation sim(image, {.make_fabric = [&](const MachineConfig& machine) {
                   return std::make_unique<CountingFabric>(machine, phases);
                 }});
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(phases, 1);
}

/// Moves words itself, by what the ports are told.
class WordFabric : public FabricModel {
 public:
  explicit WordFabric(const MachineConfig& machine) : machine_(machine) {}

  const FabricResult& resolve(std::span<const FabricPort> ports) override {
    result_ = {};
    result_.ports.resize(ports.size());
    for (std::size_t to = 0; to < ports.size(); ++to) receive(ports, to);
    return result_;
  }

 private:
  void receive(std::span<const FabricPort> ports, std::size_t to) {
    std::uint32_t pointer = 0;
    std::optional<std::uint32_t> source;
    std::uint64_t cycle = 0;
    const auto listen_until = [&](std::uint64_t end) {
      for (; source && cycle < end; ++cycle, pointer += 4) {
        std::memcpy(&ports[to].memory[pointer - machine_.tile.memory_base],
                    word_from(ports, *source, ports[to].tile, cycle), 4);
        result_.bytes += 4;
      }
      cycle = end;
    };
    for (const PortEvent& event : ports[to].events()) {
      result_.ports[to].last_event =
          event.cycle + (event.kind == PortEvent::Kind::kSend ? event.words - 1 : 0);
      if (event.kind == PortEvent::Kind::kSend) continue;
      listen_until(event.cycle);
      if (event.kind == PortEvent::Kind::kPointer) pointer = event.value;
      const bool is_tile = event.value < machine_.tiles();
      if (event.kind == PortEvent::Kind::kMux) {
        source = is_tile ? std::optional(event.value) : std::nullopt;
      }
    }
  }

  /// The word that arrives from a tile in a cycle.
  const std::byte* word_from(std::span<const FabricPort> ports, std::uint32_t source, TileId to,
                             std::uint64_t cycle) {
    const FabricPort& from = *std::ranges::find(ports, TileId{source}, &FabricPort::tile);
    const std::uint64_t sent = cycle - exchange_latency(machine_, from.tile, to).value();
    for (const PortEvent& event : from.events()) {
      const bool has_word = event.kind == PortEvent::Kind::kSend && sent >= event.cycle &&
                            sent < event.cycle + event.words;
      if (!has_word) continue;
      const auto offset = static_cast<std::uint32_t>(sent - event.cycle) * 4;
      return &from.memory[event.value + offset - machine_.tile.memory_base];
    }
    ADD_FAILURE() << "no word arrives in cycle " << cycle;
    return ports[0].memory.data();
  }

  MachineConfig machine_;
  FabricResult result_;
};

TEST(Simulation, AFabricCanBeMadeOfTheEventsOfPortsAlone) {
  // The exchange is a loop of three trips: what its ports are told comes as rows, too.
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "setzi $m0, 3\nloop:\n sync 3\n send 3, 0x20000, 3\n delay 99\n"
              "add $m0, $m0, -1\n brnz $m0, loop\n sync 4\n");
  add_program(image, 1,
              "setzi $m0, 3\nloop:\n sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n"
              "delayxpic 3, 0, 0x640\n delay 60\n add $m0, $m0, -1\n brnz $m0, loop\n sync 4\n");
  image.segments.push_back({{TileId{0}}, kData, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}});
  Simulation sim(image, {.make_fabric = [](const MachineConfig& machine) {
                   return std::make_unique<WordFabric>(machine);
                 }});
  Simulation expected(image);
  for (std::uint32_t trip = 0; trip < 3; ++trip) {
    for (Simulation* one : {&sim, &expected}) {
      const std::array<std::uint32_t, 1> first = {100 + trip};
      ASSERT_TRUE(one->tile(TileId{0}).write(kData, std::as_bytes(std::span(first))));
      const Stop stop = one->step_superstep();
      ASSERT_NE(stop.kind, StopKind::kTrap) << stop.trap->text();
    }
    EXPECT_EQ(sim.now(), expected.now());
    for (std::uint32_t word = 0; word < 4; ++word) {
      EXPECT_EQ(sim.tile(TileId{1}).word(kData + 4 * word),
                expected.tile(TileId{1}).word(kData + 4 * word));
    }
  }
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

/// Counts what it sees end.
class SuperstepCounter : public Observer {
 public:
  void on_superstep(const SuperstepRecord& /*record*/) override { ++supersteps; }
  std::uint64_t supersteps = 0;
};

TEST(Simulation, ASuperstepThatTrapsBetweenItsLastArrivalAndItsOpeningHasNotEnded) {
  // Tile 1 goes on listening when the last of 64 words has come, behind its arrival and that of
  // tile 0, which has only sent it, and in front of the opening.
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n send 63, 0x20000, 3\n sync 3\n sync 4\n");
  add_program(image, 1, "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n sync 3\n sync 4\n");
  Simulation sim(image);
  SuperstepCounter counter;
  sim.observe(counter);
  const Stop stop = sim.run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->cycle, 168_cycles);
  EXPECT_EQ(counter.supersteps, 1U);
  EXPECT_EQ(stop.trap->superstep, 1U);
  EXPECT_EQ(sim.totals().supersteps, 1U);
}

TEST(Simulation, EightAtOnceInOneProcessDoNotDisturbOneAnother) {
  const auto image = std::make_shared<const ProgramImage>(increments());
  std::vector<std::int32_t> results(8);
  std::vector<std::thread> threads;
  for (std::int32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&results, &image, t] {
      Simulation sim(image, {.threads = 2});
      for (std::int32_t call = 0; call < 20; ++call) {
        results[static_cast<std::size_t>(t)] =
            sim.call({pair_of(100 * t + call, 0)})[0].get<std::int32_t>(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::int32_t t = 0; t < 8; ++t) {
    EXPECT_EQ(results[static_cast<std::size_t>(t)], 100 * t + 20);
  }
}

TEST(Simulation, AResultInThePlaceOfAnArgumentIsThereAfterEachCall) {
  ProgramImage image = increments();
  image.alias = {0};
  image.next = {{}, {2}};
  image.entries.clear();
  image.segments = {{{TileId{0}}, kData + 8, {1, 0, 0, 0}}};
  add_program(image, 0,
              "  setzi $m1, " + std::to_string(kData) +
                  "\n  sync 4\n  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\nagain:\n"
                  "  ld32 $m2, $m15, $m1, 0\n  add $m2, $m2, 1\n  st32 $m2, $m15, $m1, 0\n"
                  "  sync 3\n  ld32 $m4, $m15, $m1, 2\n  brz $m4, last\n"
                  "  sync 4\n  delayxpic 0, 0, 0x600\n  delay 9\n  sync 4\n  bri again\n"
                  "last:\n  sync 4\n" +
                  kVisit + "  sync 4\n  sync 4\n");
  Simulation sim(image);
  EXPECT_EQ(sim.call({pair_of(1, 10)})[0].data, pair_of(2, 10).data);
  // The state is not sent again.
  EXPECT_EQ(sim.call({pair_of(100, 100)})[0].data, pair_of(3, 10).data);
  EXPECT_EQ(sim.call({pair_of(100, 100)}, true)[0].data, pair_of(4, 10).data);
}

TEST(Simulation, AWordOnItsWayWhenABarrierOpensIsATrap) {
  for (const std::string zone : {"0", "1"}) {
    ProgramImage image = image_of(2);
    const std::string before = "  sync 4\n  sync 4\n  sync 3\n  sans " + zone + "\n  delay 2000\n";
    const std::string after = zone == "0" ? "  sync 1\n  sync 4\n" : "  sync 1\n";
    add_program(image, 0, before + "  send 0, 0x20000, 3\n" + after + "  sync 4\n  sync 4\n");
    add_program(image, 1,
                before + "  delaypic 30, 0, 0x20000\n  delayxpic 1, 0, 0\n" +
                    "  delayxpic 0, 0, 0x640\n" + after +
                    "  delayxpic 0, 0, 0x600\n  send 0, 0x20000, 3\n  sync 4\n  sync 4\n");
    const TensorType word{DType::kU32, {1}};
    image.streams = {{Stream::Kind::kResult, 0, word, {{TileId{1}, kData, 4, {{0, 0, 4}}}}}};
    image.results = {word};
    image.alias = {std::nullopt};
    image.last.results = {0};
    Simulation sim(image);
    const Stop stop = sim.call(true);
    ASSERT_EQ(stop.kind, StopKind::kTrap) << zone;
    EXPECT_NE(stop.trap->cause.find("on its way when the next barrier opens"), std::string::npos)
        << stop.trap->text();
  }
}

TEST(Simulation, AnInterruptionInsideAVisitIsNoTrap) {
  for (int polls = 1; polls < 9; ++polls) {
    ProgramImage image = increments();
    image.segments.clear();
    image.entries.clear();
    image.segments.push_back({{TileId{0}}, kData + 8, {1, 0, 0, 0}});
    add_program(image, 0,
                "  sync 4\n  delayxpic 0, 0, 0x600\n  delay 60000\n  sync 4\n  sync 3\n  sync 4\n" +
                    kVisit + "  delay 60000\n  sync 4\n  sync 4\n");
    image.machine.host.phase_latency_ns = 1'000'000;
    int asked = 0;
    Simulation sim(image, {.interrupted = [&] { return ++asked >= polls; }});
    sim.set_argument(0, pair_of(1, 2));
    const Stop stop = sim.call(true);
    EXPECT_TRUE(stop.kind == StopKind::kInterrupted || stop.kind == StopKind::kEnd)
        << polls << (stop.trap ? stop.trap->text() : "");
  }
}

TEST(Simulation, AnInterruptionBehindTheLastSuperstepIsTheEnd) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n sync 4\n");
  int supersteps = 0;
  Simulation counting(image, {.interrupted = [&] { return ++supersteps > 100; }});
  ASSERT_EQ(counting.run().kind, StopKind::kEnd);
  int asked = 0;
  Simulation sim(image, {.interrupted = [&] { return ++asked > supersteps; }});
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

TEST(Simulation, AProgramThatIsDoneAfterAsManySuperstepsAsItMayTakeEnds) {
  // Behind the second barrier it waits at the external sync at once, or 4 cycles later, which is a
  // superstep more.
  for (const std::uint32_t skew : {0U, 4U}) {
    ProgramImage image = image_of(1);
    image.machine.sync.column_skew = {skew};
    add_program(image, 0, "sync 3\n delay 50\n sync 3\n sync 4\n");
    const std::uint64_t all = skew == 0 ? 2 : 3;
    Simulation whole(image, {.max_supersteps = all});
    EXPECT_EQ(whole.run().kind, StopKind::kEnd) << skew;
    EXPECT_EQ(whole.totals().supersteps, all);
    Simulation stepped(image, {.max_supersteps = all});
    EXPECT_EQ(stepped.run_until({.superstep = all}).kind, StopKind::kBreakpoint) << skew;
    EXPECT_EQ(stepped.run().kind, StopKind::kEnd) << skew;
    Simulation cut(image, {.max_supersteps = all - 1});
    const Stop stop = cut.run();
    ASSERT_EQ(stop.kind, StopKind::kTrap) << skew;
    EXPECT_EQ(stop.trap->kind, TrapKind::kLimit);
    EXPECT_EQ(stop.trap->superstep, all - 1);
    EXPECT_EQ(stop.trap->cycle, cut.totals().cycles);
  }
}

/// All tiles leave a barrier at its opening.
ProgramImage image_without_skew(const std::string& text) {
  ProgramImage image = image_of(1);
  image.machine.sync.column_skew = {0};
  add_program(image, 0, text);
  return image;
}

TEST(Simulation, NoMoreSuperstepsThanTheLimitAreSeenOrCounted) {
  // A barrier opens 68 cycles after the sync, which follows the opening at once.
  const ProgramImage image = image_without_skew("sync 3\n sync 3\n sync 3\n sync 3\n sync 4\n");
  for (const std::uint64_t limit : {1U, 2U, 3U}) {
    Simulation sim(image, {.max_supersteps = limit});
    const Stop stop = sim.run();
    ASSERT_EQ(stop.kind, StopKind::kTrap) << limit;
    EXPECT_EQ(stop.trap->kind, TrapKind::kLimit);
    EXPECT_EQ(stop.trap->cycle, Cycles(68 * limit));
    EXPECT_EQ(stop.trap->superstep, limit);
    EXPECT_EQ(stop.trap->pc, kCode + 4 * (limit - 1));
    EXPECT_EQ(sim.totals().supersteps, limit);
    EXPECT_EQ(sim.totals().cycles, Cycles(68 * limit));
  }
  EXPECT_EQ(Simulation(image, {.max_supersteps = 4}).run().kind, StopKind::kEnd);
}

TEST(Simulation, StopsAtAPlaceBehindTheLastSuperstepThatMayBe) {
  const ProgramImage image = image_without_skew("sync 3\n delay 50\n sync 3\n sync 4\n");
  const Breakpoint last{.place = CodePlace{.tile = TileId{0}, .pc = kCode + 12}};
  for (const std::optional<std::uint64_t> limit : {std::optional<std::uint64_t>(), {2U}}) {
    Simulation sim(image, {.max_supersteps = limit});
    EXPECT_EQ(sim.run_until(last).kind, StopKind::kBreakpoint) << limit.value_or(0);
    EXPECT_EQ(sim.now(), Cycles(187));
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  }
}

TEST(Simulation, AnEndlessLoopBehindTheLastSuperstepThatMayBeIsInterrupted) {
  const ProgramImage image =
      image_without_skew("ldconst $m0, 0x4c010\n nop\n nop\n sync 3\n br $m0\n");
  int asked = 0;
  Simulation sim(image, {.max_supersteps = 1, .interrupted = [&] { return ++asked > 3; }});
  EXPECT_EQ(sim.run().kind, StopKind::kInterrupted);
}

TEST(Simulation, ManyTilesRunInSeveralThreadsAsInOne) {
  // More than a thread takes at a time, each with a loop of its own length.
  ProgramImage image = image_of(64);
  for (std::uint32_t tile = 0; tile < 64; ++tile) {
    add_program(image, tile,
                "setzi $m1, 40\n again: setzi $m0, " + std::to_string(tile) +
                    "\n more: add $m3, $m3, 1\n brnzdec $m0, more\n sync 3\n brnzdec $m1, again\n"
                    " sync 4\n");
  }
  Simulation one(image), four(image, {.threads = 4});
  EXPECT_EQ(one.run().kind, StopKind::kEnd);
  EXPECT_EQ(four.run().kind, StopKind::kEnd);
  EXPECT_EQ(four.totals().cycles, one.totals().cycles);
  EXPECT_EQ(four.totals().supersteps, one.totals().supersteps);
}

TEST(Simulation, TheTrapAtTheLimitOfSuperstepsIsWhereTheLastOneEnded) {
  // Barriers open in cycles 68 and 68 + 51 + 68; behind the second one the program is not done.
  ProgramImage image = image_of(1);
  image.machine.sync.column_skew = {0};
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n nop\n nop\n sync 3\n sync 4\n");
  image.info.steps.resize(1);
  image.info.steps[0].name = "add.4";
  image.marks = {{TileId{0}, kCode, 0}};
  const Stop stop = Simulation(image, {.max_supersteps = 2}).run();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->text(),
            "limit trap at cycle 187, superstep 2, tile 0, supervisor, pc 0x4c008: the program is "
            "not done after 2 supersteps, behind add.4");
}

TEST(Simulation, CannotGoOnBehindAnException) {
  class Thrower : public Observer {
   public:
    void on_superstep(const SuperstepRecord&) override { throw std::runtime_error("full"); }
  };
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n sync 4\n");
  Thrower thrower;
  Simulation sim(image);
  sim.observe(thrower);
  EXPECT_THROW(sim.run(), std::runtime_error);
  EXPECT_THROW(sim.run(), UserError);
}

TEST(Simulation, ACallbackThatThrowsAnythingIsATrap) {
  Simulation sim(increments());
  sim.connect_argument(0, [](std::span<std::byte>) -> bool { throw 42; });
  const Stop stop = sim.call();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_EQ(sim.run().kind, StopKind::kTrap);
}

TEST(Simulation, AHostProgramThatWaitsIsAskedAgain) {
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

TEST(Simulation, TheHostComesOnceToASyncHoweverOftenTheRunStandsStillBefore) {
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

TEST(Simulation, ACallIsRefusedWhileTheHostIsOnItsWayForOne) {
  Simulation sim(increments());
  sim.set_argument(0, pair_of(1, 2));
  sim.begin_call();
  ASSERT_EQ(sim.step_cycles(10).kind, StopKind::kBreakpoint);
  sim.set_argument(0, pair_of(3, 4));
  EXPECT_THROW(sim.begin_call(), UserError);
  ASSERT_EQ(sim.run().kind, StopKind::kCall);
  EXPECT_EQ(sim.result(0).data, pair_of(2, 3).data);
  EXPECT_EQ(sim.call(true).kind, StopKind::kEnd);
  EXPECT_EQ(sim.result(0).data, pair_of(4, 5).data);
}

TEST(Simulation, AStreamHasItsValuesFromOnePlace) {
  const StreamSource zeros = [](std::span<std::byte> bytes) {
    std::ranges::fill(bytes, std::byte{0});
    return true;
  };
  Simulation calls(increments());
  calls.connect_argument(0, zeros);
  EXPECT_THROW(calls.set_argument(0, pair_of(1, 2)), MalformedInput);
  Simulation connected(feeds());
  connected.connect_infeed(0, zeros);
  EXPECT_THROW(connected.feed(0, pair_of(1, 2)), MalformedInput);
  Simulation fed(feeds());
  fed.feed(0, pair_of(1, 2));
  EXPECT_THROW(fed.connect_infeed(0, zeros), MalformedInput);
}

TEST(Simulation, InfeedsAreMadeAheadInTheLastCallToo) {
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
    sim.connect_infeed(0, [](std::span<std::byte> bytes) {
      std::ranges::fill(bytes, std::byte{0});
      return true;
    });
    EXPECT_EQ(sim.call(true).kind, StopKind::kEnd);
    return sim.now();
  };
  EXPECT_LT(cycles(1).value() + 100'000, cycles(0).value());
}

}  // namespace
}  // namespace superstep
