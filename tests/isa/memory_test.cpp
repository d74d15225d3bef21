#include <gtest/gtest.h>

#include "isa/instruction_word.h"
#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using testing::kData;
using testing::TileRun;

std::string cause_of(const std::string& codelet) {
  TileRun run;
  EXPECT_EQ(run.work_alone(codelet).kind, TileStop::Kind::kFault);
  return run.tile().fault() ? run.tile().fault()->context + ": " + run.cause() : "";
}

TEST(Memory, PackedAddressesReachTheWholeMemory) {
  TileRun run;
  run.put<std::uint32_t>(0x60000, {1, 2, 3, 4});
  run.put<std::uint32_t>(0x9c008, {5, 6, 7, 8});
  run.put<std::uint32_t>(kData, {0x60000, 0x9c008, 0xe7ff0});
  run.slots(
      "ld32 $m0, $mvertex_base, 0\n ld32 $m1, $mvertex_base, 1\n ld32 $m4, $mvertex_base, 2\n"
      "tapack $m2:3, $m0, $m1, $m4\n ld64 $a4:5, $m1, 0\n"
      "ld2xst64pace $a0:3, $a4:5, $m2:3+=, $mzero, 0\n"
      "ld2xst64pace $a4:7, $a2:3, $m2:3+=, $mzero, 0\n"
      "tapack $m2:3, $m0, $m1, $m4\n ldst64pace $a8:9, $a0:1, $m2:3+=, $mzero, 0\n"
      "st64 $a4:5, $mvertex_base, 2\n st64 $a6:7, $mvertex_base, 3\n"
      "st64 $a8:9, $mvertex_base, 4\n exitz $mzero");
  EXPECT_EQ(run.get(0xe7ff0, 4), (std::vector<std::uint32_t>{1, 2, 5, 6}));
  EXPECT_EQ(run.get(kData + 16, 6), (std::vector<std::uint32_t>{3, 4, 7, 8, 1, 2}));
}

TEST(Memory, AnAccessThatTheMachineHasNotIsAFault) {
  EXPECT_EQ(cause_of("ld32 $m0, $mzero, 0\n exitz $mzero"),
            "worker 0: an address outside the tile's memory, 0x0");
  EXPECT_EQ(cause_of("setzi $m0, 0x50002\n ld32 $m0, $m0, 0\n exitz $mzero"),
            "worker 0: a misaligned address, 0x50002");
  EXPECT_EQ(cause_of("ldconst $m0, 0xe7ffc\n ld64 $a0:1, $m0, 0\n exitz $mzero"),
            "worker 0: a misaligned address, 0xe7ffc");
  EXPECT_EQ(cause_of("ldconst $m0, 0xe8000\n st32 $m0, $m0, $mzero, 0\n exitz $mzero"),
            "worker 0: an address outside the tile's memory, 0xe8000");
  EXPECT_EQ(cause_of("setzi $m0, 0x50000\n ld128 $a0:3, $m0, 0\n exitz $mzero"),
            "worker 0: a 128-bit access outside the interleaved region, 0x50000");
  EXPECT_EQ(cause_of("setzi $m0, 0x60000\n setzi $m1, 0x60008\n"
                     "ld2x64pace $a0:1, $a2:3, $m0:1+=, $mzero, 0\n exitz $mzero"),
            "worker 0: two accesses of one instruction to the same memory element, 0x60000 and "
            "0x60008");
  EXPECT_EQ(cause_of("setzi $m0, 0x80000\n br $m0"),
            "worker 0: execution at 0x80000, which is not executable");
  EXPECT_EQ(cause_of(".int 0x3fffffff"), "worker 0: 0x3fffffff is no instruction");
  EXPECT_EQ(cause_of("sync 3"), "worker 0: `sync 3` on a worker");
  EXPECT_EQ(cause_of("trap 0"), "worker 0: trap instruction 0");
}

TEST(Memory, AFaultIsDatedToItsSlot) {
  TileRun run;
  const TileStop stop = run.work("nop\n nop\n ld32 $m0, $mzero, 0");
  EXPECT_EQ(stop.kind, TileStop::Kind::kFault);
  EXPECT_EQ(stop.cycle, 7U + 6 + 2 * 6);
  EXPECT_EQ(stop.pc, testing::kCodelet + 8);
  EXPECT_EQ(run.tile().fault()->context, "worker 0");
}

