// A run that was saved and loaded goes on as the one that was not.

#include "sim/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/output_file.h"
#include "isa/image_file.h"
#include "tests/errors/damage.h"
#include "tests/scratch_folder.h"
#include "tests/sim/call_programs.h"
#include "tests/sim/rest_of_run.h"

/// For LeakSanitizer: HDF5 1.10 does not free an object whose header it cannot decode (below
/// H5O_protect).
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace superstep {
namespace {

using Image = std::shared_ptr<const ProgramImage>;
/// Gives a simulation what it needs besides the image: before a run, and again to one that was
/// loaded.
using Connect = std::function<void(Simulation&)>;

void connect_nothing(Simulation&) {}

Image shared(ProgramImage image) { return std::make_shared<const ProgramImage>(std::move(image)); }

/// Calls until the program has made so many, if it is called at all.
Stop run_calls(Simulation& simulation, std::uint32_t calls) {
  Stop stop = simulation.run();
  while (stop.kind == StopKind::kCall && simulation.calls_done() < calls) {
    stop = simulation.call(simulation.calls_done() + 1 == calls);
  }
  return stop;
}

std::filesystem::path file() { return scratch_folder() / "run.h5"; }

/// Saves a run behind each of its supersteps, and compares what follows.
void expect_same_rest(const Image& image, const SimulationOptions& options = {},
                      const Connect& prepare = connect_nothing,
                      const Connect& connect = connect_nothing, std::uint32_t calls = 0) {
  Simulation whole(image, options);
  prepare(whole);
  connect(whole);
  History history(whole);
  history.end(run_calls(whole, calls));
  const std::uint64_t supersteps = whole.totals().supersteps;
  ASSERT_GT(supersteps, 1u);
  for (std::uint64_t at = 0; at < supersteps; ++at) {
    SCOPED_TRACE(at);
    Simulation first(image, options);
    prepare(first);
    connect(first);
    History before(first);
    while (first.totals().supersteps < at) {
      const Stop stop = first.run_until({.superstep = at});
      if (stop.kind == StopKind::kCall) first.begin_call(first.calls_done() + 1 == calls);
    }
    first.save(file());
    Simulation second = Simulation::load(file(), image, options);
    connect(second);
    History after(second);
    EXPECT_EQ(second.now(), first.now());
    EXPECT_EQ(second.place(), first.place());
    after.end(run_calls(second, calls));
    std::vector<std::string> lines = before.lines;
    lines.insert(lines.end(), after.lines.begin(), after.lines.end());
    ASSERT_EQ(lines.size(), history.lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], history.lines[i]) << i;
  }
}

TEST(Checkpoint, OfCallsThatKeepState) {
  expect_same_rest(
      shared(increments()), {},
      [](Simulation& sim) {
        sim.set_argument(0, pair_of(3, 4));
        sim.begin_call();
      },
      connect_nothing, 4);
}

TEST(Checkpoint, BetweenTwoCallsKeepsTheArgumentsThatAreSet) {
  const Image image = shared(increments());
  Simulation first(image);
  EXPECT_EQ(first.call({pair_of(1, 2)})[0].get<std::int32_t>(0), 2);
  first.set_argument(0, pair_of(20, 30));
  first.save(file());
  Simulation second = Simulation::load(file(), image);
  EXPECT_EQ(second.calls_done(), 1u);
  EXPECT_EQ(second.result(0).get<std::int32_t>(1), 3);
  EXPECT_EQ(second.call().kind, StopKind::kCall);
  EXPECT_EQ(second.result(0).get<std::int32_t>(0), 21);
  first.call();
  EXPECT_EQ(second.now(), first.now());
}

TEST(Checkpoint, OfFeedsKeepsTheirQueues) {
  expect_same_rest(shared(feeds()), {}, [](Simulation& sim) {
    for (std::int32_t i = 0; i < 3; ++i) sim.feed(0, pair_of(i, 7 * i));
  });
}

/// Workers seed their generators; then each trip draws random numbers on all of them, and stores
/// them behind those of the last one.
ProgramImage draws() {
  ProgramImage image = image_of(2);
  const std::string text =
      "  setzi $m0, seed\n  setzi $m1, 0x80000\n  setzi $m2, 3\n  runall $m0, $m1, 0\n  sync 2\n"
      "  setzi $m0, worker\nagain:\n"
      "  runall $m0, $m1, 64\n  sync 2\n  add $m1, $m1, 4\n  sync 3\n  brnzdec $m2, again\n"
      "  sync 4\n.align 8\nseed:\n  setzi $a0, 77\n  uput $PRNG_SEED, $a0\n  exitz $m15\n"
      ".align 8\nworker:\n"
      "  {add $m0, $m13, 0\n urand32 $a0}\n  st32 $a0, $m13, $m15, 0\n  exitz $m15\n";
  add_program(image, 0, text);
  add_program(image, 1, "  delay 40\n" + text);
  image.marks = {{TileId{0}, kCode + 24, 0}, {TileId{1}, kCode + 28, 0}};
  image.loops = {{TileId{0}, kCode + 40, 0}, {TileId{1}, kCode + 44, 0}};
  image.info.steps.resize(2);
  return image;
}

TEST(Checkpoint, OfRandomNumbersAndLoops) {
  Simulation simulation(draws());
  ASSERT_EQ(simulation.run().kind, StopKind::kEnd);
  const TileView tile = simulation.tile(TileId{0});
  EXPECT_NE(tile.word(kData), tile.word(kData + 4)) << "the generator goes on";
  expect_same_rest(shared(draws()), {.check_races = RaceChecks::kAlways});
  expect_same_rest(shared(draws()), {.threads = 2, .check_races = RaceChecks::kNever});
}

TEST(Checkpoint, OfAMachineWhoseBanksStall) {
  ProgramImage image = draws();
  image.machine.tile.bank_conflicts = BankConflicts::kStall;
  expect_same_rest(shared(image));
}

/// Tile 0 sends words that it counts up to tile 1, again and again, by rows that are kept.
ProgramImage exchanges() {
  ProgramImage image = image_of(2);
  add_program(image, 0,
              "setzi $m3, 5\n setzi $m2, 0x80000\nagain:\n sync 3\n send 3, 0x20000, 3\n"
              "ld32 $m1, $m2, $m15, 0\n add $m1, $m1, 16\n st32 $m1, $m2, $m15, 0\n"
              "brnzdec $m3, again\n sync 4\n");
  add_program(image, 1,
              "setzi $m3, 5\n setzi $m2, 0x80000\nagain:\n sync 3\n delaypic 30, 0, 0x20000\n"
              "delayxpic 1, 0, 0\n delayxpic 3, 0, 0x640\n ld32 $m5, $m2, $m15, 0\n"
              "add $m6, $m6, $m5\n st32 $m6, $m2, $m15, 8\n brnzdec $m3, again\n sync 4\n");
  return image;
}

TEST(Checkpoint, OfExchangesThatRepeat) {
  expect_same_rest(shared(exchanges()), {.check_repeats = 1});
}

/// Workers that store at word $WSR x stride of kData, behind each of three barriers; in front of
/// the last one the stride becomes 0. `other` is what the last launch runs.
ProgramImage races_late(const std::string& other) {
  ProgramImage image = image_of(1);
  const std::string store =
      "get $m0, $WSR\n and $m0, $m0, 7\n ld32 $m1, $m13, $m15, 0\n mul $m0, $m0, $m1\n"
      "add $m0, $m0, $m13\n st32 $m0, $m0, $m15, 1\n exitz $m15\n";
  add_program(image, 0,
              "  setzi $m0, worker\n  setzi $m1, 0x80000\n  setzi $m2, 4\n  setzi $m3, 2\n"
              "  st32 $m2, $m1, $m15, 0\nagain:\n  runall $m0, $m1, 0\n  sync 2\n  sync 3\n"
              "  cmpeq $m4, $m3, 1\n  brz $m4, on\n  st32 $m15, $m1, $m15, 0\n  setzi $m0, " +
                  other + "\non:\n  brnzdec $m3, again\n  sync 4\n.align 8\nworker:\n" + store +
                  ".align 8\nother:\n" + store);
  return image;
}

TEST(Checkpoint, ARaceBehindItIsFoundWhereItWouldBe) {
  for (const RaceChecks which : {RaceChecks::kFirst, RaceChecks::kAlways}) {
    const Image image = shared(races_late("other"));
    Simulation whole(image, {.check_races = which});
    ASSERT_EQ(whole.run().kind, StopKind::kTrap);
    expect_same_rest(image, {.check_races = which});
  }
}

TEST(Checkpoint, ALaunchThatWasCheckedIsNotCheckedAgain) {
  const Image image = shared(races_late("worker"));
  Simulation whole(image, {.check_races = RaceChecks::kFirst});
  ASSERT_EQ(whole.run().kind, StopKind::kEnd);
  expect_same_rest(image, {.check_races = RaceChecks::kFirst});
}

TEST(Checkpoint, ATrapBehindItIsTheSame) {
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "sync 3\n delay 9\n sync 3\n setzi $m1, 3\n ld32 $m2, $m15, $m1, 0\n sync 4\n");
  expect_same_rest(shared(image));
}

