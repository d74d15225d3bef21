#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sim/programs.h"

namespace superstep {
namespace {

/// A tile that launches `worker` six times over state at kData, `stride` bytes apart, in a runall
/// that issues at cycle 8: the last constant is ready six cycles after it issued in cycle 2. Worker
/// w then first issues at 14 + w.
ProgramImage batch(const std::string& worker, std::uint32_t stride = 0) {
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "  setzi $m0, worker\n  setzi $m1, 0x80000\n  nop\n"
              "  runall $m0, $m1, " +
                  std::to_string(stride) + "\n  sync 2\n  sync 4\n.align 8\nworker:\n" + worker);
  return image;
}
constexpr std::uint32_t kWorker = kCode + 24;

constexpr const char* kStoreByStride =
    "get $m0, $WSR\n and $m0, $m0, 7\n ld32 $m1, $m13, $m15, 0\n mul $m0, $m0, $m1\n"
    "add $m0, $m0, $m13\n st32 $m0, $m0, $m15, 1\n exitz $m15\n";

RunResult checked(const ProgramImage& image) {
  RunOptions options;
  options.check_races = RaceChecks::kAlways;
  return run_image(image, {}, options);
}

TEST(Races, TwoWritersOfOneWordAreATrapNamingBoth) {
  const ProgramImage image = batch("nop\n st32 $a15, $m13, $m15, 1\n exitz $m15\n");
  const RunResult result = checked(image);
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->context, "worker 1");
  EXPECT_EQ(result.trap->pc, kWorker + 4);
  EXPECT_EQ(result.trap->tile, TileId{0});
  EXPECT_EQ(result.trap->superstep, 0U);
  // Its second slot: six cycles after the first.
  EXPECT_EQ(result.trap->cycle.value() - checked(batch("trap 0\n")).trap->cycle.value(), 7U);
  EXPECT_EQ(result.trap->cause,
            "a race: writes the word at 0x80004, which worker 0 writes at pc 0x4c01c in the same "
            "launch; workers that run at the same time may not share words that one of them "
            "writes");
}

TEST(Races, AreChecked) {
  const ProgramImage image = batch("nop\n st32 $a15, $m13, $m15, 1\n exitz $m15\n");
  EXPECT_TRUE(run_image(image, {}, {}).trap.has_value());
  RunOptions never;
  never.check_races = RaceChecks::kNever;
  EXPECT_FALSE(run_image(image, {}, never).trap.has_value());
}

/// The trap of a program that launches workers which store at word $WSR x `stride` of kData, then,
/// with what `next` does to $m0 (the codelet) and $m1 (their state, which holds the stride),
/// others.
std::optional<Trap> trap_of_second(const std::string& next, RaceChecks which) {
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "  setzi $m0, worker\n  setzi $m1, 0x80000\n  setzi $m2, 4\n  setzi $m3, 1\n"
              "  st32 $m2, $m1, $m15, 0\nagain:\n  runall $m0, $m1, 0\n  sync 2\n" +
                  next + "  sync 4\n.align 8\nworker:\n" + kStoreByStride + ".align 8\nother:\n" +
                  kStoreByStride);
  RunOptions options;
  options.check_races = which;
  return run_image(image, {}, options).trap;
}

TEST(Races, AreCheckedWhenCodeIsLaunchedFirstAtItsPlace) {
  // The stride becomes 0: all meet.
  const std::string again = "  st32 $m15, $m1, $m15, 0\n  brnzdec $m3, again\n";
  const std::string elsewhere = "  st32 $m15, $m1, $m15, 0\n  runall $m0, $m1, 0\n  sync 2\n";
  const std::string other = "  st32 $m15, $m1, $m15, 0\n  setzi $m0, other\n  brnzdec $m3, again\n";
  EXPECT_FALSE(trap_of_second("", RaceChecks::kAlways));
  EXPECT_FALSE(trap_of_second(again, RaceChecks::kFirst));
  for (const std::string& next : {again, elsewhere, other}) {
    EXPECT_TRUE(trap_of_second(next, RaceChecks::kAlways)) << next;
    EXPECT_FALSE(trap_of_second(next, RaceChecks::kNever)) << next;
  }
  EXPECT_TRUE(trap_of_second(elsewhere, RaceChecks::kFirst));
  EXPECT_TRUE(trap_of_second(other, RaceChecks::kFirst));
}

