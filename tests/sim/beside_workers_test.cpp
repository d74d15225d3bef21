// A supervisor and its running workers see of one another what they have done by then, to the
// cycle. The first worker of a `run` in cycle t issues in t + 6, t + 12, … and the instruction that
// follows a delay of d behind the `run` in t + 1 + d or, where a worker has that, in the next one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/gc200.h"
#include "tests/sim/programs.h"
#include "tests/tile_run.h"

namespace superstep::testing {
namespace {

constexpr int kDelays = 60;

/// Looks at each instruction and changes nothing.
class Watcher : public InstructionObserver {
 public:
  void issued(const IssuedInstruction& instruction) override {
    EXPECT_GE(instruction.cycle, last_.at(instruction.context % last_.size()));
    last_.at(instruction.context % last_.size()) = instruction.cycle;
  }

 private:
  std::array<std::uint64_t, 8> last_{};
};

/// `codelet` on a worker with its state at kData, and `instruction` on the supervisor so long
/// behind the launch. Common weights lie at $m3 = kInterleaved, the first of which is 2.
void run_beside(TileRun& run, const std::string& codelet, const std::string& instruction, int delay,
                const std::string& before = "") {
  run.put<float>(kInterleaved, {2, 0, 0, 0});
  run.load(kCodelet, codelet);
  run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n setzi $m2, 4\n setzi $m3, 0x80000\n"
      "setzi $m6, 0x50000\n put $CCCSLOAD, $m3\n nop\n nop\n nop\n nop\n" +
      before + "run $m0, $m1, 0\n" +
      (delay == 0 ? std::string() : "delay " + std::to_string(delay - 1) + "\n") + instruction +
      "\n sync 2\n st32 $m5, $m6, $mzero, 2\n sync 4");
}

struct Meeting {
  const char* instruction;
  std::string codelet;
  std::uint32_t word;         ///< of kData, which tells
  std::uint32_t early, late;  ///< what it holds then
  int last_early;             ///< delay
  std::string before = "";    ///< on the supervisor
};

/// A product of one input, read in the fifth slot, 30 cycles behind the launch, with weight 0.
std::string multiply() {
  std::string text =
      "setzi $a0, 8\n uput $FP_CLR, $a0\n or $a1, $azero, 0x3f800000\n zero $a2:3\n"
      "f32sisoamp $a4:5, $a1, $a2:3, TAMP_F32_E4_P0\n zero $a1\n";
  for (int phase = 1; phase <= 8; ++phase) {
    text += "f32sisoamp $a4:5, $a1, $a2:3, TAMP_F32_E4_P" + std::to_string(phase % 8) + "\n";
  }
  return text + "st32 $a4, $mvertex_base, $mzero, 1\n exitz $mzero";
}

std::vector<Meeting> meetings() {
  const std::string store =
      "setzi $m0, 7\n nop\n st32 $m0, $mvertex_base, $mzero, 0\n exitz $mzero";
  const std::string load =
      "nop\n nop\n ld32 $m0, $mvertex_base, $mzero, 0\n st32 $m0, $mvertex_base, $mzero, 1\n"
      "exitz $mzero";
  constexpr std::uint32_t kTwo = 0x40000000;
  return {
      {"ld32 $m5, $m6, $mzero, 0", store, 2, 0, 7, 16},
      {"st32 $m2, $m6, $mzero, 0", load, 1, 4, 0, 16},
      {"ld64putcs 0", multiply(), 1, kTwo, 0, 28},
      {"ld128putcs 0", multiply(), 1, kTwo, 0, 28},
      {"put $CR, $m2", multiply(), 1, 0, kTwo, 28, "ld64putcs 0\n"},
  };
}

TEST(BesideWorkers, LoadsStoresAndWeightsAreExactToTheCycle) {
  for (const Meeting& meeting : meetings()) {
    for (const bool watched : {false, true}) {
      for (int delay = 0; delay < kDelays; ++delay) {
        SCOPED_TRACE(meeting.instruction + std::string(watched ? " watched " : " ") +
                     std::to_string(delay));
        TileRun run;
        Watcher watcher;
        if (watched) run.tile().observe(&watcher);
        run_beside(run, meeting.codelet, meeting.instruction, delay, meeting.before);
        ASSERT_EQ(run.cause(), "none");
        ASSERT_EQ(run.get(kData + 4 * meeting.word, 1).front(),
                  delay <= meeting.last_early ? meeting.early : meeting.late);
      }
    }
  }
}

TEST(BesideWorkers, EachWordOfASendIsReadInItsCycle) {
  // Word k goes out k cycles behind the first; the worker writes word 2 18 cycles behind its
  // launch, when a word that goes out is still the old one.
  const std::string store =
      "setzi $m0, 7\n nop\n st32 $m0, $mvertex_base, $mzero, 2\n exitz $mzero";
  for (const bool watched : {false, true}) {
    for (int delay = 0; delay < 28; ++delay) {
      SCOPED_TRACE(delay);
      TileRun run;
      Watcher watcher;
      if (watched) run.tile().observe(&watcher);
      run_beside(run, store, "send 3, 0x14000, 3", delay);
      ASSERT_EQ(run.tile().port_events().size(), 1U);
      const std::uint64_t begin = run.tile().port_events().front().cycle;
      const std::span<const SentWord> sent = run.tile().sent_beside_workers();
      // None beyond the cycle in which the worker has left, 30 behind its launch.
      const std::uint64_t launch = run.tile().launches().first_cycle;
      ASSERT_EQ(sent.size(), std::min<std::uint64_t>(4, launch + 30 - begin));
      for (std::uint64_t word = 0; word < sent.size(); ++word) {
        EXPECT_EQ(sent[word].cycle, begin + word);
        EXPECT_EQ(sent[word].value, word == 2 && begin + word > launch + 18 ? 7U : 0U);
      }
    }
  }
}

TEST(BesideWorkers, ASentWordArrivesAsItWasWhenItLeft) {
  // 18 cycles behind its launch a worker of tile 0 writes the word that the supervisor sends, 32
  // cycles before it arrives.
  const auto received = [](std::uint32_t sent_at, RaceChecks which) {
    ProgramImage image = image_of(2);
    add_program(image, 0,
                "sync 4\n sync 4\n setzi $m0, worker\n setzi $m1, 0x34000\n sync 3\n"
                "run $m0, $m1, 0\n delay " +
                    std::to_string(sent_at - 2) +
                    "\n send 0, 0x20000, 3\n sync 2\n sync 3\n sync 4\n sync 4\n sync 4\n"
                    ".align 8\nworker:\n setzi $m3, 7\n nop\n st32 $m3, $m13, $m15, 0\n"
                    "exitz $m15\n");
    add_program(image, 1,
                "sync 4\n sync 4\n sync 3\n delaypic 31, 0, 0x20000\n delayxpic " +
                    std::to_string(sent_at) +
                    ", 0, 0\n delayxpic 0, 0, 0x640\n sync 3\n sync 4\n"
                    "delayxpic 0, 0, 0x600\n send 0, 0x20000, 3\n delayxpic 0, 0, 0x640\n"
                    "sync 4\n sync 4\n");
    const Stream result{
        Stream::Kind::kResult, 0, {DType::kU32, {1}}, {{TileId{1}, kInterleaved, 4, {{0, 0, 4}}}}};
    image.streams = {result};
    image.results = {result.type};
    image.alias = {std::nullopt};
    image.last.results = {0};
    RunOptions options;
    options.check_races = which;
    const RunResult run = run_image(image, {}, options);
    EXPECT_FALSE(run.trap) << run.trap->text();
    return run.trap ? 99U : run.results.at(0).get<std::uint32_t>(0);
  };
  for (const RaceChecks which : {RaceChecks::kNever, RaceChecks::kFirst}) {
    EXPECT_EQ(received(2, which), 0U);
    EXPECT_EQ(received(17, which), 0U);
    EXPECT_EQ(received(19, which), 7U);
    EXPECT_EQ(received(200, which), 7U);
  }
}

TEST(BesideWorkers, AReceiveIsATrapUntilTheCycleInWhichTheLastHasLeft) {
  // The worker has left 30 cycles behind its launch: four slots of six cycles, six cycles later.
  const std::string worker = "nop\n nop\n nop\n exitz $mzero";
  for (const bool meets : {false, true}) {
    // Beside workers that run ahead, and, behind a load, beside those that take turns.
    const std::string before = meets ? "ld32 $m5, $m6, $mzero, 0\n" : "";
    for (const bool watched : {false, true}) {
      for (int delay = 0; delay < kDelays; ++delay) {
        TileRun run;
        Watcher watcher;
        if (watched) run.tile().observe(&watcher);
        run_beside(run, worker, before + "delayxpic 0, 0, 5", delay);
        const bool beside = delay <= (meets ? 27 : 28);
        EXPECT_EQ(run.cause(),
                  beside ? "a receive while workers are running; `sync LOCAL` first" : "none")
            << delay << (watched ? " watched" : "");
      }
    }
  }
}

TEST(BesideWorkers, StallsThatWereTakenInTurnAreNotTakenAgain) {
  MachineConfig machine = gc200();
  machine.tile.bank_conflicts = BankConflicts::kStall;
  std::string codelet =
      "setzi $m0, 0x50000\n ldconst $m1, 0x50100\n tapack $m2:3, $m0, $m1, $mzero\n";
  for (int load = 0; load < 10; ++load) {
    codelet += "ld2x64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0\n";
  }
  codelet += "exitz $mzero";
  TileRun alone(machine);
  run_beside(alone, codelet, "nop", 0);
  // Beside a load of the supervisor they take turns, and run ahead behind it.
  for (int delay = 0; delay < 120; delay += 10) {
    for (const bool watched : {false, true}) {
      TileRun run(machine);
      Watcher watcher;
      if (watched) run.tile().observe(&watcher);
      run_beside(run, codelet, "ld32 $m5, $m6, $mzero, 0", delay);
      EXPECT_EQ(run.tile().worker_busy_cycles(), alone.tile().worker_busy_cycles())
          << delay << watched;
    }
  }
}

TEST(BesideWorkers, ControlsThatReceiveNothingAreNone) {
  for (const char* instruction : {"delayxpic 0, 0, 0x640", "delaypic 0, 0, 0x14000"}) {
    for (int delay = 0; delay < kDelays; ++delay) {
      TileRun run;
      run_beside(run, "nop\n exitz $mzero", instruction, delay);
      ASSERT_EQ(run.cause(), "none") << instruction << " " << delay;
    }
  }
}

TEST(BesideWorkers, OfTheirFaultsTheEarlierIsReported) {
  for (const std::string& between : {std::string(), std::string("ld32 $m5, $m6, $mzero, 0\n")}) {
    for (const bool watched : {false, true}) {
      for (int delay = 1; delay < kDelays; ++delay) {
        TileRun run;
        Watcher watcher;
        if (watched) run.tile().observe(&watcher);
        run_beside(run, "nop\n nop\n trap 3\n exitz $mzero", between + "trap 1",
                   between.empty() ? delay : delay - 1);
        ASSERT_TRUE(run.tile().fault());
        EXPECT_EQ(run.tile().fault()->context, delay <= 16 ? "supervisor" : "worker 0") << delay;
      }
    }
  }
}

TEST(BesideWorkers, OfTheirFaultsTheEarlierIsReportedWhereAnInstructionIsMisaligned) {
  // The worker traps 12 cycles behind its launch. The word behind the delay is the first of an
  // instruction of two, which begins in the middle of 8 bytes. It is a fault when it is read, in
  // one cycle with the trap the one that is reported.
  for (int delay = 1; delay < kDelays; ++delay) {
    TileRun run;
    run.load(kCodelet, "nop\n trap 3\n exitz $mzero");
    run.supervise(
        fmt::format("nop\n setzi $m0, 0x4d000\n setzi $m1, 0x4000\n run $m0, $m1, 0\n"
                    "delay {}\n .word 0xf00a0003\n sync 2\n sync 4",
                    delay));
    ASSERT_TRUE(run.tile().fault());
    EXPECT_EQ(run.tile().fault()->context, delay + 2 <= 12 ? "supervisor" : "worker 0") << delay;
  }
}

TEST(BesideWorkers, CodeThatTheyChangedIsATrapHoweverTheyRan) {
  // The worker has its first word stored as the supervisor's instruction behind a delay.
  const auto word = [](const char* text) { return assemble(text, "test.S").words_at(0).front(); };
  const std::uint32_t load = word("ld32 $m5, $m15, $m6, 0"), set = word("setzi $m5, 1");
  for (const auto& [counts, stored] : {std::pair("", load), std::pair("get $m3, $COUNT_L\n", load),
                                       std::pair("", set), std::pair("", 0x7fffffffU)}) {
    for (const bool watched : {false, true}) {
      SCOPED_TRACE(fmt::format("{}{:#x}{}", counts, stored, watched ? " watched" : ""));
      TileRun run;
      Watcher watcher;
      if (watched) run.tile().observe(&watcher);
      run.put<std::uint32_t>(kData, {stored});
      run.load(kCodelet, std::string(counts) +
                             "ld32 $m0, $mvertex_base, $mzero, 0\n setzi $m1, 0x4c014\n"
                             "st32 $m0, $m1, $mzero, 0\n" +
                             "nop\n nop\n nop\n nop\n nop\n nop\n exitz $mzero");
      run.supervise(
          "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n setzi $m6, 0x50000\n run $m0, $m1, 0\n"
          "delay 30\n nop\n sync 2\n sync 4");
      EXPECT_EQ(run.cause(), "supervisor code that changed while workers were running");
    }
  }
}

TEST(BesideWorkers, ALoadOfAWordThatNoneTouchesChangesNothing) {
  const std::string codelet =
      ".align 8\n mov $m2, $mvertex_base\n nop\n nop\n rpt 9, 0\n"
      "{st32step $mvertex_base, $mzero, $m2+=, 1 ; fnop}\n exitz $mzero";
  TileRun plain;
  run_beside(plain, codelet, "nop", 0);
  ASSERT_EQ(plain.cause(), "none");
  for (const bool watched : {false, true}) {
    for (int delay = 0; delay < 90; ++delay) {
      TileRun run;
      Watcher watcher;
      if (watched) run.tile().observe(&watcher);
      run_beside(run, codelet, "ld32 $m5, $m3, $mzero, 0", delay);
      ASSERT_EQ(run.cause(), "none");
      EXPECT_EQ(run.tile().worker_instructions(), plain.tile().worker_instructions());
      EXPECT_EQ(run.tile().worker_busy_cycles(), plain.tile().worker_busy_cycles());
      EXPECT_EQ(run.get(kData + 12, 8), plain.get(kData + 12, 8));
    }
  }
}

TEST(BesideWorkers, ALaunchMayFollowWhatTheyTakeTurnsWith) {
  // The supervisor hands each worker its number in one word, which it reads 18 cycles behind its
  // launch.
  TileRun run;
  run.load(kCodelet,
           "nop\n nop\n ld32 $m0, $mzero, $mvertex_base, 0\n shl $m1, $m0, 2\n"
           "add $m1, $m1, $mvertex_base\n st32 $m0, $m1, $mzero, 8\n exitz $mzero");
  std::string text = "setzi $m0, 0x4d000\n setzi $m1, 0x4000\n setzi $m6, 0x50000\n";
  for (int worker = 0; worker < 6; ++worker) {
    text += "setzi $m2, " + std::to_string(worker) + "\n run $m0, $m1, 0\n delay 7\n" +
            "st32 $m2, $m6, $mzero, 0\n delay 11\n";
  }
  run.supervise(text + "sync 2\n sync 4");
  ASSERT_EQ(run.cause(), "none");
  EXPECT_EQ(run.get(kData + 32, 6), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace superstep::testing
