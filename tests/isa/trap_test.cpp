// What the machine does not allow: each a trap with its cause, and its neighbour that is allowed.

#include <gtest/gtest.h>

#include "isa/instruction_word.h"
#include "isa/table.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using testing::supervisor_cause;
using testing::worker_cause;

/// A worker's instruction with $m0 = address.
std::string access(const std::string& instruction, const std::string& address) {
  return worker_cause("ldconst $m0, " + address + "\n " + instruction + "\n exitz $mzero");
}

std::string misaligned(const std::string& address) { return "a misaligned address, " + address; }
std::string outside(const std::string& address) {
  return "an address outside the tile's memory, " + address;
}
std::string conflict(const std::string& one, const std::string& other) {
  return "two accesses of one instruction to the same memory element, " + one + " and " + other;
}

TEST(Trap, AnAccessIsAlignedToItsSize) {
  EXPECT_EQ(access("ldz16 $m1, $m0, $mzero, 0", "0x50001"), misaligned("0x50001"));
  EXPECT_EQ(access("ldz16 $m1, $m0, $mzero, 0", "0x50002"), "none");
  EXPECT_EQ(access("ldz8 $m1, $m0, $mzero, 0", "0x50001"), "none");
  EXPECT_EQ(access("ld32 $m1, $m0, $mzero, 0", "0x50002"), misaligned("0x50002"));
  EXPECT_EQ(access("ld64 $a0:1, $m0, $mzero, 0", "0x50004"), misaligned("0x50004"));
  EXPECT_EQ(access("ld128 $a0:3, $m0, $mzero, 0", "0x80008"), misaligned("0x80008"));
  EXPECT_EQ(access("ld128 $a0:3, $m0, $mzero, 0", "0x80010"), "none");
  EXPECT_EQ(access("st32 $m1, $m0, $mzero, 0", "0x50002"), misaligned("0x50002"));
  EXPECT_EQ(access("st64 $a0:1, $m0, $mzero, 0", "0x50004"), misaligned("0x50004"));
  EXPECT_EQ(supervisor_cause("setzi $m0, 0x50002\n ld32 $m1, $m0, $mzero, 0"),
            misaligned("0x50002"));
  EXPECT_EQ(supervisor_cause("setzi $m0, 0x50004\n put $CCCSLOAD, $m0\n ld64putcs 0"),
            misaligned("0x50004"));
}

TEST(Trap, AnAccessLiesInTheMemoryOfTheTile) {
  EXPECT_EQ(access("ld32 $m1, $m0, $mzero, 0", "0x4bffc"), outside("0x4bffc"));
  EXPECT_EQ(access("ld32 $m1, $m0, $mzero, 0", "0x4c000"), "none");
  EXPECT_EQ(access("ld32 $m1, $m0, $mzero, 0", "0xe7ffc"), "none");
  EXPECT_EQ(access("ld32 $m1, $m0, $mzero, 0", "0xe8000"), outside("0xe8000"));
  EXPECT_EQ(access("ld64 $a0:1, $m0, $mzero, 0", "0xe7ff8"), "none");
  EXPECT_EQ(access("st64 $a0:1, $m0, $mzero, 0", "0xe8000"), outside("0xe8000"));
  EXPECT_EQ(access("st32 $m1, $m0, $mzero, 0", "0"), outside("0x0"));
  EXPECT_EQ(access("st32 $m1, $m0, $mzero, 0", "0xfffffffc"), outside("0xfffffffc"));
  // 0x4c000 + 2^32 - 4
  EXPECT_EQ(worker_cause("ldconst $m0, 0x4c000\n ldconst $m1, 0xfffffffc\n ld32 $m1, $m0, $m1, 0\n"
                         " exitz $mzero"),
            outside("0x4bffc"));
  EXPECT_EQ(supervisor_cause("ldconst $m0, 0xe8000\n st32 $m1, $m0, $mzero, 0"),
            outside("0xe8000"));
}