TEST(Races, ALoopOfSingleLaunchesIsOneComputeSet) {
  // Three workers launched from one place, which all store at one word.
  ProgramImage image = image_of(1);
  add_program(image, 0,
              "  setzi $m0, worker\n  setzi $m1, 0x34000\n  setzi $m3, 2\n  nop\n"
              "again:\n  run $m0, $m1, 0\n  brnzdec $m3, again\n  sync 2\n  sync 4\n"
              ".align 8\nworker: st32 $m15, $m13, $m15, 0\n nop\n nop\n exitz $m15\n");
  const std::optional<Trap> trap = run_image(image, {}, {}).trap;
  ASSERT_TRUE(trap.has_value());
  EXPECT_EQ(trap->context, "worker 1");
}

TEST(Races, AWriterAfterReadersIsATrap) {
  // Workers 0 to 4 read a word; worker 5 writes it.
  const RunResult result =
      checked(batch("get $m0, $WSR\n and $m0, $m0, 7\n cmpeq $m0, $m0, 5\n brnz $m0, last\n"
                    "ldz16 $m1, $m13, $m15, 0\n exitz $m15\n"
                    "last: st32 $m15, $m13, $m15, 0\n exitz $m15\n"));
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->context, "worker 5");
  EXPECT_NE(result.trap->cause.find("writes the word at 0x80000, which worker 4 reads"),
            std::string::npos)
      << result.trap->cause;
}

TEST(Races, AWriterAfterManyReadersIsATrapWhicheverLeavesLast) {
  // Five workers read a word; only one of them is still there when the writer is launched.
  for (std::uint32_t last = 0; last < 5; ++last) {
    std::string launches;
    for (std::uint32_t w = 0; w < 5; ++w) {
      launches += w == last ? "  run $m1, $m15, 0\n" : "  run $m0, $m15, 0\n";
    }
    ProgramImage image = image_of(1);
    add_program(image, 0,
                "  setzi $m0, short\n  setzi $m1, long\n  setzi $m2, writer\n" + launches +
                    "  delay 600\n  run $m2, $m15, 0\n  sync 2\n  sync 4\n.align 8\n"
                    "short:\n  setzi $m0, 0x80000\n  ld32 $m1, $m0, $m15, 0\n  exitz $m15\n"
                    "long:\n  setzi $m0, 0x80000\n  ld32 $m1, $m0, $m15, 0\n  setzi $m2, 500\n"
                    "again:\n  brnzdec $m2, again\n  exitz $m15\n"
                    "writer:\n  setzi $m0, 0x80000\n  st32 $m1, $m0, $m15, 0\n  exitz $m15\n");
    const RunResult result = checked(image);
    ASSERT_TRUE(result.trap.has_value()) << last;
    EXPECT_NE(result.trap->cause.find("which worker " + std::to_string(last) + " reads"),
              std::string::npos)
        << result.trap->cause;
  }
}

TEST(Races, AReaderAfterAWriterIsATrap) {
  const RunResult result =
      checked(batch("get $m0, $WSR\n and $m0, $m0, 7\n brz $m0, first\n"
                    "ld64 $a0:1, $m13, $m15, 0\n exitz $m15\n"
                    "first: st32 $m15, $m13, $m15, 1\n exitz $m15\n"));
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->context, "worker 1");
  EXPECT_NE(result.trap->cause.find("reads the word at 0x80004, which worker 0 writes"),
            std::string::npos)
      << result.trap->cause;
}

TEST(Races, WordsThatAllReadOrThatOneUsesAreNone) {
  EXPECT_FALSE(checked(batch("ld32 $m0, $m13, $m15, 0\n exitz $m15\n")).trap.has_value());
  EXPECT_FALSE(checked(batch("ld32 $m0, $m13, $m15, 0\n add $m0, $m0, 1\n"
                             "st32 $m0, $m13, $m15, 0\n ld32 $m0, $m13, $m15, 0\n exitz $m15\n",
                             4))
                   .trap.has_value());
}

