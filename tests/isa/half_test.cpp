#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/float16.h"

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

}  // namespace
}  // namespace superstep