TEST(Memory, AFaultInsideARepeatIsDatedToItsSlot) {
  TileRun run;
  run.put<std::uint32_t>(kData, {0xe7ff0});
  // The third turn leaves the memory: 2 + 1 + 2 x 2 slots before it, and the first bundle of the
  // turn.
  const TileStop stop = run.work(
      "ld32 $m0, $mvertex_base, 0\n nop\n nop\n rpt 9, 1\n"
      "{ nop ; fnop }\n{ ld64step $a0:1, $mzero, $m0+=, 1 ; fnop }\n exitz $mzero");
  EXPECT_EQ(stop.kind, TileStop::Kind::kFault);
  EXPECT_EQ(stop.cycle, 7U + 6 + 6 * (3 + 1 + 2 * 2 + 1));
}

TEST(Memory, CodeThatIsOverwrittenRunsAsItIsNow) {
  TileRun run;
  // The codelet replaces its own `setzi $m0, 1` ahead by `setzi $m0, 2`.
  const std::uint32_t replacement = encode("setzi", {0, 2});
  run.put<std::uint32_t>(kData, {replacement, 0});
  run.slots(
      "setzi $m1, 0x4d000\n ld32 $m2, $mvertex_base, 0\n st32 $m2, $m1, $mzero, 3\n"
      "setzi $m0, 1\n st32 $m0, $mvertex_base, $mzero, 1\n exitz $mzero");
  EXPECT_EQ(run.get(kData, 2)[1], 2U);
}

TEST(Memory, AnUnusedTileReadsZeroAndKeepsWhatIsWritten) {
  const MachineConfig machine = gc200();
  TileMemory memory(machine);
  std::uint32_t word = 7;
  EXPECT_TRUE(memory.read(0x4c000, std::as_writable_bytes(std::span(&word, 1))));
  EXPECT_EQ(word, 0U);
  EXPECT_FALSE(memory.write(0xe8000, std::as_bytes(std::span(&word, 1))));
  EXPECT_FALSE(memory.read(0x4bffc, std::as_writable_bytes(std::span(&word, 1))));
}

TEST(CodeStore, TilesWithEqualCodeShareOneCopy) {
  const MachineConfig machine = gc200();
  CodeStore store(machine);
  const Assembly code = assemble("nop\n exitz $mzero", "test.S");
  TileMemory a(machine), b(machine), c(machine);
  for (TileMemory* memory : {&a, &b, &c}) {
    ASSERT_TRUE(memory->write(0x4c000, std::as_bytes(std::span(code.words))));
  }
  const std::uint32_t other = encode("setzi", {1, 2});
  ASSERT_TRUE(c.write(0x4c000, std::as_bytes(std::span(&other, 1))));
  EXPECT_EQ(store.find(0x4c000, a), store.find(0x4c000, b));
  EXPECT_NE(store.find(0x4c000, a), store.find(0x4c000, c));
  EXPECT_EQ(store.size(), 2U);
}

TEST(Supervisor, FaultsAreValuesThatNameTheContext) {
  TileRun run;
  EXPECT_EQ(run.supervise("nop\n ld32 $m0, $mzero, 0").kind, TileStop::Kind::kFault);
  EXPECT_EQ(run.tile().fault()->context, "supervisor");
  EXPECT_EQ(run.tile().fault()->cycle, 1U);
  EXPECT_EQ(run.tile().fault()->pc, testing::kProgram + 4);
  TileRun other;
  EXPECT_EQ(other.supervise("f32add $a0, $a1, $a2").kind, TileStop::Kind::kFault);
  EXPECT_EQ(other.cause(), "an instruction that the supervisor does not have");
}

// PopLibs' convolution workers find their addresses where their last launch left them.
TEST(Worker, KeepsItsRegistersFromLaunchToLaunch) {
  TileRun run;
  run.load(testing::kCodelet, "setzi $m0, 77\n setzi $a1, 78\n exitz $mzero");
  run.load(testing::kCodelet + 0x100,
           "st32 $m0, $m13, $mzero, 0\n st32 $a1, $m13, $mzero, 1\n exitz $mzero");
  run.supervise(
      "setzi $m0, 0x4d000\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n sync 2\n"
      "setzi $m0, 0x4d100\n runall $m0, $m1, 0\n sync 2\n sync 4");
  EXPECT_EQ(run.get(testing::kData, 2), (std::vector<std::uint32_t>{77, 78}));
}

}  // namespace
}  // namespace superstep