TEST(Races, AWorkerMayUseWhatAnEarlierLaunchWrote) {
  ProgramImage image = image_of(1);
  const std::string program =
      "  setzi $m0, worker\n  setzi $m1, 0x34000\n  nop\n"
      "  run $m0, $m1, 0\n{}"
      "  run $m0, $m1, 0\n  sync 2\n  sync 4\n.align 8\n"
      "worker: ld32 $m0, $m13, $m15, 0\n st32 $m0, $m13, $m15, 0\n exitz $m15\n";
  const auto with = [&](const std::string& between) {
    ProgramImage out = image;
    std::string text = program;
    text.replace(text.find("{}"), 2, between);
    add_program(out, 0, text);
    return checked(out);
  };
  EXPECT_FALSE(with("  sync 2\n").trap.has_value());
  EXPECT_FALSE(with("  delay 40\n").trap.has_value());
  const RunResult together = with("");
  ASSERT_TRUE(together.trap.has_value());
  EXPECT_EQ(together.trap->context, "worker 1");
}

TEST(Races, ARaceInALineOfProductsIsThatOfItsBundle) {
  // Each worker stores pairs of words upwards, the first of them `stride` words below where the
  // worker before it began: worker 1 meets that behind so many words.
  const auto products = [](const std::string& repeat, std::uint32_t stride) {
    std::string worker = "setzi $m0, 0x60000\n setzi $m1, 0xff200\n sub $m1, $m1, $m13\n" +
                         std::string("tapack $m4:5, $m0, $m0, $m1\n") + repeat;
    for (const char* phase : {"0", "1", "2"}) {
      worker += std::string(
                    "{ ldst64pace $a0:1, $a2:3, $m4:5+=, $m15, 0 ; "
                    "f32sisoamp $a4:5, $a0, $a2:3, ") +
                phase + " }\n";
    }
    return batch(worker + "exitz $m15\n", stride);
  };
  const auto expect_race = [](const ProgramImage& image, std::uint32_t pc, std::uint32_t other_pc,
                              std::uint32_t slot) {
    const RunResult result = checked(image);
    ASSERT_TRUE(result.trap.has_value());
    EXPECT_EQ(result.trap->context, "worker 1");
    EXPECT_EQ(result.trap->pc, pc);
    const std::string cause = "writes the word at 0x7f200, which worker 0 writes at pc " +
                              fmt::format("{:#x}", other_pc) + " ";
    EXPECT_NE(result.trap->cause.find(cause), std::string::npos) << result.trap->cause;
    const std::uint64_t first = checked(batch("trap 0\n")).trap->cycle.value();
    EXPECT_EQ(result.trap->cycle.value() - first, 6 * slot + 1);
  };
  // The third bundle, behind four instructions.
  expect_race(products("", 4), kWorker + 32, kWorker + 16, 6);
  // The second one of the second turn, behind six.
  expect_race(products("nop\n rpt 2, 2\n", 8), kWorker + 32, kWorker + 24, 10);
  EXPECT_FALSE(checked(products("", 6)).trap.has_value());
  EXPECT_FALSE(checked(products("nop\n rpt 2, 2\n", 12)).trap.has_value());
}

TEST(Races, ARepeatedStoreIsDatedToItsTurn) {
  // Worker 0 writes words 0 to 19, worker 1 words 16 to 35 and so on: worker 1 meets at its first
  // turn, its third slot.
  const RunResult result = checked(batch(
      "mov $m2, $m13\n rpt 10, 0\n { st64step $a14:15, $m15, $m2+=, 1; fnop }\n exitz $m15\n", 16));
  ASSERT_TRUE(result.trap.has_value());
  EXPECT_EQ(result.trap->context, "worker 1");
  EXPECT_EQ(result.trap->pc, kWorker + 8);
  EXPECT_EQ(result.trap->cycle.value() - checked(batch("trap 0\n")).trap->cycle.value(), 13U);
}

}  // namespace
}  // namespace superstep
