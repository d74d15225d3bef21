#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/float16.h"
#include "tests/isa/tile_run.h"

namespace superstep {
namespace {

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// $a0:1 and $a2:3 from the state, `instruction`, then the pair $a4:5.
std::vector<std::uint32_t> results(const std::string& instruction,
                                   const std::vector<std::uint32_t>& state) {
  return testing::run_worker("ld64 $a0:1, $mvertex_base, 0\n ld64 $a2:3, $mvertex_base, 1\n" +
                                 instruction + "\n st64 $a4:5, $mvertex_base, 0\n exitz $mzero",
                             state, 2);
}
std::uint32_t scalar(const std::string& instruction, float a, float b = 0) {
  return results(instruction, {bits(a), 0, bits(b), 0})[0];
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Float32, RoundsOnceAndCanonicalisesNan) {
  EXPECT_EQ(scalar("f32add $a4, $a0, $a2", 1.0F, 0x1p-24F), bits(1.0F));
  EXPECT_EQ(scalar("f32add $a4, $a0, $a2", 1.0F, 0x1.8p-24F), bits(1.0F + 0x1p-23F));
  EXPECT_EQ(scalar("f32sub $a4, $a0, $a2", kInfinity, kInfinity), 0x7fc00000U);
  EXPECT_EQ(scalar("f32mul $a4, $a0, $a2", 0x1p-100F, 0x1p-49F), 1U);
  EXPECT_EQ(scalar("f32div $a4, $a0, $a2", 1.0F, 3.0F), 0x3eaaaaabU);
  EXPECT_EQ(scalar("f32sqrt $a4, $a0", 2.0F), 0x3fb504f3U);
  EXPECT_EQ(scalar("f32sqrt $a4, $a0", -2.0F), 0x7fc00000U);
}

TEST(Float32, ComparesToMasks) {
  EXPECT_EQ(scalar("f32cmplt $a4, $a0, $a2", 1.0F, 2.0F), 0xffffffffU);
  EXPECT_EQ(scalar("f32cmpge $a4, $a0, $a2", 1.0F, 2.0F), 0U);
  EXPECT_EQ(scalar("f32cmpeq $a4, $a0, $a2", NAN, NAN), 0U);
  EXPECT_EQ(scalar("f32cmpne $a4, $a0, $a2", NAN, NAN), 0xffffffffU);
  EXPECT_EQ(scalar("f32max $a4, $a0, $a2", -0.0F, 0.0F), bits(0.0F));
  EXPECT_EQ(scalar("f32min $a4, $a0, $a2", 3.0F, -2.0F), bits(-2.0F));
}

TEST(Float32, ConvertsIntegers) {
  EXPECT_EQ(scalar("f32toi32 $a4, $a0", 2.5F), 2U);
  EXPECT_EQ(scalar("f32toi32 $a4, $a0", -3.5F), 0xfffffffcU);
  EXPECT_EQ(scalar("f32toi32 $a4, $a0", 1e20F), 0x7fffffffU);
  EXPECT_EQ(scalar("f32toui32 $a4, $a0", 4e9F), 4000000000U);
  EXPECT_EQ(scalar("f32int $a4, $a0, 1", -2.7F), bits(-2.0F));
  EXPECT_EQ(scalar("f32int $a4, $a0, 3", -2.2F), bits(-3.0F));
  EXPECT_EQ(results("f32fromi32 $a4, $a0\n f32fromui32 $a5, $a0", {0xffffffff, 0, 0, 0}),
            (std::vector<std::uint32_t>{bits(-1.0F), bits(4294967296.0F)}));
}

TEST(Float32, VectorsAndBroadcasts) {
  EXPECT_EQ(results("f32v2add $a4:5, $a0:1, $a2:3", {bits(1), bits(2), bits(3), bits(4)}),
            (std::vector<std::uint32_t>{bits(4), bits(6)}));
  EXPECT_EQ(results("f32v2mul $a4:5, $a1:B, $a2:3", {bits(1), bits(2), bits(3), bits(4)}),
            (std::vector<std::uint32_t>{bits(6), bits(8)}));
  EXPECT_EQ(results("f32v2clamp $a4:5, $a0:1, $a2:3", {bits(-9), bits(2), bits(0), bits(1)}),
            (std::vector<std::uint32_t>{bits(0), bits(1)}));
}

TEST(Float32, AxpyReturnsWhatTheInstructionBeforeComputed) {
  EXPECT_EQ(results("setzi $a4, 0\n or $a4, $a4, 0x40000000\n uput $TAS, $a4\n"
                    "f32v2axpy $a4:5, $a0:1, $a2:3\n f32v2axpy $a4:5, $azeros, $azeros",
                    {bits(1), bits(2), bits(3), bits(4)}),
            (std::vector<std::uint32_t>{bits(5), bits(8)}));
}

TEST(Float16, ConvertsEveryValueThereAndBack) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const auto pattern = static_cast<std::uint16_t>(half);
    const bool nan = (half & 0x7fffU) > 0x7c00U;
    ASSERT_EQ(portable_half_bits(portable_float_of_half(pattern)), nan ? kHalfNan : pattern);
    ASSERT_EQ(bits(float_of_half(pattern)), bits(portable_float_of_half(pattern)));
  }
}