TEST(Checkpoint, OfCallbacksKeepsWhatTheyMadeAhead) {
  ProgramImage image = increments();
  image.machine.host.callback_latency_ns = 60'000;
  image.machine.host.prefetch = 2;
  const Image program = shared(image);
  std::int32_t value = 0;
  const auto connect = [&value](Simulation& sim) {
    sim.connect_argument(0, [&value](std::span<std::byte> bytes) {
      const std::array<std::int32_t, 2> pair = {value++, 5};
      std::memcpy(bytes.data(), pair.data(), bytes.size());
      return true;
    });
  };
  Simulation whole(program);
  connect(whole);
  std::vector<std::int32_t> results;
  for (int call = 0; call < 5; ++call) {
    whole.call();
    results.push_back(whole.result(0).get<std::int32_t>(0));
  }
  value = 0;
  Simulation first(program);
  connect(first);
  for (int call = 0; call < 2; ++call) first.call();
  first.save(file());
  Simulation second = Simulation::load(file(), program);
  try {
    second.call();
    ADD_FAILURE() << "it runs without its callback";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("arg0"), std::string::npos) << error.what();
  }
  Simulation third = Simulation::load(file(), program);
  connect(third);
  for (std::size_t call = 2; call < results.size(); ++call) {
    third.call();
    EXPECT_EQ(third.result(0).get<std::int32_t>(0), results[call]);
  }
  EXPECT_EQ(third.now(), whole.now());
}

