#include <gtest/gtest.h>

#include "tests/gc200.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using testing::TileRun;

constexpr std::uint32_t kTarget = 0x60000;
constexpr std::uint32_t kOld = 0xeeeeeeee;

// A fill of 16- and 32-bit values, as many instructions on each path as PopLibs' vertex of that
// purpose has: what is not aligned at either end is merged into a word, a word more brings the
// pointer to 8 bytes, a repeated 64-bit store does the rest. State: pointer, length, value. Two
// entries, one for each size of the elements; the bundle makes them equally long in memory.
const char* const kWords = "setzi $m7, 2\n ld32 $a4, $mvertex_base, 2\n bri 1f\n";
const char* const kHalves = "{ setzi $m7, 1 ; fnop }\n ldb16 $a4, $mvertex_base, 4\n";
const char* const kFill = R"(
1:  ld32 $m3, $mvertex_base, 0
    ld32 $m4, $mvertex_base, 1
    setzi $m8, 0                    // further rows
    and $m5, $m3, 2
    brz $m5, 2f
    andc $m3, $m3, 3                // keep the half word below
    ld32 $a6, $m3, 0
    { add $m4, $m4, -1 ; sort4x16lo $a6, $a6, $a4 }
    st32step $a6, $mzero, $m3+=, 1
2:  shl $m6, $m4, $m7               // bytes to go
    brz $m6, 7f
    cmpult $m5, $m6, 4
    brnz $m5, 6f
    and $m5, $m3, 4
    brz $m5, 3f
    st32step $a4, $mzero, $m3+=, 1
    add $m6, $m6, -4
3:  { shr $m9, $m6, 3 ; mov $a5, $a4 }
    rpt $m9, 0
    { st64step $a4:5, $mzero, $m3+=, 1 ; fnop }
    and $m5, $m6, 4
    brz $m5, 5f
    st32step $a4, $mzero, $m3+=, 1
5:  and $m5, $m6, 2
    brz $m5, 7f
6:  ld32 $a6, $m3, 0                // keep the half word above
    sort4x16hi $a6, $a4, $a6
    st32step $a6, $mzero, $m3+=, 1
7:  brnzdec $m8, 1b
    exitz $mzero
)";

/// Slots of a fill of `count` elements of `size` bytes from kTarget + `offset` on; what it wrote,
/// and what it left alone, is checked.
std::uint64_t fill(std::uint32_t size, std::uint32_t offset, std::uint32_t count,
                   std::uint32_t workers = 6) {
  MachineConfig machine = gc200();
  machine.tile.workers = workers;
  TileRun run(machine);
  const std::uint32_t value = size == 4 ? 0x11223344U : 0x5566U;
  run.put<std::uint32_t>(testing::kData, {kTarget + offset, count, value});
  const std::uint32_t bytes = count * size;
  run.put(kTarget, std::vector<std::uint32_t>((offset + bytes) / 4 + 5, kOld));
  const std::uint64_t slots = run.slots(std::string(size == 4 ? kWords : kHalves) + kFill);
  const std::vector<std::uint8_t> got = run.get<std::uint8_t>(kTarget, offset + bytes + 16);
  for (std::uint32_t i = 0; i < got.size(); ++i) {
    const bool filled = i >= offset && i < offset + bytes;
    const std::uint32_t expected = filled ? value >> (8 * (i % size)) & 0xffU : 0xeeU;
    EXPECT_EQ(got[i], expected) << "byte " << i << " of " << bytes << " at " << offset;
  }
  return slots;
}

struct Point {
  std::uint32_t bytes, offset;
  std::uint64_t slots;
};

