#include <gtest/gtest.h>

#include <xmmintrin.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "isa/rounding.h"
#include "isa/table.h"
#include "tests/isa/any_operands.h"
#include "tests/isa/nearest_half.h"
#include "tests/tile_run.h"

namespace superstep {
namespace {

using testing::kData;
using testing::kInterleaved;
using testing::TileRun;

constexpr std::uint32_t kUp = 1U << 16, kDown = 2U << 16, kToZero = 3U << 16, kEsr = 1U << 19,
                        kNanoo = 1U << 20;

/// $a0 to $a3 from kData, $FP_CTL set, `assembly` run on worker 0, $a4 to $a7 to kData + 64.
struct Outcome {
  Outcome(std::uint32_t control, const std::vector<std::uint32_t>& values,
          const std::string& assembly)
      : Outcome(std::to_string(control), values, assembly, "") {}
  Outcome(const std::string& control, const std::vector<std::uint32_t>& values,
          const std::string& assembly, const std::string& supervisor) {
    tile.put(kData, values);
    std::string code = "setzi $m0, 0x50000\n";
    for (int i = 0; i < 4; ++i) {
      code += "ld32 $a" + std::to_string(i) + ", $m0, $m15, " + std::to_string(i) + "\n";
    }
    if (!control.empty()) {
      code += "setzi $a8, " + std::to_string(std::stoul(control) & 0xfffffU) + "\n or $a8, $a8, " +
              std::to_string(std::stoul(control) & ~0xfffffU) + "\n uput $FP_CTL, $a8\n";
    }
    code += assembly + "\n";
    for (int i = 4; i < 8; ++i) {
      code += "st32 $a" + std::to_string(i) + ", $m0, $m15, " + std::to_string(12 + i) + "\n";
    }
    tile.load(testing::kCodelet, code + "exitz $mzero");
    tile.supervise(supervisor + testing::kRunWorker);
    cause = tile.cause();
    out = tile.get(kData + 64, 4);
    EXPECT_EQ(_MM_GET_ROUNDING_MODE(), unsigned{_MM_ROUND_NEAREST}) << "of the host, as before";
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
  TileRun tile;
  std::string cause;
  std::vector<std::uint32_t> out;
};

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// 1 + 2^-25 and its negative, -(1 / 3) and 1 / 3.
TEST(FloatMode, RoundsF32AsFpCtlSays) {
  const std::vector<std::uint32_t> in = {bits(1.0F), bits(0x1p-25F), bits(-1.0F), bits(3.0F)};
  const std::string code =
      "f32add $a4, $a0, $a1\n f32sub $a5, $a2, $a1\n f32div $a6, $a2, $a3\n f32div $a7, $a0, $a3";
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(Outcome(0, in, code).out, (Words{0x3f800000, 0xbf800000, 0xbeaaaaab, 0x3eaaaaab}));
  EXPECT_EQ(Outcome(kUp, in, code).out, (Words{0x3f800001, 0xbf800000, 0xbeaaaaaa, 0x3eaaaaab}));
  EXPECT_EQ(Outcome(kDown, in, code).out, (Words{0x3f800000, 0xbf800001, 0xbeaaaaab, 0x3eaaaaaa}));
  EXPECT_EQ(Outcome(kToZero, in, code).out,
            (Words{0x3f800000, 0xbf800000, 0xbeaaaaaa, 0x3eaaaaaa}));
}

// 1 + 2^-11 - 2^-20, its negative, 70000 and -70000; 65520 is half way to the next power.
TEST(FloatMode, RoundsF16AsFpCtlSays) {
  const std::vector<std::uint32_t> in = {bits(1.0F + 0x1p-11F - 0x1p-20F),
                                         bits(-1.0F - 0x1p-11F + 0x1p-20F), bits(70000.0F),
                                         bits(-70000.0F)};
  const std::string code = "f32v4tof16 $a4:5, $a0:3\n f32tof16 $a6, $a0\n f32v2tof16 $a7, $a2:3";
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(Outcome(0, in, code).out, (Words{0xbc003c00, 0xfc007c00, 0x3c003c00, 0xfc007c00}));
  EXPECT_EQ(Outcome(kUp, in, code).out, (Words{0xbc003c01, 0xfbff7c00, 0x3c013c01, 0xfbff7c00}));
  EXPECT_EQ(Outcome(kDown, in, code).out, (Words{0xbc013c00, 0xfc007bff, 0x3c003c00, 0xfc007bff}));
  EXPECT_EQ(Outcome(kToZero, in, code).out,
            (Words{0xbc003c00, 0xfbff7bff, 0x3c003c00, 0xfbff7bff}));
  EXPECT_EQ(Outcome(kNanoo, in, code).out, (Words{0xbc003c00, 0x7e007e00, 0x3c003c00, 0x7e007e00}));
}

// The sum of two f16 is exact before it is rounded: 1 + 2^-11 and 1 - 2^-12.
TEST(FloatMode, RoundsF16ArithmeticOnce) {
  const std::vector<std::uint32_t> in = {0x3c003c00, 0x8c001000};
  EXPECT_EQ(Outcome(0, in, "f16v2add $a4, $a0, $a1").out[0], 0x3c003c00U);
  EXPECT_EQ(Outcome(kUp, in, "f16v2add $a4, $a0, $a1").out[0], 0x3c003c01U);
  EXPECT_EQ(Outcome(kDown, in, "f16v2add $a4, $a0, $a1").out[0], 0x3bff3c00U);
}

// 2.5 and -2.5; 0.5 is not reached by truncation.
TEST(FloatMode, ConvertsToIntegersAsFpCtlSaysAndF32intAsItsImmediate) {
  const std::vector<std::uint32_t> in = {bits(2.5F), bits(-2.5F)};
  const std::string code =
      "f32toi32 $a4, $a0\n f32toi32 $a5, $a1\n f32toui32 $a6, $a0\n f32int $a7, $a0, 0";
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(Outcome(0, in, code).out, (Words{2, 0xfffffffe, 2, bits(2.0F)}));
  EXPECT_EQ(Outcome(kUp, in, code).out, (Words{3, 0xfffffffe, 3, bits(2.0F)}));
  EXPECT_EQ(Outcome(kDown, in, code).out, (Words{2, 0xfffffffd, 2, bits(2.0F)}));
  EXPECT_EQ(Outcome(kToZero, in, code).out, (Words{2, 0xfffffffe, 2, bits(2.0F)}));
}

TEST(FloatMode, ChangesInTheMiddleOfACodelet) {
  const std::vector<std::uint32_t> in = {bits(1.0F), bits(0x1p-25F)};
  const std::string code =
      "f32add $a4, $a0, $a1\n { setzi $m2, 1; uput $FP_CTL, $azero }\n f32add $a5, $a0, $a1\n"
      "{ brnz $m2, there; uput $FP_CTL, $a8 }\n f32add $a6, $a0, $a0\n there:\n"
      "f32add $a7, $a0, $a1";
  EXPECT_EQ(Outcome(kUp, in, code).out,
            (std::vector<std::uint32_t>{0x3f800001, 0x3f800000, 0, 0x3f800001}));
}

TEST(FloatMode, StartsAsFpIctlSays) {
  const std::vector<std::uint32_t> in = {bits(1.0F), bits(0x1p-25F)};
  const std::string code = "f32add $a4, $a0, $a1\n uget $a5, $FP_CTL";
  const Outcome run("", in, code, "setzi $m3, 0x10000\n put $FP_ICTL, $m3\n");
  EXPECT_EQ(run.out, (std::vector<std::uint32_t>{0x3f800001, 0x10000, 0, 0}));
}

TEST(FloatMode, RefusesARoundingModeThatIsNotModelled) {
  EXPECT_EQ(Outcome(4U << 16, {}, "").cause,
            "a rounding mode of FP_CTL.RND above 3, which is not modelled");
  EXPECT_EQ(Outcome("", {}, "", "ldconst $m3, 0x70000\n put $FP_ICTL, $m3\n").cause,
            "a rounding mode of FP_CTL.RND above 3, which is not modelled");
  EXPECT_EQ(Outcome(0, {},
                    "setzi $a8, 0x10000\n setzi $m1, 1\n.align 8\n"
                    "{ rpt $m1, 0; uput $FP_CTL, $a8 }\n { nop; fnop }\n")
                .cause,
            "a change of the floating-point mode beside `rpt`");
}

// Of 1 + k / 16 of the last place, k / 16 of all must go up; four draws in one step.
TEST(FloatMode, RoundsAtRandomInProportionToTheRest) {
  for (const int k : {0, 1, 5, 8, 15}) {
    const std::uint32_t value = bits(1.0F + static_cast<float>(k) * 0x1p-14F);
    TileRun run;
    run.put(kData, std::vector<std::uint32_t>{value, value, value, value});
    run.work_alone(
        "setzi $m0, 0x50000\n ld64 $a0:1, $m0, $m15, 0\n ld64 $a2:3, $m0, $m15, 1\n"
        "setzi $a4, 77\n uput $PRNG_SEED, $a4\n setzi $a4, 0x80000\n uput $FP_CTL, $a4\n"
        "setzi $m1, 0x80000\n setzi $m2, 4096\n.align 8\n nop\n rpt $m2, 0\n"
        "{ st64step $a4:5, $m15, $m1+=, 1; f32v4tof16 $a4:5, $a0:3 }\n"
        "st64step $a4:5, $m15, $m1+=, 1\n exitz $mzero");
    ASSERT_EQ(run.cause(), "none");
    const std::vector<std::uint16_t> halves = run.get<std::uint16_t>(kInterleaved + 8, 4 * 4096);
    int up = 0;
    for (const std::uint16_t half : halves) {
      ASSERT_TRUE(half == 0x3c00 || half == 0x3c01) << half;
      up += half - 0x3c00;
    }
    // Five standard deviations of 16,384 draws are 320 at most.
    EXPECT_NEAR(up, 16384 * k / 16, k == 0 ? 0 : 320) << k;
  }
}

TEST(FloatMode, StochasticRoundingTakesOneStepOfTheGeneratorForAnInstruction) {
  const Outcome run(kEsr, {1, bits(1.0F + 0x1p-11F), bits(1.0F + 0x1p-11F)},
                    "uput $PRNG_SEED, $a0\n f32v2tof16 $a4, $a2:3\n urand64 $a6:7\n"
                    "uput $PRNG_SEED, $a0\n f32tof16 $a5, $a1");
  // The second step after seed 1 (see instruction_cases_random.cpp); the first begins 0x3ff9.
  EXPECT_EQ(run.out[2], 0xf0f3bfdeU);
  EXPECT_EQ(run.out[3], 0x0f023fe1U);
  EXPECT_EQ(run.out[1], 0x3c003c00U);
}

struct Exception {
  const char* code;
  std::uint32_t flag;
  const char* cause;
};

// $a0 is infinite, $a1 0, $a2 the greatest f32, $a3 -1.
const Exception kExceptions[] = {
    {"f32sub $a4, $a0, $a0", 1, "floating-point exception: invalid operation"},
    {"f32mul $a4, $a0, $a1", 1, "floating-point exception: invalid operation"},
    {"f32sqrt $a4, $a3", 1, "floating-point exception: invalid operation"},
    {"f32ln $a4, $a3", 1, "floating-point exception: invalid operation"},
    {"f32toi32 $a4, $a2", 1, "floating-point exception: invalid operation"},
    {"f32mac $a0, $a1", 1, "floating-point exception: invalid operation"},
    {"f32div $a4, $a3, $a1", 2, "floating-point exception: division by zero"},
    {"f32oox $a4, $a1", 2, "floating-point exception: division by zero"},
    {"f32oorx $a4, $a1", 2, "floating-point exception: division by zero"},
    {"f32ln $a4, $a1", 2, "floating-point exception: division by zero"},
    {"f32log2 $a4, $a1", 2, "floating-point exception: division by zero"},
    {"f32add $a4, $a2, $a2", 4, "floating-point exception: overflow"},
    {"f32exp $a4, $a2", 4, "floating-point exception: overflow"},
    {"f32tof16 $a4, $a2", 4, "floating-point exception: overflow"},
    {"{ setzi $m3, 1; f32mul $a4, $a2, $a2 }", 4, "floating-point exception: overflow"},
};

TEST(FloatMode, ExceptionsAreKeptInFpStsAndTrapWhereFpCtlAsksForIt) {
  const std::vector<std::uint32_t> in = {0x7f800000, 0, 0x7f7fffff, bits(-1.0F)};
  for (const Exception& e : kExceptions) {
    SCOPED_TRACE(e.code);
    const std::string then_read = std::string(e.code) +
                                  "\n uget $a4, $FP_STS\n setzi $a9, 7\n"
                                  "uput $FP_CLR, $a9\n uget $a5, $FP_STS";
    const Outcome quiet("", in, then_read, "");
    EXPECT_EQ(quiet.cause, "none");
    EXPECT_EQ(quiet.out[0], e.flag);
    EXPECT_EQ(quiet.out[1], 0U);
    EXPECT_EQ(Outcome(e.flag, in, e.code).cause, e.cause);
    EXPECT_EQ(Outcome(7U & ~e.flag, in, e.code).cause, "none");
  }
}

/// $FP_STS after an instruction all of whose registers hold `value`.
std::uint32_t raised_by(const isa::InstructionInfo& info, std::uint32_t value) {
  std::string code;
  for (int i = 0; i < 8; ++i) code += "ld32 $a" + std::to_string(i) + ", $mvertex_base, 0\n";
  code += testing::with_any_operands(info) +
          "\n uget $a0, $FP_STS\n st32 $a0, $mvertex_base, $mzero, 1\n exitz $mzero";
  return testing::run_worker(code, {value, 0}, 2)[1];
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

// IEEE 754: quiet NaNs raise an exception only where they are ordered or become integers,
// signalling ones where they are computed with; infinities where they cancel each other.
TEST(FloatMode, NansAndInfinitiesRaiseWhatIeee754Says) {
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    const std::string_view name = info.mnemonic;
    const bool halves = name.starts_with("f16");
    if (!halves && !name.starts_with("f32")) continue;
    const bool orders = has_any(name, {"cmplt", "cmple", "cmpgt", "cmpge"});
    const bool to_integer = has_any(name, {"toi32", "toui32"});
    // Words, not numbers, are looked at, moved or converted.
    const bool moves = has_any(name, {"class", "fromi32", "fromui32", "sufromui", "rand", "rmask",
                                      "stacc", "gacc", "f32v2gina"});
    EXPECT_EQ(raised_by(info, halves ? 0x7e017e01 : 0x7fc00001), orders || to_integer ? 1U : 0U)
        << name << " of quiet NaNs";
    EXPECT_EQ(raised_by(info, halves ? 0x7c017c01 : 0x7f800001), moves ? 0U : 1U)
        << name << " of signalling NaNs";
    // Weights and $TAS are 0.
    const bool cancels =
        has_any(name, {"sub", "div", "oamp", "2amp", "4amp", "slic", "axpy", "mix"});
    EXPECT_EQ(raised_by(info, halves ? 0x7c007c00 : 0x7f800000), cancels || to_integer ? 1U : 0U)
        << name << " of infinities";
  }
}

TEST(FloatMode, ExceptionsBeforeAnIndirectBranchAreSeenBehindIt) {
  const Outcome run("", {bits(1.0F), 0, 0, 0},
                    "f32div $a4, $a0, $a1\n setzi $m1, 1f\n br $m1\n"
                    "1: uget $a5, $FP_STS",
                    "");
  EXPECT_EQ(run.cause, "none");
  EXPECT_EQ(run.out[1], 2U);  // DIV0
}

TEST(FloatMode, HalvesOfBundlesThatWriteNowhereRaiseWhatTheyRaiseAlone) {
  for (const char* const assembly : {"f32div $a15, $a0, $a1", "{ nop; f32div $a15, $a0, $a1 }"}) {
    EXPECT_EQ(Outcome(2, {bits(1.0F), 0, 0, 0}, assembly).cause,
              "floating-point exception: division by zero");
  }
}

TEST(FloatMode, OrdinaryResultsRaiseNothing) {
  const std::vector<std::uint32_t> in = {0x7f800000, 0x7fc00000, bits(2.0F), bits(-1000.0F)};
  const Outcome run(
      7, in,
      "f32add $a4, $a0, $a0\n f32mul $a4, $a1, $a2\n f32exp $a4, $a3\n f32exp $a4, $a0\n"
      "f32sigm $a4, $a3\n f32tanh $a4, $a3\n f32ln $a4, $a2\n f32tof16 $a4, $a0\n"
      "f32div $a4, $a2, $a3\n f16v2exp $a4, $a3\n uget $a5, $FP_STS");
  EXPECT_EQ(run.cause, "none");
  EXPECT_EQ(run.out[1], 0U);
}

// The slow rounding to nearest even against the format's definition.
TEST(FloatMode, SlowRoundingIsThatOfTheFormat) {
  const isa::Rounding nearest(0), up(kUp), down(kDown), to_zero(kToZero);
  std::uint32_t value = 0;
  for (int i = 0; i < 200000; ++i) {
    value += 0x9e3779b9U;
    const auto x = std::bit_cast<float>(
        i % 4 == 0 ? value : (value & 0x807fffffU) | (100U + value / 11 % 45U) << 23);
    const std::uint16_t best = isa::rounded_half(x, nearest, 0);
    ASSERT_EQ(best, testing::nearest_half(x)) << value;
    if (x != x) continue;
    const std::uint16_t above = isa::rounded_half(x, up, 0), below = isa::rounded_half(x, down, 0);
    ASSERT_GE(float_of_half(above), x) << value;
    ASSERT_LE(float_of_half(below), x) << value;
    ASSERT_TRUE(best == above || best == below) << value;
    ASSERT_EQ(isa::rounded_half(x, to_zero, 0), std::signbit(x) ? above : below) << value;
  }
}

}  // namespace
}  // namespace superstep
