#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/sim/call_programs.h"
#include "tests/sim/lengths.h"

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

TEST(Simulation, StopsAtOnceWhereAsManySuperstepsAreDone) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 50\n sync 3\n delay 70\n sync 3\n sync 4\n");
  Simulation sim(image);
  EXPECT_EQ(sim.run_until({.superstep = 0}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.totals().supersteps, 0u);
  sim.step_superstep();
  sim.step_superstep();
  for (const std::uint64_t done : {1U, 2U}) {
    EXPECT_EQ(sim.run_until({.superstep = done}).kind, StopKind::kBreakpoint);
    EXPECT_EQ(sim.totals().supersteps, 2u);
  }
  sim.step_cycles(10);
  const Cycles inside = sim.now();
  EXPECT_EQ(sim.run_until({.superstep = 2}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.now(), inside);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(sim.run_until({.superstep = 1}).kind, StopKind::kEnd) << "the end stays the end";
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
  for (const Breakpoint& breakpoint :
       {Breakpoint(), Breakpoint{.superstep = 1}, Breakpoint{.cycle = Cycles(1)}}) {
    const Stop again = sim.run_until(breakpoint);
    ASSERT_EQ(again.kind, StopKind::kTrap);
    EXPECT_EQ(again.trap->text(), stop.trap->text());
  }
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

/// Keeps what it is told.
class Watcher : public Observer {
 public:
  explicit Watcher(Watch watch) : watch_(std::move(watch)) {}

  [[nodiscard]] Watch watch() const override { return watch_; }
  void on_instruction(TileId tile, const IssuedInstruction& instruction) override {
    issued.emplace_back(tile, instruction);
  }

  void on_too_many_instructions() override { ++too_many; }

  std::vector<std::pair<TileId, IssuedInstruction>> issued;
  int too_many = 0;

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

TEST(Simulation, ObserversSeeNoInstructionOfASuperstepThatHasMoreThanTheyWant) {
  ProgramImage image = image_of(2);
  for (std::uint32_t tile = 0; tile < 2; ++tile) {
    add_program(image, tile,
                "setzi $m1, 1\n sync 3\n" + std::string(tile == 0 ? "" : " nop\n") +
                    " setzi $m2, 2\n sync 3\n setzi $m3, 3\n sync 4\n");
  }
  Simulation sim(image, {.threads = 2});
  Watcher four({.tiles = {TileId{0}, TileId{1}}, .most_instructions = 4});
  sim.observe(four);
  ASSERT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(four.too_many, 1) << "the second superstep has five";
  EXPECT_TRUE(std::ranges::none_of(four.issued, [](const auto& issued) {
    return issued.second.pc >= kCode + 8 && issued.second.pc < kCode + 16;
  }));
  Simulation again(image);
  Watcher five({.tiles = {TileId{0}, TileId{1}}, .most_instructions = 5});
  again.observe(five);
  ASSERT_EQ(again.run().kind, StopKind::kEnd);
  EXPECT_EQ(five.too_many, 0);
  EXPECT_EQ(five.issued.size(), four.issued.size() + 5);
}

TEST(Simulation, WhatAnObserverWantsIsCountedOnItsOwnTiles) {
  ProgramImage image = image_of(3);
  for (std::uint32_t tile = 0; tile < 3; ++tile) {
    std::string program;
    for (std::uint32_t i = 0; i < 5 + 20 * (tile / 2); ++i) program += "nop\n ";
    add_program(image, tile, program + "sync 4\n");
  }
  Simulation sim(image, {.threads = 2});
  Watcher first({.tiles = {TileId{0}}, .most_instructions = 6});
  Watcher all({.tiles = {TileId{0}, TileId{1}, TileId{2}}});
  Watcher last({.tiles = {TileId{1}, TileId{2}}, .most_instructions = 20});
  for (Watcher* const watcher : {&first, &all, &last}) sim.observe(*watcher);
  ASSERT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(first.issued.size(), 6u);
  EXPECT_EQ(first.too_many, 0);
  EXPECT_EQ(all.issued.size(), 6u + 6 + 26);
  EXPECT_EQ(all.too_many, 0);
  EXPECT_EQ(last.issued.size(), 0u);
  EXPECT_EQ(last.too_many, 1);
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
  Simulation alone(*image);
  for (std::int32_t call = 0; call < 20; ++call) alone.call({pair_of(call, 0)});
  std::vector<std::int32_t> results(8);
  std::vector<Cycles> ends(8);
  std::vector<std::thread> threads;
  for (std::int32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&results, &ends, &image, t] {
      Simulation sim(image, {.threads = 2});
      for (std::int32_t call = 0; call < 20; ++call) {
        results[static_cast<std::size_t>(t)] =
            sim.call({pair_of(100 * t + call, 0)})[0].get<std::int32_t>(0);
      }
      ends[static_cast<std::size_t>(t)] = sim.now();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::int32_t t = 0; t < 8; ++t) {
    EXPECT_EQ(results[static_cast<std::size_t>(t)], 100 * t + 20);
    EXPECT_EQ(ends[static_cast<std::size_t>(t)], alone.now());
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

TEST(Simulation, CannotGoOnBehindAnExceptionAtATrap) {
  class Thrower : public Observer {
   public:
    [[nodiscard]] Watch watch() const override { return {.tiles = {TileId{0}}}; }
    void on_instruction(TileId, const IssuedInstruction&) override {
      throw std::runtime_error("full");
    }
  };
  ProgramImage image = image_of(1);
  add_program(image, 0, "nop\n .word 0\n");
  Thrower thrower;
  Simulation sim(image);
  sim.observe(thrower);
  EXPECT_THROW(sim.run(), std::runtime_error);
  EXPECT_THROW(sim.run(), UserError);
}

TEST(Simulation, CannotGoOnBehindAnExceptionInFrontOfACall) {
  class Thrower : public Observer {
   public:
    void on_call(std::uint32_t) override { throw std::runtime_error("full"); }
  };
  Thrower thrower;
  Simulation sim(increments());
  sim.observe(thrower);
  sim.set_argument(0, pair_of(1, 2));
  EXPECT_THROW(sim.call(), std::runtime_error);
  EXPECT_THROW(sim.run(), UserError);
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

}  // namespace
}  // namespace superstep