// graphcore/poplibs lib/popops/PerformanceEstimation.cpp, comments of _fillCycleEstimate: aligned
// to 4 and to 8 bytes.
TEST(FillTiming, IsThatOfPopLibsForWords) {
  for (const Point& p :
       {Point{4, 4, 24}, {4, 0, 23}, {8, 4, 25}, {8, 0, 23}, {16, 4, 26}, {16, 0, 24}}) {
    EXPECT_EQ(fill(4, p.offset, p.bytes / 4), p.slots) << p.bytes << " bytes at " << p.offset;
  }
}

// The same, aligned to 2, to 4 and to 8 bytes; at 6 bytes no word has to be stored alone before the
// 64-bit ones.
TEST(FillTiming, IsThatOfPopLibsForHalfWords) {
  for (const Point& p : {Point{2, 2, 15},
                         {2, 4, 16},
                         {2, 0, 16},
                         {4, 2, 20},
                         {4, 4, 23},
                         {4, 0, 22},
                         {8, 2, 30},
                         {8, 4, 24},
                         {8, 0, 22},
                         {16, 2, 31},
                         {16, 4, 25},
                         {16, 0, 23},
                         {2, 6, 15},
                         {4, 6, 20},
                         {8, 6, 29},
                         {16, 6, 30}}) {
    EXPECT_EQ(fill(2, p.offset, p.bytes / 2), p.slots) << p.bytes << " bytes at " << p.offset;
  }
}

// Longer ones: a slot more for each 64 bits and for a word that is left. The estimator takes the
// mean of both alignments.
TEST(FillTiming, GrowsByOneSlotForEachStore) {
  for (std::uint64_t n = 1; n <= 40; ++n) {
    const std::uint64_t estimate = 23 + n / 2 + n % 2;
    const std::uint64_t aligned = fill(4, 0, static_cast<std::uint32_t>(n));
    const std::uint64_t other = fill(4, 4, static_cast<std::uint32_t>(n));
    EXPECT_EQ(aligned, 22 + n / 2 + n % 2);
    EXPECT_EQ(other, 24 + (n - 1) / 2 + (n - 1) % 2);
    EXPECT_LE(aligned, estimate);
    EXPECT_GE(other, estimate);
  }
  for (std::uint32_t n = 4; n <= 64; n += 4) {
    EXPECT_EQ(fill(2, 0, n), 21U + n / 4);
    EXPECT_EQ(fill(2, 4, n), 23U + n / 4);
    EXPECT_EQ(fill(2, 2, n), 29U + n / 4);
    EXPECT_EQ(fill(2, 6, n), 28U + n / 4);
    const auto estimate = 26U + n / 4;
    EXPECT_GE(fill(2, 2, n), estimate);
    EXPECT_LE(fill(2, 0, n), estimate);
  }
}

TEST(FillTiming, TakesTheSameSlotsWithAnyNumberOfWorkers) {
  for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
    EXPECT_EQ(fill(4, 4, 4, workers), 26U);
    EXPECT_EQ(fill(2, 2, 8, workers), 31U);
  }
}

// 64-bit values: five slots around an `rpt` of one store.
TEST(FillTiming, TakesFiveSlotsAndOneForEach64BitValue) {
  for (const std::uint32_t count : {0U, 1U, 2U, 7U, 100U}) {
    TileRun run;
    run.put<std::uint32_t>(testing::kData, {kTarget, count, 0x11, 0x22});
    EXPECT_EQ(run.slots("ld64 $a0:1, $mvertex_base, 1\n ld32 $m0, $mvertex_base, 0\n"
                        "ld32 $m1, $mvertex_base, 1\n rpt $m1, 0\n"
                        "{ st64step $a0:1, $mzero, $m0+=, 1 ; fnop }\n exitz $mzero"),
              5U + count);
    const std::vector<std::uint32_t> words = run.get(kTarget, 2 * count + 2);
    for (std::uint32_t i = 0; i < 2 * count; ++i) EXPECT_EQ(words[i], i % 2 == 0 ? 0x11U : 0x22U);
    EXPECT_EQ(words[2 * count], 0U);
  }
}

}  // namespace
}  // namespace superstep
