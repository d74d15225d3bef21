#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "isa/instructions.h"
#include "isa/rounding.h"
#include "tests/isa/unary_functions.h"

// Results against MPFR, rounded once to the format of the result.

namespace superstep {
namespace {

using testing::bits_of;
using testing::kUnary;
using testing::Real;
using testing::to_f16;
using testing::to_f32;
using testing::Unary;

/// $SUPERSTEP_NUMERIC_POINTS, for longer runs by hand.
int points() {
  const char* text = std::getenv("SUPERSTEP_NUMERIC_POINTS");
  return text == nullptr ? 20000 : std::atoi(text);
}

/// One of three of all f32, the others between 2^-12 and 2^8, where functions are not flat.
float point(std::mt19937& random, int i) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (i % 3 == 0) return std::bit_cast<float>(bits);
  return std::bit_cast<float>((bits & 0x807fffffU) | (115U + bits / 7 % 20) << 23);
}

TEST(Numerics, UnaryF32FunctionsAreCorrectlyRounded) {
  for (const Unary& f : kUnary) {
    std::mt19937 random(17);
    Real x, y;
    for (int i = 0; i < points(); ++i) {
      const float value = point(random, i);
      mpfr_set_flt(x.get(), value, MPFR_RNDN);
      f.exact(y.get(), x.get(), MPFR_RNDZ);
      ASSERT_EQ(bits_of(f.single(value)), bits_of(to_f32(y.get())))
          << f.name << " of " << std::hexfloat << value;
    }
  }
}

// Results within 2^-50 of the middle between two f32, found among all f32.
TEST(Numerics, ResultsBesideATieAreCorrectlyRounded) {
  const std::pair<const char*, std::vector<float>> kHard[] = {
      {"exp2", {0x1.853a6ep-9F, -0x1.e7526ep-6F}},
      {"ln", {0x1.827a74p-7F, 0x1.2f1fd6p+3F, 0x1.bacb4ap+25F, 0x1.b121a6p+76F, 0x1.6351d8p+95F}},
      {"sigm", {-0x1.1cp-18F, -0x1.2cp-18F, -0x1.4cp-18F, 0x1.1cp-18F}}};
  Real x, y;
  for (const auto& hard : kHard) {
    const std::string name = hard.first;
    const Unary& f = *std::find_if(std::begin(kUnary), std::end(kUnary),
                                   [&](const Unary& other) { return other.name == name; });
    for (const float value : hard.second) {
      mpfr_set_flt(x.get(), value, MPFR_RNDN);
      f.exact(y.get(), x.get(), MPFR_RNDZ);
      EXPECT_EQ(bits_of(f.single(value)), bits_of(to_f32(y.get())))
          << name << " of " << std::hexfloat << value;
    }
  }
}

// As the machine computes with the other modes of $FP_CTL.
TEST(Numerics, UnaryF32FunctionsAreCorrectlyRoundedInEveryDirection) {
  const std::pair<int, mpfr_rnd_t> kDirections[] = {
      {FE_UPWARD, MPFR_RNDU}, {FE_DOWNWARD, MPFR_RNDD}, {FE_TOWARDZERO, MPFR_RNDZ}};
  Real x, y;
  for (const Unary& f : kUnary) {
    for (const auto& [host, direction] : kDirections) {
      std::mt19937 random(20);
      for (int i = 0; i < points() / 4; ++i) {
        // Also numbers with exact results, and those where functions become flat.
        float value = point(random, i);
        if (i % 8 == 0) value = static_cast<float>(static_cast<int>(random() % 64) - 16);
        if (!(std::fabs(value) < 100.0F)) continue;
        mpfr_set_flt(x.get(), value, MPFR_RNDN);
        f.exact(y.get(), x.get(), direction);
        std::fesetround(host);
        const volatile float got = f.single(value);
        std::fesetround(FE_TONEAREST);
        ASSERT_EQ(bits_of(got), bits_of(to_f32(y.get(), direction)))
            << f.name << " of " << std::hexfloat << value << " with MPFR's mode " << direction;
      }
    }
  }
}

TEST(Numerics, UnaryF16FunctionsAreCorrectlyRoundedForAllValues) {
  Real x, y;
  for (const Unary& f : kUnary) {
    if (f.halves == nullptr) continue;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      mpfr_set_flt(x.get(), portable_float_of_half(half), MPFR_RNDN);
      f.exact(y.get(), x.get(), MPFR_RNDZ);
      const std::uint16_t got = half_bits(f.halves({{half, 0}}).lane[0]);
      ASSERT_EQ(got, portable_half_bits(to_f16(y.get()))) << f.name << std::hex << " of 0x" << bits;
    }
  }
}