// Midpoints between neighbouring f16 go to the even one; beside them to the nearer.
TEST(Float16, RoundsToNearestEven) {
  for (std::uint32_t half = 0; half < 0x7c00; ++half) {
    const float here = portable_float_of_half(static_cast<std::uint16_t>(half));
    const float next =
        half == 0x7bff ? 65536.0F : portable_float_of_half(static_cast<std::uint16_t>(half + 1));
    const float middle = (here + next) / 2;
    ASSERT_EQ(portable_half_bits(middle), (half & 1U) == 0 ? half : half + 1);
    ASSERT_EQ(portable_half_bits(std::nextafter(middle, 0.0F)), half);
    ASSERT_EQ(portable_half_bits(std::nextafter(middle, kInfinity)), half + 1);
    ASSERT_EQ(half_bits(middle), portable_half_bits(middle));
  }
}

TEST(Float16, ComputesInLanes) {
  // 1.0, 2.0 | 0.5, 65504
  EXPECT_EQ(results("f16v2add $a4, $a0, $a2", {0x40003c00, 0, 0x7bff3800, 0})[0], 0x7bff3e00U);
  EXPECT_EQ(results("f16v2mul $a4, $a0, $a2", {0x40003c00, 0, 0x7bff3800, 0})[0], 0x7c003800U);
  EXPECT_EQ(
      results("f16v4sub $a4:5, $a0:1, $a2:3", {0x40003c00, 0x44004200, 0x3c003c00, 0x3c003c00}),
      (std::vector<std::uint32_t>{0x3c000000, 0x42004000}));
  EXPECT_EQ(
      results("f16v4cmplt $a4:5, $a0:1, $a2:3", {0x40003c00, 0x44004200, 0x3c004000, 0x7e007e00}),
      (std::vector<std::uint32_t>{0x0000ffff, 0}));
  EXPECT_EQ(results("f16v4mul $a4:5, $a0:BL, $a2:3", {0x7bff4000, 0, 0x3c003800, 0x44004200}),
            (std::vector<std::uint32_t>{0x40003c00, 0x48004600}));
  EXPECT_EQ(results("f16v2tof32 $a4:5, $a0", {0x40003c00, 0, 0, 0}),
            (std::vector<std::uint32_t>{bits(1), bits(2)}));
  EXPECT_EQ(results("f32v2tof16 $a4, $a0:1", {bits(1), bits(2), 0, 0})[0], 0x40003c00U);
  EXPECT_EQ(results("f32tof16 $a4, $a0", {bits(1), 0, 0, 0})[0], 0x3c003c00U);
}

TEST(Transcendental, AreNearestOfTheDoubleResult) {
  EXPECT_EQ(scalar("f32exp $a4, $a0", 1.0F), 0x402df854U);
  EXPECT_EQ(scalar("f32ln $a4, $a0", 2.0F), 0x3f317218U);
  EXPECT_EQ(scalar("f32tanh $a4, $a0", 0.0F), 0U);
  EXPECT_EQ(scalar("f32sigm $a4, $a0", 0.0F), bits(0.5F));
  EXPECT_EQ(scalar("f32oox $a4, $a0", 4.0F), bits(0.25F));
  EXPECT_EQ(scalar("f32oorx $a4, $a0", 4.0F), bits(0.5F));
  EXPECT_EQ(scalar("f32ln $a4, $a0", -1.0F), 0x7fc00000U);
  EXPECT_EQ(results("f16v2exp $a4, $a0", {0x3c000000, 0, 0, 0})[0], 0x41703c00U);
}

}  // namespace
}  // namespace superstep