TEST(Checkpoint, AHostProgramIsSetAgain) {
  const Image image = shared(increments());
  const HostTensor value = pair_of(1, 1);
  const auto set = [&value](Simulation& sim) {
    sim.set_host_program([&sim, &value](std::uint32_t call) {
      sim.send_argument(0, std::as_bytes(std::span(value.data)));
      return call == 3 ? HostTurn::kLastCall : HostTurn::kCall;
    });
  };
  Simulation first(image);
  set(first);
  ASSERT_EQ(first.run_until({.superstep = 5}).kind, StopKind::kBreakpoint);
  first.save(file());
  Simulation second = Simulation::load(file(), image);
  EXPECT_THROW((void)second.run(), UserError);
  set(second);
  EXPECT_EQ(second.run().kind, StopKind::kEnd);
  EXPECT_EQ(first.run().kind, StopKind::kEnd);
  EXPECT_EQ(second.now(), first.now());
}

TEST(Checkpoint, OfAnotherProgramOrMachineOrVersionIsRefused) {
  const Image image = shared(draws());
  Simulation simulation(image);
  simulation.step_superstep();
  simulation.save(file());
  const auto refusal = [&](const Image& other) -> std::string {
    try {
      (void)Simulation::load(file(), other);
      return {};
    } catch (const MalformedInput& error) {
      EXPECT_EQ(error.problems()[0].where.file, file().string());
      return error.what();
    }
  };
  EXPECT_EQ(refusal(image), "");
  EXPECT_NE(refusal(shared(exchanges())).find("another program"), std::string::npos);
  ProgramImage slower = *image;
  slower.machine.sync.external_latency_ns += 1;
  EXPECT_NE(refusal(shared(slower)).find("another machine"), std::string::npos);
  Hdf5File opened = Hdf5File::open(file(), Hdf5File::Access::kWrite);
  opened.set_attribute("/", "format_version", std::string("0.9.0"));
  opened.close();
  EXPECT_NE(refusal(image).find("superstep-checkpoint/0.9.0"), std::string::npos);
  write_image(file(), *image);
  EXPECT_NE(refusal(image).find("is a superstep-image"), std::string::npos);
  replace_file(file(), "text");
  EXPECT_NE(refusal(image).find(file().string()), std::string::npos);
}