TEST(Numerics, F32ArithmeticIsThatOfIeee754) {
  struct Binary {
    float (*machine)(float, float);
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
  };
  const Binary kBinary[] = {{isa::F32add::execute, mpfr_add},
                            {isa::F32sub::execute, mpfr_sub},
                            {isa::F32mul::execute, mpfr_mul},
                            {isa::F32div::execute, mpfr_div}};
  std::mt19937 random(18);
  Real x, y, z;
  for (int i = 0; i < points(); ++i) {
    const float a = point(random, i), b = point(random, i / 3);
    mpfr_set_flt(x.get(), a, MPFR_RNDN);
    mpfr_set_flt(y.get(), b, MPFR_RNDN);
    for (const Binary& operation : kBinary) {
      operation.exact(z.get(), x.get(), y.get(), MPFR_RNDZ);
      ASSERT_EQ(bits_of(operation.machine(a, b)), bits_of(to_f32(z.get())))
          << &operation - kBinary << std::hexfloat << " " << a << " " << b;
    }
  }
}

TEST(Numerics, ConversionsOfAllF16AreExactAndClampsSortThem) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const bool is_nan = (bits & 0x7fffU) > 0x7c00U;
    const float value = isa::F16tof32::execute({{half, 0}});
    ASSERT_EQ(half_bits(value), is_nan ? 0x7e00U : bits);
    if (is_nan) {
      ASSERT_EQ(bits_of(value), 0x7fc00000U);
      continue;
    }
    // Against the definition of the format.
    const int exponent = static_cast<int>(bits >> 10 & 0x1fU);
    const int fraction = static_cast<int>(bits & 0x3ffU);
    const double magnitude = exponent == 31  ? HUGE_VAL
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(fraction + 1024, exponent - 25);
    ASSERT_EQ(static_cast<double>(value), (bits >> 15) != 0 ? -magnitude : magnitude);
    const isa::F16x2 bounds{{0xbc00, 0x4000}};  // -1 and 2
    const isa::F32x4 clamped = isa::F16v4clamp::execute({{half, half, 0, 0}}, bounds);
    ASSERT_EQ(static_cast<double>(clamped.lane[0]), std::fmin(std::fmax(value, -1.0), 2.0));
  }
}

TEST(Numerics, F32ToIntegerRoundsToNearestEvenAndSaturates) {
  std::mt19937 random(19);
  for (int i = 0; i < points(); ++i) {
    auto bits = static_cast<std::uint32_t>(random());
    if (i % 3 != 0) bits = (bits & 0x807fffffU) | (125U + bits / 7 % 36) << 23;
    const float value = std::bit_cast<float>(bits);
    const double nearest = std::nearbyint(double{value});
    const double in_i32 = std::fmin(std::fmax(nearest, -0x1p31), 0x1p31 - 1);
    const double in_u32 = std::fmin(std::fmax(nearest, 0.0), 0x1p32 - 1);
    const bool is_nan = value != value;
    ASSERT_EQ(static_cast<std::int32_t>(isa::F32toi32::execute(value)),
              is_nan ? 0 : static_cast<std::int32_t>(in_i32));
    ASSERT_EQ(isa::F32toui32::execute(value), is_nan ? 0 : static_cast<std::uint32_t>(in_u32));
    ASSERT_EQ(isa::F32fromui32::execute(bits), static_cast<float>(bits));
    ASSERT_EQ(isa::F32fromi32::execute(bits), static_cast<float>(static_cast<std::int32_t>(bits)));
  }
}

// From the definition: 1.4.3 with bias 8, 1.5.2 with bias 16; every code, there and back.
TEST(Numerics, EveryF8IsWhatItsFormatSaysAndComesBack) {
  for (const isa::Quarter format : {isa::Quarter::kF143, isa::Quarter::kF152}) {
    const int fraction_bits = format == isa::Quarter::kF143 ? 3 : 2;
    const int bias = format == isa::Quarter::kF143 ? 8 : 16;
    for (int code = 0; code < 256; ++code) {
      const auto bits = static_cast<std::uint8_t>(code);
      const float value = isa::float_of_quarter(bits, format);
      ASSERT_EQ(isa::rounded_quarter(value, format, isa::Rounding(0), 0), bits);
      if (code == 0x80) {
        ASSERT_NE(value, value);
        continue;
      }
      const int exponent = (code & 0x7f) >> fraction_bits;
      const double fraction = std::ldexp(code & ((1 << fraction_bits) - 1), -fraction_bits);
      const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                             : std::ldexp(1.0 + fraction, exponent - bias);
      ASSERT_EQ(static_cast<double>(value), code >= 0x80 ? -magnitude : magnitude);
    }
  }
}

}  // namespace
}  // namespace superstep
