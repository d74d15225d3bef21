#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/float16.h"
#include "isa/instructions/float_arithmetic.h"
#include "isa/instructions/half.h"
#include "isa/instructions/random.h"
#include "isa/rounding.h"
#include "tests/isa/nearest_half.h"

namespace superstep {
namespace {

TEST(Float16, ConvertsEveryValueThereAndBack) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const auto pattern = static_cast<std::uint16_t>(half);
    const bool nan = (half & 0x7fffU) > 0x7c00U;
    ASSERT_EQ(portable_half_bits(portable_float_of_half(pattern)), nan ? kHalfNan : pattern);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(float_of_half(pattern)),
              std::bit_cast<std::uint32_t>(portable_float_of_half(pattern)));
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
    ASSERT_EQ(portable_half_bits(std::nextafter(middle, std::numeric_limits<float>::infinity())),
              half + 1);
    ASSERT_EQ(half_bits(middle), portable_half_bits(middle));
  }
}

// Sums and products of two f16 are exact in a long double.
TEST(Float16, ArithmeticRoundsTheExactResultOnce) {
  std::mt19937 random(11);
  const auto lane = [&] { return static_cast<std::uint16_t>(random()); };
  for (int i = 0; i < 100000; ++i) {
    const isa::F16x4 a{{lane(), lane(), lane(), lane()}};
    isa::F16x4 b{{lane(), lane(), lane(), lane()}};
    // Neighbours in size, so that sums cancel and round.
    b.lane[3] = static_cast<std::uint16_t>(a.lane[3] ^ (random() & 0x83ffU));
    const isa::F16x4 sum{halves_of_floats(isa::F16v4add::execute(a, b).lane)};
    const isa::F16x4 difference{halves_of_floats(isa::F16v4sub::execute(a, b).lane)};
    const isa::F16x4 product{halves_of_floats(isa::F16v4mul::execute(a, b).lane)};
    for (unsigned k = 0; k < 4; ++k) {
      const long double x = portable_float_of_half(a.lane[k]);
      const long double y = portable_float_of_half(b.lane[k]);
      ASSERT_EQ(sum.lane[k], testing::nearest_half(x + y)) << a.lane[k] << " " << b.lane[k];
      ASSERT_EQ(difference.lane[k], testing::nearest_half(x - y));
      ASSERT_EQ(product.lane[k], testing::nearest_half(x * y));
    }
  }
}

TEST(Float16, IsTheNearestOfAnF32) {
  std::mt19937 random(12);
  for (std::uint32_t i = 0; i < 200000; ++i) {
    // Three of four about the range of f16.
    auto bits = static_cast<std::uint32_t>(random());
    if (i % 4 != 0) bits = (bits & 0x807fffffU) | (100U + i % 45U) << 23;
    const float value = std::bit_cast<float>(bits);
    ASSERT_EQ(half_bits(isa::F32tof16::execute(value).value), testing::nearest_half(value)) << bits;
    ASSERT_EQ(portable_half_bits(value), testing::nearest_half(value)) << bits;
  }
}

// The candidate that is nearest; of two, the even one. Neither format has an infinity.
TEST(Float8, EveryF16GoesToTheNearestOrTheGreatest) {
  for (const isa::Quarter format : {isa::Quarter::kF143, isa::Quarter::kF152}) {
    for (std::uint32_t half = 0; half < 0x10000; ++half) {
      const float value = portable_float_of_half(static_cast<std::uint16_t>(half));
      const std::uint32_t got = isa::rounded_quarter(value, format, isa::Rounding(0), 0);
      if (value != value) {
        ASSERT_EQ(got, 0x80U);
        continue;
      }
      std::uint32_t best = 0;
      double distance = std::fabs(value);
      for (std::uint32_t code = 1; code < 0x80; ++code) {
        const double magnitude = isa::float_of_quarter(static_cast<std::uint8_t>(code), format);
        const double other = std::fabs(std::fabs(value) - magnitude);
        if (other < distance || (other == distance && code % 2 == 0)) {
          best = code;
          distance = other;
        }
      }
      if (std::isinf(value)) best = 0x7f;
      if (best != 0 && (half & 0x8000U) != 0) best |= 0x80U;
      ASSERT_EQ(got, best) << half;
    }
  }
}

TEST(Float16, UnaryInstructionsThatPickOrSumAreRightForEveryValue) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const auto bits = static_cast<std::uint16_t>(half);
    const float value = portable_float_of_half(bits);
    // Of the two of a kind the second is quiet, or positive.
    const std::uint32_t number = isa::F16v2class::execute({{bits, 0}}) & 0xffU;
    const bool is_subnormal = (half & 0x7c00U) == 0 && value != 0;
    const std::uint32_t first = value != value      ? 1
                                : std::isinf(value) ? 3
                                : value == 0        ? 5
                                : is_subnormal      ? 7
                                                    : 9;
    const bool is_second = value != value ? (half & 0x200U) != 0 : (half & 0x8000U) == 0;
    ASSERT_EQ(number, first + (is_second ? 1 : 0)) << half;
    if (value == value) {
      ASSERT_EQ(isa::F16v2sum::execute({{bits, 0x3c00}}), value + 1.0F);
      const std::uint16_t most = isa::F16v2maxc::execute({{bits, 0x3c00}}).lane[0];
      ASSERT_EQ(portable_float_of_half(most), std::fmax(value, 1.0F));
    }
    ASSERT_EQ(isa::F16v2sufromui::execute({{bits, 0}}).lane[0],
              static_cast<float>(half) / 65536.0F + (0.5F / 65536.0F - 0.5F));
  }
}

}  // namespace
}  // namespace superstep
