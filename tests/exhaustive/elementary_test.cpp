#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "base/each_index.h"
#include "tests/isa/unary_functions.h"

// Every f32 through every function. They are monotone among arguments of one sign, and so is
// rounding: where neighbouring arguments have one result, and it is right for the first and the
// last of them, it is right for all. MPFR is asked for these two.

namespace superstep {
namespace {

using testing::bits_of;
using testing::Unary;

/// Arguments are taken in chunks that differ in their last bits only.
constexpr std::uint32_t kChunkBits = 20, kChunks = 1U << (32 - kChunkBits);

/// $SUPERSTEP_EXHAUSTIVE_STRIDE: 251 takes one chunk of 251, in half a minute.
std::uint32_t stride() {
  const char* text = std::getenv("SUPERSTEP_EXHAUSTIVE_STRIDE");
  return text == nullptr ? 1 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

/// x - tanh x < x^3 / 3, below half a unit of x: the result is x.
bool is_its_own_tangent(const Unary& f, float x) {
  return f.exact == mpfr_tanh && std::fabs(x) < 0x1p-13F;
}

class ExhaustiveF32 : public ::testing::TestWithParam<const Unary*> {
 protected:
  /// Keeps one argument whose result is wrong.
  void check(float x, std::uint32_t got) {
    std::uint32_t expected = bits_of(x);
    if (!is_its_own_tangent(*GetParam(), x)) {
      thread_local testing::Real argument, exact;
      mpfr_set_flt(argument.get(), x, MPFR_RNDN);
      GetParam()->exact(exact.get(), argument.get(), MPFR_RNDZ);
      expected = bits_of(testing::to_f32(exact.get()));
    }
    if (got == expected) return;
    const std::lock_guard lock(mutex_);
    ++wrong_;
    example_ = ::testing::PrintToString(x) + " gives " + std::to_string(got) + ", not " +
               std::to_string(expected);
  }

  void check_chunk(std::uint32_t chunk) {
    const std::uint32_t first = chunk << kChunkBits;
    float last_argument = std::bit_cast<float>(first);
    std::uint32_t last = bits_of(GetParam()->single(last_argument));
    bool is_checked = true;
    check(last_argument, last);
    for (std::uint32_t at = 1; at < 1U << kChunkBits; ++at) {
      const auto argument = std::bit_cast<float>(first + at);
      const std::uint32_t result = bits_of(GetParam()->single(argument));
      if (result != last) {
        if (!is_checked) check(last_argument, last);
        check(argument, result);
      }
      is_checked = result != last;
      last = result;
      last_argument = argument;
    }
    if (!is_checked) check(last_argument, last);
  }

  std::mutex mutex_;
  std::uint64_t wrong_ = 0;
  std::string example_;
};

TEST_P(ExhaustiveF32, IsCorrectlyRounded) {
  each_index(kChunks / stride(), 1,
             [&](std::size_t i) { check_chunk(static_cast<std::uint32_t>(i) * stride()); });
  EXPECT_EQ(wrong_, 0U) << example_;
}

std::vector<const Unary*> all_unary() {
  std::vector<const Unary*> all;
  for (const Unary& f : testing::kUnary) all.push_back(&f);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Elementary, ExhaustiveF32, ::testing::ValuesIn(all_unary()),
                         [](const auto& function) { return std::string(function.param->name); });

}  // namespace
}  // namespace superstep