TEST(Checkpoint, ADamagedOneIsRefusedOrWhole) {
  const Image image = shared(exchanges());
  Simulation simulation(image);
  simulation.run_until({.superstep = 3});
  simulation.save(file());
  const std::string bytes = read_text_file(file());
  Damage damage(10);
  int refused = 0;
  const int inputs = fuzz_inputs(100);
  for (int i = 0; i < inputs; ++i) {
    SCOPED_TRACE(i);
    replace_file(file(), damage.apply_to_bytes(bytes));
    try {
      Simulation loaded = Simulation::load(file(), image);
      EXPECT_EQ(loaded.run().kind, StopKind::kEnd);
    } catch (const MalformedInput& error) {
      EXPECT_FALSE(error.problems().empty());
      ++refused;
    }
  }
  EXPECT_GT(refused, inputs / 2);
}

TEST(Checkpoint, WhosePartsDoNotGoTogetherIsRefused) {
  const Image image = shared(draws());
  Simulation simulation(image);
  simulation.step_superstep();
  simulation.save(file());
  const Checkpoint whole = read_checkpoint(file(), *image);
  const auto refusal = [&](const std::function<void(Checkpoint&)>& change) -> std::string {
    Checkpoint other = whole;
    change(other);
    write_checkpoint(file(), other);
    try {
      (void)Simulation::load(file(), image);
      return {};
    } catch (const MalformedInput& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal([](Checkpoint&) {}), "");
  const auto ends_early = refusal([](Checkpoint& other) { other.state.pop_back(); });
  EXPECT_NE(ends_early.find("ends early"), std::string::npos) << ends_early;
  EXPECT_NE(refusal([](Checkpoint& other) { other.state.push_back(0); }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.state.clear(); }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.pages[0] = 2; }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.pages[1] = 1U << 30; }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.page_bytes.pop_back(); }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.codes[1] = 4; }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.codes[2] += 1; }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.code_words[0] = 4; }), "");
  EXPECT_NE(refusal([](Checkpoint& other) { other.codes.clear(); }), "");
}

TEST(Checkpoint, EightAtOnceSaveAndLoadInOneProcess) {
  const Image image = shared(draws());
  Simulation whole(image);
  ASSERT_EQ(whole.run().kind, StopKind::kEnd);
  const std::filesystem::path folder = scratch_folder();
  std::vector<std::uint64_t> ends(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < ends.size(); ++t) {
    threads.emplace_back([&ends, &image, &folder, t] {
      const std::filesystem::path own = folder / (std::to_string(t) + ".h5");
      Simulation first(image, {.threads = 2});
      first.run_until({.superstep = 1 + t % 3});
      first.save(own);
      Simulation second = Simulation::load(own, image, {.threads = 2});
      second.step_cycles(20);
      EXPECT_EQ(second.run().kind, StopKind::kEnd);
      ends[t] = second.now().value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ends, std::vector<std::uint64_t>(8, whole.now().value()));
}

}  // namespace
}  // namespace superstep