TEST(Trap, AccessesOfOneInstructionLieInDifferentElements) {
  const auto two = [](const std::string& a, const std::string& b, const std::string& instruction) {
    return worker_cause("ldconst $m0, " + a + "\n ldconst $m1, " + b +
                        "\n tapack $m2:3, $m0, $m1, $m1\n " + instruction + "\n exitz $mzero");
  };
  const std::string load = "ld2x64pace $a0:1, $a2:3, $m0:1+=, $mzero, 0";
  EXPECT_EQ(two("0x50000", "0x53ff8", load), conflict("0x50000", "0x53ff8"));
  EXPECT_EQ(two("0x50000", "0x54000", load), "none");
  // Region 1 interleaves two elements by 8 bytes.
  EXPECT_EQ(two("0x80000", "0x80010", load), conflict("0x80000", "0x80010"));
  EXPECT_EQ(two("0x80000", "0x80008", load), "none");
  EXPECT_EQ(two("0x80000", "0x87ff0", load), conflict("0x80000", "0x87ff0"));
  EXPECT_EQ(two("0x80000", "0x88000", load), "none");
  // The third address, where both of these store, is the second one.
  const std::string load_store = "ldst64pace $a0:1, $a2:3, $m2:3+=, $mzero, 0";
  EXPECT_EQ(two("0x50000", "0x50100", load_store), conflict("0x50000", "0x50100"));
  EXPECT_EQ(two("0x50000", "0x80000", load_store), "none");
  const std::string loads_store = "ld2xst64pace $a0:3, $a4:5, $m2:3+=, $mzero, 0";
  EXPECT_EQ(two("0x50000", "0x80000", loads_store), conflict("0x80000", "0x80000"));
}

TEST(Trap, CodeLiesInRegion0) {
  EXPECT_EQ(worker_cause("setzi $m0, 0x80000\n br $m0"),
            "execution at 0x80000, which is not executable");
  EXPECT_EQ(worker_cause("bri 0x80000"), "execution at 0x80000, which is not executable");
  EXPECT_EQ(worker_cause("setzi $m0, 0x4bffc\n br $m0"),
            "execution at 0x4bffc, which is not executable");
  EXPECT_EQ(worker_cause("setzi $m0, 0x4d002\n br $m0"),
            "execution at 0x4d002, which is not executable");
  // Off the end of the region.
  EXPECT_EQ(worker_cause("ldconst $m0, 0x7fffc\n ldconst $m1, 0x19e00000\n"
                         " st32 $m1, $m0, $mzero, 0\n br $m0"),
            "execution at 0x80000, which is not executable");
  EXPECT_EQ(supervisor_cause("setzi $m0, 0x80000\n br $m0"),
            "execution outside the executable region");
  EXPECT_EQ(supervisor_cause("setzi $m0, 0x4c002\n br $m0"),
            "execution outside the executable region");
  EXPECT_EQ(
      supervisor_cause("setzi $m0, 0x80000\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n sync 2\n"
                       " sync 4"),
      "execution at 0x80000, which is not executable");
  EXPECT_EQ(supervisor_cause("setzi $m1, 0x4000\n run $mzero, $m1, 0\n sync 2\n sync 4"),
            "execution at 0x0, which is not executable");
}

TEST(Trap, TheHalvesOfABundleWriteDifferentRegisters) {
  // { ld32 $a1, $m0, $mzero, 0 ; or $a1, $a2, $a3 }, which the assembler refuses; and with $a0.
  const std::uint32_t load = encode("ld32 $d, $b, $o, i", {1, 13, 15, 0});
  const auto bundled = [&](std::uint32_t main) {
    for (const isa::InstructionInfo& info : isa::instruction_table()) {
      if (info.mnemonic != "or" || info.operands[0].file != isa::File::kAux) continue;
      if (!info.operands[2].is_register) continue;
      const std::uint32_t aux = info.pattern.value | info.operands[0].encode(1) |
                                info.operands[1].encode(2) | info.operands[2].encode(3);
      return worker_cause(".int " + std::to_string(main | 0x80000000U) + ", " +
                          std::to_string(aux | 0x80000000U) + "\n exitz $mzero");
    }
    return std::string();
  };
  EXPECT_EQ(bundled(load), "none");  // $m1 and $a1
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    if (info.mnemonic != "ld32" || info.operands[0].file != isa::File::kAux ||
        info.operands[3].is_register) {
      continue;
    }
    const auto to = [&](std::int64_t number) {
      return info.pattern.value | info.operands[0].encode(number) | info.operands[1].encode(13) |
             info.operands[2].encode(15);
    };
    EXPECT_EQ(bundled(to(0)), "none");
    EXPECT_EQ(bundled(to(1)),
              "`ld32 $a1, $m13, $m15, 0` and `or $a1, $a2, $a3` write one register");
  }
}

TEST(Trap, RunallNeedsIdleWorkers) {
  const std::string launch = "setzi $m0, 1f\n setzi $m1, 0x50000\n runall $m0, $m1, 0\n";
  const std::string wait = " sync 2\n", end = " sync 4\n1: nop\n exitz $mzero";
  EXPECT_EQ(supervisor_cause(launch + "runall $m0, $m1, 0\n" + wait + end),
            "runall while workers are running");
  EXPECT_EQ(supervisor_cause(launch + wait + "runall $m0, $m1, 0\n" + wait + end), "none");
}

}  // namespace
}  // namespace superstep
