#pragma once

#include <cstdint>
#include <vector>

namespace superstep::poplibs {

/// A number format of popfloat (graphcore/poplibs include/popfloat/experimental/CastToGfloat.hpp):
/// sign, exponent, fraction; the exponent of all ones is that of infinities where there are any.
struct Gfloat {
  int fraction_bits;
  int exponent_bits;
  int bias;
  bool subnormals;
  bool infinities;

  [[nodiscard]] int least_normal_exponent() const { return 1 - bias; }
  [[nodiscard]] int greatest_exponent() const {
    return (1 << exponent_bits) - 1 - (infinities ? 1 : 0) - bias;
  }
  [[nodiscard]] double greatest() const;
  [[nodiscard]] double least() const;
  /// The power of two by which popfloat multiplies a number before it works on it in f16: the least
  /// normal exponent becomes that of f16, or, where five bits of exponent have no infinities, the
  /// greatest one does (lib/popfloat/codelets/asm/CastToGfloat16Param.S).
  [[nodiscard]] int half_scale() const;

  /// Words that the cast vertices take from CastToGfloat32Param and CastToGfloat16Param.
  [[nodiscard]] std::vector<std::uint32_t> float_params() const;
  [[nodiscard]] std::vector<std::uint32_t> half_params() const;
  /// What PackedGfloatParams makes of a format.
  [[nodiscard]] std::uint32_t packed_struct() const;

  /// A number of the format as an integer of `bits` bits; fractions fill the lowest.
  [[nodiscard]] std::uint32_t code(double number, int bits) const;
  [[nodiscard]] double number(std::uint32_t code, int bits) const;
};

/// Numbers that a rounding may give.
struct Grid {
  int fraction_bits;
  int least_normal_exponent;
  bool even_below;  ///< below the least normal number the distance stays as it is there
  double least;     ///< smaller results become 0
  double greatest;
  double counts_from;  ///< what is less becomes 0; rounded up or down, what is less than least / 2

  /// The distance of numbers at `magnitude`.
  [[nodiscard]] double place(double magnitude) const;
};
/// Of casts that work in f32 and in f16; the latter after scaling.
Grid float_grid(const Gfloat& format);
Grid half_grid(const Gfloat& format);

enum class Rounds : std::uint8_t { kZero, kEven, kAway, kUp, kDown, kNoise };

/// `number` on the grid; `noise`, in units of the distance, is added before the number is cut, for
/// kNoise. Zeros are positive. Beyond the greatest number is NaN or that number.
double rounded(double number, const Grid& grid, Rounds how, double noise, bool nan_on_overflow);

}  // namespace superstep::poplibs
