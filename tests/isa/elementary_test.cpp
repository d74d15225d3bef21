#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "isa/instructions/float.h"
#include "isa/instructions/half.h"
#include "tests/isa/nearest_half.h"

namespace superstep {
namespace {

long double logistic(long double x) { return 1.0L / (1.0L + std::exp(-x)); }

struct Function {
  const char* name;
  float (*single)(float);
  isa::F32x2 (*halves)(isa::F16x2);
  long double (*expected)(long double);
};

const Function kFunctions[] = {
    {"exp", isa::F32exp::execute, isa::F16v2exp::execute, std::exp},
    {"exp2", isa::F32exp2::execute, isa::F16v2exp2::execute, std::exp2},
    {"ln", isa::F32ln::execute, isa::F16v2ln::execute, std::log},
    {"log2", isa::F32log2::execute, isa::F16v2log2::execute, std::log2},
    {"tanh", isa::F32tanh::execute, isa::F16v2tanh::execute, std::tanh},
    {"sigm", isa::F32sigm::execute, isa::F16v2sigm::execute, logistic},
};

// The host's library in extended precision, rounded once.
TEST(Elementary, EveryF16ValueIsCorrectlyRounded) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double has no 64 bits";
  for (const Function& f : kFunctions) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      const std::uint16_t got = half_bits(f.halves({{half, 0}}).lane[0]);
      ASSERT_EQ(got, testing::nearest_half(f.expected(portable_float_of_half(half))))
          << f.name << std::hex << " of 0x" << bits;
    }
  }
}

TEST(Elementary, F32ValuesAreCorrectlyRounded) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double has no 64 bits";
  std::mt19937 random(7);
  for (const Function& f : kFunctions) {
    for (int i = 0; i < 150000; ++i) {
      std::uint32_t bits = static_cast<std::uint32_t>(random());
      // Two of three between 2^-12 and 2^8, where the functions are neither flat nor out of range.
      if (i % 3 != 0) bits = (bits & 0x807fffffU) | (115U + bits / 7 % 20) << 23;
      const float x = std::bit_cast<float>(bits);
      const float expected = canonical(static_cast<float>(f.expected(x)));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(f.single(x)), std::bit_cast<std::uint32_t>(expected))
          << f.name << std::hex << " of 0x" << bits;
    }
  }
}

}  // namespace
}  // namespace superstep
