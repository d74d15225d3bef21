#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "sim/sync/barrier.h"
#include "tests/sim/programs.h"

namespace superstep {
namespace {

const std::string kVisit =
    "  delayxpic 0, 0, 0x600\n"
    "  send 1, 0x20000, 3\n"
    "  delayxpic 0, 0, 0x640\n";

/// result0 = arg0 + 1, a pair of i32 at kData of tile 0, again and again while the word behind the
/// pair is not 0.
ProgramImage increments() {
  ProgramImage image = image_of(1);
  const TensorType pair{DType::kI32, {2}};
  const TensorType flag{DType::kI32, {}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
  image.streams = {{Stream::Kind::kArgument, 0, pair, pieces},
                   {Stream::Kind::kResult, 0, pair, pieces},
                   {Stream::Kind::kGoesOn, 0, flag, {{TileId{0}, kData + 8, 4, {{0, 0, 4}}}}}};
  image.arguments = image.results = {pair};
  image.alias = {std::nullopt};
  image.first.arguments = {0, 2};
  image.next = {{1}, {0, 2}};
  image.last.results = {1};
  image.segments.push_back({{TileId{0}}, kData + 8, {1, 0, 0, 0}});
  add_program(image, 0,
              "  setzi $m1, " + std::to_string(kData) +
                  "\n"
                  "  sync 4\n"
                  "  delayxpic 0, 0, 0x600\n"
                  "  delay 9\n"
                  "  delayxpic 0, 0, 0x640\n"
                  "  sync 4\n"
                  "again:\n"
                  "  ld32 $m2, $m15, $m1, 0\n"
                  "  ld32 $m3, $m15, $m1, 1\n"
                  "  add $m2, $m2, 1\n"
                  "  add $m3, $m3, 1\n"
                  "  st32 $m2, $m15, $m1, 0\n"
                  "  st32 $m3, $m15, $m1, 1\n"
                  "  sync 3\n"
                  "  ld32 $m4, $m15, $m1, 2\n"
                  "  sync 4\n" +
                  kVisit +
                  "  sync 4\n"
                  "  brnz $m4, again\n"
                  "  sync 15\n");
  return image;
}

HostTensor pair_of(std::int32_t a, std::int32_t b) {
  HostTensor tensor(TensorType{DType::kI32, {2}});
  tensor.set(0, a);
  tensor.set(1, b);
  return tensor;
}

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
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n sync 15\n");
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
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n delay 70\n sync 3\n sync 15\n");
  const Recorded whole = record(image);
  Simulation sim(image);
  EXPECT_EQ(sim.run_until({.superstep = 2}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.totals().supersteps, 2u);
  Simulation other(image);
  const Cycles cycle = whole.supersteps[0].end + 1_cycles;
  EXPECT_EQ(other.run_until({.cycle = cycle}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(other.now(), whole.supersteps[1].end) << "the first opening from there on";
  EXPECT_EQ(other.run().kind, StopKind::kEnd);
  EXPECT_EQ(other.now(), whole.result.totals.cycles);
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
  add_program(image, 0, "sync 3\n setzi $m1, 3\n ld32 $m2, $m15, $m1, 0\n sync 15\n");
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

TEST(Simulation, ACallbackThatThrowsIsALocatedTrap) {
  Simulation sim(increments());
  sim.connect_argument(
      0, [](std::span<std::byte>) -> bool { throw std::runtime_error("no more files"); });
  const Stop stop = sim.call();
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->context, "host");
  EXPECT_EQ(stop.trap->cause, "the callback of arg0 fails: no more files");
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

/// Takes three pairs from infeed 0 in a loop, and gives each to outfeed 0.
ProgramImage feeds() {
  ProgramImage image = image_of(1);
  const TensorType pair{DType::kI32, {2}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
  image.streams = {{Stream::Kind::kInfeed, 0, pair, pieces},
                   {Stream::Kind::kOutfeed, 0, pair, pieces}};
  image.visits = {{kCode + 4, {{}, {0}}}, {kCode + 24, {{1}, {}}}};
  add_program(image, 0,
              "  setzi $m1, 2\n"
              "again:\n"
              "  sync 4\n"
              "  delayxpic 0, 0, 0x600\n"
              "  delay 9\n"
              "  delayxpic 0, 0, 0x640\n"
              "  sync 4\n"
              "  sync 4\n" +
                  kVisit +
                  "  sync 4\n"
                  "  brnzdec $m1, again\n"
                  "  sync 4\n");
  return image;
}

TEST(Simulation, FeedsInsideAProgramTakeAndGiveValuesInOrder) {
  Simulation sim(feeds());
  for (std::int32_t i = 0; i < 3; ++i) sim.feed(0, pair_of(i, 10 * i));
  EXPECT_EQ(sim.run().kind, StopKind::kCall) << "the sync at the end waits for a call";
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
    add_program(image, tile, "setzi $m1, 1\n sync 3\n setzi $m2, 2\n sync 3\n sync 15\n");
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
  add_program(image, 0, "sync 3\n delay 30\n send 1, 0x20000, 3\n sync 15\n");
  add_program(image, 1, "sync 3\n sync 15\n");
  int phases = 0;
  Simulation sim(image, {.make_fabric = [&](const MachineConfig& machine) {
                   return std::make_unique<CountingFabric>(machine, phases);
                 }});
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(phases, 1);
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

}  // namespace
}  // namespace superstep
