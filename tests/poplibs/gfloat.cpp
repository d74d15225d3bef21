#include "tests/poplibs/gfloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace superstep::poplibs {
namespace {

constexpr int kHalfLeastNormal = -14;

double round_steps(double steps, Rounds how, bool negative, double noise) {
  const double whole = std::floor(steps);
  const double rest = steps - whole;
  switch (how) {
    case Rounds::kZero:
      return whole;
    case Rounds::kEven:
      return rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0) ? whole + 1 : whole;
    case Rounds::kAway:
      return rest >= 0.5 ? whole + 1 : whole;
    case Rounds::kUp:
      return rest > 0 && !negative ? whole + 1 : whole;
    case Rounds::kDown:
      return rest > 0 && negative ? whole + 1 : whole;
    case Rounds::kNoise:
      return std::floor(steps + noise);
  }
  return whole;
}

}  // namespace

double Gfloat::greatest() const {
  return std::ldexp(2.0 - std::ldexp(1.0, -fraction_bits), greatest_exponent());
}

double Gfloat::least() const {
  return std::ldexp(1.0, least_normal_exponent() - (subnormals ? fraction_bits : 0));
}

int Gfloat::half_scale() const {
  const bool by_greatest = exponent_bits == 5 && !infinities;
  return by_greatest ? 15 - greatest_exponent() : kHalfLeastNormal - least_normal_exponent();
}

std::uint32_t Gfloat::code(double number, int bits) const {
  const int places = bits - 1 - exponent_bits;
  const std::uint32_t sign = std::signbit(number) ? std::uint32_t{1} << (bits - 1) : 0;
  const double magnitude = std::fabs(number);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), least_normal_exponent());
  const auto steps = static_cast<std::uint32_t>(std::ldexp(magnitude, places - exponent));
  // The leading one of a normal number adds 1 to an exponent that is counted from 0.
  const auto field = static_cast<std::uint32_t>(exponent - least_normal_exponent());
  return sign | ((field << places) + steps);
}

double Gfloat::number(std::uint32_t code, int bits) const {
  const int places = bits - 1 - exponent_bits;
  const bool negative = (code >> (bits - 1) & 1U) != 0;
  const auto fraction = code & ((std::uint32_t{1} << places) - 1);
  const auto field = static_cast<int>(code >> places & ((1U << exponent_bits) - 1));
  const double steps = fraction + (field == 0 ? 0 : std::ldexp(1.0, places));
  const double magnitude =
      std::ldexp(steps, std::max(field, 1) - 1 + least_normal_exponent() - places);
  return negative ? -magnitude : magnitude;
}

double Grid::place(double magnitude) const {
  const int exponent = magnitude == 0 ? least_normal_exponent : std::ilogb(magnitude);
  const int step = even_below ? std::max(exponent, least_normal_exponent) : exponent;
  return std::ldexp(1.0, step - fraction_bits);
}

Grid float_grid(const Gfloat& format) {
  return {format.fraction_bits, format.least_normal_exponent(),
          format.subnormals,    format.least(),
          format.greatest(),    format.least() / 2};
}

Grid half_grid(const Gfloat& format) {
  const double scale = std::ldexp(1.0, format.half_scale());
  return {format.fraction_bits,
          format.least_normal_exponent() + format.half_scale(),
          true,
          format.least() * scale,
          format.greatest() * scale,
          0};
}

double rounded(double number, const Grid& grid, Rounds how, double noise, bool nan_on_overflow) {
  const double magnitude = std::fabs(number);
  const bool directed = how == Rounds::kUp || how == Rounds::kDown;
  if (magnitude < (directed ? grid.least / 2 : grid.counts_from)) return 0;
  const double place = grid.place(magnitude);
  const double result = place * round_steps(magnitude / place, how, number < 0, noise);
  if (result < grid.least) return 0;
  if (result > grid.greatest && nan_on_overflow) return std::numeric_limits<double>::quiet_NaN();
  return std::copysign(std::min(result, grid.greatest), number);
}

}  // namespace superstep::poplibs
