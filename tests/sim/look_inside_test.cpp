// Inside a superstep the tiles are shown as they are at a cycle, and the run does not notice.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "tests/sim/call_programs.h"
#include "tests/sim/rest_of_run.h"

namespace superstep {
namespace {

constexpr std::uint32_t kSupervisor = IssuedInstruction::kSupervisor;

/// The instructions of all tiles, by tile and context, in order.
class Watcher : public Observer {
 public:
  explicit Watcher(const ProgramImage& image) {
    for (const TileEntry& entry : image.entries) watch_.tiles.push_back(entry.tile);
  }
  [[nodiscard]] Watch watch() const override { return watch_; }
  void on_instruction(TileId tile, const IssuedInstruction& instruction) override {
    issued[{index(tile), instruction.context}].push_back(instruction);
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<IssuedInstruction>> issued;

 private:
  Watch watch_;
};

/// Runs a program to its end; its last cycle.
std::uint64_t watch_to_end(const ProgramImage& image, Watcher& watcher) {
  Simulation whole(image);
  whole.observe(watcher);
  EXPECT_EQ(whole.run().kind, StopKind::kEnd);
  return whole.now().value();
}

/// The first instruction of a context that issues in `cycle` or later, if there is one.
const IssuedInstruction* next_of(const std::vector<IssuedInstruction>& issued,
                                 std::uint64_t cycle) {
  const auto at = std::ranges::lower_bound(issued, cycle, {}, &IssuedInstruction::cycle);
  return at == issued.end() ? nullptr : &*at;
}

/// A worker of tile 0 counts in memory beside a supervisor that stores; tile 1 is behind. Two
/// supersteps.
ProgramImage beside() {
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "  setzi $m0, worker\n  setzi $m1, 0x34000\n  setzi $m6, 0x80000\n  setzi $m7, 2\n"
              "  sync 3\nagain:\n  run $m0, $m1, 0\n  run $m0, $m1, 1\n  add $m5, $m5, 1\n"
              "  st32 $m5, $m6, $m15, 4\n  delay 20\n  add $m5, $m5, 1\n"
              "  st32 $m5, $m6, $m15, 4\n  sync 2\n  sync 3\n  brnzdec $m7, again\n  sync 4\n"
              ".align 8\nworker:\n  setzi $m2, 3\nloop:\n  ld32 $m0, $m13, $m15, 0\n"
              "  add $m0, $m0, 1\n  st32 $m0, $m13, $m15, 0\n  brnzdec $m2, loop\n  exitz $m15\n");
  add_program(image, 1, "  delay 30\n  sync 3\n  sync 3\n  sync 3\n  sync 3\n  sync 4\n");
  return image;
}

constexpr std::uint32_t kLocalSync = kCode + 4 * 12;

TEST(LookInside, ShowsWhichInstructionEachContextIssuesNext) {
  const ProgramImage image = beside();
  Watcher watcher(image);
  const std::uint64_t end = watch_to_end(image, watcher);
  ASSERT_GT((watcher.issued[{0, 0}].size()), 30u);
  ASSERT_GT((watcher.issued[{0, 1}].size()), 30u);

  Simulation sim(image);
  int running = 0;
  for (std::uint64_t cycle = 1; cycle < end; ++cycle) {
    SCOPED_TRACE(cycle);
    ASSERT_EQ(sim.run_until({.cycle = Cycles(cycle)}).kind, StopKind::kBreakpoint);
    ASSERT_EQ(sim.now().value(), cycle);
    for (const std::uint32_t tile : {0U, 1U}) {
      const std::vector<IssuedInstruction>& issued = watcher.issued[{tile, kSupervisor}];
      const IssuedInstruction* next = next_of(issued, cycle);
      if (next == nullptr) continue;
      // At `sync 2` it waits for the workers.
      const bool waits = next != issued.data() && next[-1].pc == kLocalSync &&
                         cycle < next[-1].cycle + next[-1].cycles;
      EXPECT_EQ(sim.tile(TileId{tile}).supervisor_pc(), waits ? kLocalSync : next->pc) << tile;
    }
    for (const std::uint32_t worker : {0U, 1U}) {
      const WorkerView view = sim.tile(TileId{0}).worker(worker);
      running += view.is_running;
      const IssuedInstruction* next = next_of(watcher.issued[{0, worker}], cycle);
      if (!view.is_running) continue;
      ASSERT_NE(next, nullptr);
      EXPECT_EQ(view.pc, next->pc) << worker;
    }
    EXPECT_FALSE(sim.tile(TileId{0}).worker(2).is_running);
  }
  EXPECT_GT(running, 100);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(sim.now().value(), end);
}

TEST(LookInside, ShowsWhatWasStoredBeforeTheCycle) {
  const ProgramImage image = beside();
  Watcher watcher(image);
  const std::uint64_t end = watch_to_end(image, watcher);
  // Stores are the fourth instruction of a worker's turn, and those of the supervisor at two pcs.
  const std::uint32_t worker_store = kCode + 4 * 16 + 4 * 3;
  const std::set<std::uint32_t> supervisor_stores = {kCode + 4 * 8, kCode + 4 * 11};
  const auto stores_before = [&](std::uint32_t context, std::uint64_t cycle, const auto& is_store) {
    return std::ranges::count_if(watcher.issued[{0, context}], [&](const auto& issued) {
      return issued.cycle < cycle && is_store(issued.pc);
    });
  };
  Simulation sim(image);
  for (std::uint64_t cycle = 1; cycle < end; ++cycle) {
    SCOPED_TRACE(cycle);
    sim.run_until({.cycle = Cycles(cycle)});
    const TileView tile = sim.tile(TileId{0});
    EXPECT_EQ(tile.word(kData),
              stores_before(0, cycle, [&](auto pc) { return pc == worker_store; }));
    EXPECT_EQ(tile.word(kData + 16), stores_before(kSupervisor, cycle, [&](auto pc) {
                return supervisor_stores.contains(pc);
              }));
  }
}

/// Four words from tile 0 to tile 1; behind them tile 1 stores what it received last.
ProgramImage transfer() {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n send 3, 0x20000, 3\n delay 99\n sync 3\n sync 4\n");
  add_program(image, 1,
              "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n delayxpic 3, 0, 0x640\n"
              "setzi $m1, 0x80000\n ld32 $m2, $m1, $m15, 3\n st32 $m2, $m1, $m15, 4\n"
              "delay 9\n sync 3\n sync 4\n");
  image.segments.push_back({{TileId{0}}, kData, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}});
  return image;
}

TEST(LookInside, ShowsTheWordsThatArrivedBeforeTheCycle) {
  Simulation sim(transfer());
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  // Released 4 cycles behind the opening; tile 0 is heard from cycle 32 of the row on.
  const std::uint64_t first = sim.now().value() + 4 + 32;
  for (std::uint64_t cycle = first - 40; cycle < first + 60; ++cycle) {
    SCOPED_TRACE(cycle);
    if (cycle <= sim.now().value()) continue;
    ASSERT_EQ(sim.run_until({.cycle = Cycles(cycle)}).kind, StopKind::kBreakpoint);
    const std::uint64_t arrived = cycle <= first ? 0 : std::min<std::uint64_t>(cycle - first, 4);
    for (std::uint32_t word = 0; word < 4; ++word) {
      EXPECT_EQ(sim.tile(TileId{1}).word(kData + 4 * word), word < arrived ? word + 1 : 0) << word;
    }
  }
  EXPECT_EQ(sim.tile(TileId{1}).word(kData + 16), 4u) << "the last one, stored";
}

TEST(LookInside, DoesNotRunATileOnWhoseWordsNeverCame) {
  ProgramImage image = image_of(2);
  add_program(image, 0, "sync 3\n sync 3\n sync 4\n");
  add_program(image, 1,
              "sync 3\n delaypic 30, 0, 0x20000\n delayxpic 1, 0, 0\n delayxpic 3, 0, 0x640\n"
              "setzi $m1, 0x80000\nagain:\n ld32 $m2, $m1, $m15, 0\n brz $m2, again\n"
              "sync 3\n sync 4\n");
  const Stop whole = Simulation(image).run();
  ASSERT_EQ(whole.kind, StopKind::kTrap);
  int polls = 0;  // many, if it waits for the word
  Simulation sim(image, {.interrupted = [&] { return ++polls > 1000; }});
  const Stop stop = sim.run_until({.place = CodePlace{.tile = TileId{1}, .pc = kCode + 28}});
  ASSERT_EQ(stop.kind, StopKind::kTrap);
  EXPECT_EQ(stop.trap->text(), whole.trap->text());
}

/// The same run, with a stop every so many cycles.
void expect_same_in_steps(
    const ProgramImage& image, std::uint64_t cycles,
    const std::function<void(Simulation&)>& prepare = [](Simulation&) {}) {
  SCOPED_TRACE(cycles);
  Simulation whole(image);
  prepare(whole);
  History history(whole);
  history.end(whole.run());
  Simulation stepped(image);
  prepare(stepped);
  History in_steps(stepped);
  Stop stop = stepped.step_cycles(cycles);
  while (stop.kind == StopKind::kBreakpoint) stop = stepped.step_cycles(cycles);
  in_steps.end(stop);
  EXPECT_EQ(in_steps.lines, history.lines);
}

TEST(LookInside, ChangesNothingInTheRun) {
  for (const std::uint64_t cycles : {1U, 7U, 31U, 1000U}) {
    expect_same_in_steps(beside(), cycles);
    expect_same_in_steps(transfer(), cycles);
  }
  const auto one_call = [](Simulation& sim) {
    sim.set_argument(0, pair_of(3, 4));
    sim.begin_call(true);
  };
  expect_same_in_steps(increments(), 97, one_call);
  expect_same_in_steps(feeds(), 97, [](Simulation& sim) {
    for (std::int32_t i = 0; i < 3; ++i) sim.feed(0, pair_of(i, i));
  });
}

TEST(LookInside, StopsInFrontOfAnInstruction) {
  const ProgramImage image = beside();
  Watcher watcher(image);
  watch_to_end(image, watcher);
  const std::uint32_t loop = kCode + 4 * 16 + 4;
  const std::vector<IssuedInstruction>& of_worker = watcher.issued[{0, 1}];
  Simulation sim(image);
  int hits = 0;
  for (const IssuedInstruction& issued : of_worker) {
    if (issued.pc != loop) continue;
    ++hits;
    const CodePlace place{.tile = TileId{0}, .pc = loop, .context = 1};
    ASSERT_EQ(sim.run_until({.place = place}).kind, StopKind::kBreakpoint);
    EXPECT_EQ(sim.now().value(), issued.cycle);
    EXPECT_EQ(sim.tile(TileId{0}).worker(1).pc, loop);
  }
  EXPECT_EQ(hits, 12) << "four turns in each of three trips";
  EXPECT_EQ(sim.run_until({.place = CodePlace{.tile = TileId{0}, .pc = loop, .context = 1}}).kind,
            StopKind::kEnd);
  Simulation by_any(image);
  ASSERT_EQ(by_any.run_until({.place = CodePlace{.tile = TileId{0}, .pc = loop}}).kind,
            StopKind::kBreakpoint);
  EXPECT_EQ(by_any.now().value(), next_of(watcher.issued[{0, 0}], 0)[1].cycle);
  EXPECT_THROW((void)by_any.run_until({.place = CodePlace{.tile = TileId{5}, .pc = loop}}),
               MalformedInput);
}

TEST(LookInside, StopsInFrontOfOneInstructionAfterTheOtherInOneSuperstep) {
  const ProgramImage image = beside();
  Watcher watcher(image);
  watch_to_end(image, watcher);
  const auto& of_supervisor = watcher.issued[{0, kSupervisor}];
  const auto run = std::ranges::find(of_supervisor, kCode + 4 * 5, &IssuedInstruction::pc);
  Simulation sim(image);
  // The two launches, and the store between the two sums behind them.
  for (const auto* issued : {&run[0], &run[1], &run[3], &run[5]}) {
    const CodePlace place{.tile = TileId{0}, .pc = issued->pc};
    ASSERT_EQ(sim.run_until({.place = place}).kind, StopKind::kBreakpoint);
    EXPECT_EQ(sim.now().value(), issued->cycle);
    EXPECT_EQ(sim.tile(TileId{0}).supervisor_pc(), issued->pc);
  }
}

TEST(LookInside, StepsBackWithinTheSuperstep) {
  Simulation sim(beside());
  sim.step_superstep();
  const Cycles opening = sim.now();
  sim.step_cycles(60);
  const std::uint32_t pc = sim.tile(TileId{0}).supervisor_pc();
  const std::uint32_t word = sim.tile(TileId{0}).word(kData);
  EXPECT_GT(word, 0u);
  sim.step_back(50);
  EXPECT_EQ(sim.now(), opening + 10_cycles);
  EXPECT_EQ(sim.tile(TileId{0}).word(kData), 0u);
  sim.step_cycles(50);
  EXPECT_EQ(sim.tile(TileId{0}).supervisor_pc(), pc);
  EXPECT_EQ(sim.tile(TileId{0}).word(kData), word);
  EXPECT_THROW(sim.step_back(61), UserError);
  sim.run();
  EXPECT_THROW(sim.step_back(1), UserError) << "no opening was kept on the way";
}

TEST(LookInside, ATrapIsReportedInItsCycleAndNotBefore) {
  ProgramImage image = image_of(1);
  add_program(image, 0, "sync 3\n delay 50\n setzi $m1, 3\n ld32 $m2, $m15, $m1, 0\n sync 4\n");
  Simulation whole(image);
  const Stop trap = whole.run();
  ASSERT_EQ(trap.kind, StopKind::kTrap);
  Simulation sim(image);
  EXPECT_EQ(sim.run_until({.cycle = trap.trap->cycle}).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.tile(TileId{0}).supervisor_pc(), trap.trap->pc);
  const Stop found = sim.step_cycles(1);
  ASSERT_EQ(found.kind, StopKind::kTrap);
  EXPECT_EQ(found.trap->text(), trap.trap->text());
}

TEST(LookInside, GivesWorkersToTheUsersEngineOnce) {
  class Counts : public Engine {
   public:
    Counts(Engine& interpreter, int& runs) : interpreter_(interpreter), runs_(runs) {}
    std::uint64_t run(WorkerContext& worker, const WorkerStep* step) override {
      ++runs_;
      return interpreter_.run(worker, step);
    }

   private:
    Engine& interpreter_;
    int& runs_;
  };
  ProgramImage image = image_of(2);
  const std::string program =
      "  setzi $m0, worker\n  setzi $m1, 0x34000\n  sync 3\n  run $m0, $m1, 0\n"
      "  sync 2\n  sync 3\n  sync 4\n.align 8\nworker:\n  nop\n  exitz $m15\n";
  add_program(image, 0, program);
  add_program(image, 1, program);
  const auto runs = [&](const auto& drive) {
    int runs = 0;
    Simulation sim(image, {.make_engine = [&](TileId, Engine& interpreter) {
                     return std::make_unique<Counts>(interpreter, runs);
                   }});
    drive(sim);
    EXPECT_EQ(sim.run().kind, StopKind::kEnd);
    return runs;
  };
  EXPECT_EQ(runs([](Simulation&) {}), 2);
  const CodePlace launch{.tile = TileId{1}, .pc = kCode + 12};
  EXPECT_EQ(runs([&](Simulation& sim) {
              EXPECT_EQ(sim.run_until({.place = launch}).kind, StopKind::kBreakpoint);
            }),
            2);
}

/// `increments`, whose tile waits for the host; a call has begun.
Simulation begun() {
  Simulation sim(increments());
  EXPECT_EQ(sim.run().kind, StopKind::kCall);
  sim.set_argument(0, pair_of(1, 2));
  sim.begin_call(true);
  return sim;
}

TEST(LookInside, ShowsTilesThatWaitForTheHostAsTheyAreWithoutAKeptOpening) {
  Simulation sim = begun();
  ASSERT_EQ(sim.step_cycles(10).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.now().value(), 10u);
  EXPECT_EQ(sim.tile(TileId{0}).word(kData + 8), 1u);
  EXPECT_EQ(sim.tile(TileId{0}).supervisor_register(1), kData);
  EXPECT_THROW(sim.step_back(1), UserError) << "no opening was kept";
  ASSERT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(sim.result(0).data, pair_of(2, 3).data);
}

TEST(LookInside, AnOpeningThatWasKeptBeforeIsNotShownLater) {
  Simulation sim = begun();
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  ASSERT_EQ(sim.step_cycles(3).kind, StopKind::kBreakpoint);  // keeps the opening
  Simulation whole = begun();
  ASSERT_EQ(whole.run().kind, StopKind::kEnd);
  ASSERT_EQ(sim.run().kind, StopKind::kEnd);
  EXPECT_EQ(sim.now(), whole.now());
  EXPECT_THROW(sim.step_back(1), UserError);
}

TEST(LookInside, ShowsWhatWasWrittenSinceTheOpening) {
  Simulation sim(increments());
  ASSERT_EQ(sim.run_until({.cycle = Cycles(1)}).kind, StopKind::kBreakpoint);  // keeps the opening
  ASSERT_EQ(sim.run().kind, StopKind::kCall);
  const std::uint32_t word = 7;
  ASSERT_TRUE(sim.tile(TileId{0}).write(kData, std::as_bytes(std::span(&word, 1))));
  EXPECT_THROW(sim.step_back(0), UserError);
  sim.set_argument(0, pair_of(1, 2));
  sim.begin_call(true);
  ASSERT_EQ(sim.step_cycles(10).kind, StopKind::kBreakpoint);
  EXPECT_EQ(sim.tile(TileId{0}).word(kData), word);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

TEST(LookInside, SaysWhyItCannotStepBackInAVisitOfTheHost) {
  Simulation sim = begun();
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  const Cycles visit = sim.now();
  ASSERT_EQ(sim.step_cycles(10).kind, StopKind::kBreakpoint);
  try {
    sim.step_back(1);
    FAIL() << "a visit was shown";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 fmt::format("error: cycle {} cannot be shown: a visit of the host goes on since "
                             "cycle {}, whose words are not dated: run to its end, as by "
                             "step_superstep",
                             (visit + 9_cycles).value(), visit.value())
                     .c_str());
  }
}

TEST(LookInside, RefusesWhatItCannotShow) {
  Simulation sim(increments());
  sim.set_argument(0, pair_of(1, 2));
  sim.begin_call(true);
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  ASSERT_EQ(sim.step_cycles(10).kind, StopKind::kBreakpoint);
  const TileView tile = sim.tile(TileId{0});
  EXPECT_THROW((void)tile.word(kData), UserError) << "inside a visit of the host";
  ASSERT_EQ(sim.step_superstep().kind, StopKind::kSuperstep);
  EXPECT_EQ(tile.word(kData), 1u);
  ASSERT_EQ(sim.step_cycles(10).kind, StopKind::kBreakpoint);
  EXPECT_EQ(tile.word(kData), 1u);
  EXPECT_THROW((void)tile.write(kData, {}), UserError);
  EXPECT_THROW(sim.save("nowhere.h5"), UserError);
  EXPECT_THROW((void)tile.worker(6), MalformedInput);
  EXPECT_EQ(sim.run().kind, StopKind::kEnd);
}

}  // namespace
}  // namespace superstep
