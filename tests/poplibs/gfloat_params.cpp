#include <algorithm>
#include <bit>
#include <cmath>

#include "base/float16.h"
#include "tests/poplibs/gfloat.h"

// Where the words lie: graphcore/poplibs lib/popfloat/codelets/asm/GfloatConst.hpp. What they are
// follows from the format.

namespace superstep::poplibs {
namespace {

std::uint32_t float_word(double number) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}
std::uint32_t half_word(double number) { return portable_half_bits(static_cast<float>(number)); }
std::uint32_t twice(std::uint32_t half) { return half | half << 16; }
std::uint32_t ones(int count) { return (std::uint32_t{1} << count) - 1; }

}  // namespace

std::uint32_t Gfloat::packed_struct() const {
  return static_cast<std::uint32_t>(fraction_bits) |
         static_cast<std::uint32_t>(exponent_bits) << 8 |
         (static_cast<std::uint32_t>(bias) & 0xffU) << 16 |
         ((subnormals ? 1U : 0U) | (infinities ? 2U : 0U)) << 24;
}

std::vector<std::uint32_t> Gfloat::float_params() const {
  const std::uint32_t kept = ~ones(23 - fraction_bits);
  const std::uint32_t half_least = float_word(least() / 2);
  const std::uint32_t least_normal = float_word(std::ldexp(1.0, least_normal_exponent()));
  const std::uint32_t packed = 0x7fffU << (exponent_bits + 8);
  const std::uint32_t exponent = ones(exponent_bits) << (31 - exponent_bits);
  return {kept,
          kept,
          0x7f800000,  // exponent
          0x7f800000,
          0x80000000,  // sign
          0x80000000,
          0x7fd9c07e,  // NaN
          0x7fd9c07e,
          0xff800000,  // sign and exponent
          0xff800000,
          0x00800000,
          0x00800000,
          float_word(-greatest()),
          float_word(greatest()),
          half_least,
          half_least,
          packed,
          packed,
          least_normal,
          least_normal,
          exponent,
          exponent,
          float_word(least()),
          subnormals ? 1U : 0U,
          float_word(std::ldexp(1.0, bias + 1)),
          static_cast<std::uint32_t>(exponent_bits + 8),
          static_cast<std::uint32_t>(127 - bias + (subnormals ? 1 : 0)) << 23,
          static_cast<std::uint32_t>(exponent_bits + 8),
          static_cast<std::uint32_t>(8 - exponent_bits)};
}

std::vector<std::uint32_t> Gfloat::half_params() const {
  const double scale = std::ldexp(1.0, half_scale());
  const Grid grid = half_grid(*this);
  const std::uint32_t kept = twice(0xffffU & ~ones(10 - fraction_bits));
  // Of the format with subnormal numbers, whether it has them or not.
  const std::uint32_t least_subnormal =
      twice(half_word(std::ldexp(1.0, least_normal_exponent() - fraction_bits) * scale));
  const std::uint32_t packed = twice(0x7fU << (exponent_bits + 3));
  const double greatest_half = std::min(greatest(), 65504.0);
  return {0x7c007c00,  // exponent
          0x7c007c00,
          0x80008000,  // sign
          0x80008000,
          0x7c9c7c9c,  // NaN
          0x7c9c7c9c,
          kept,
          kept,
          least_subnormal,
          least_subnormal,
          float_word(-greatest()),
          float_word(greatest()),
          float_word(scale),
          twice(half_word(scale)),
          float_word(1 / scale),
          twice(half_word(1 / scale)),
          packed,
          packed,
          0x78007800,  // the greatest exponent of f16
          0x78007800,
          half_word(-greatest_half) | half_word(greatest_half) << 16,
          half_word(-grid.greatest) | half_word(grid.greatest) << 16,
          twice(half_word(grid.least)),
          half_word(std::ldexp(1.0, -fraction_bits - 10)),
          half_word(0.5),
          half_word(0x1p10) | half_word(0x1p-10) << 16,
          static_cast<std::uint32_t>(exponent_bits + 3),
          static_cast<std::uint32_t>(5 - exponent_bits),
          0x80808080};
}

}  // namespace superstep::poplibs
