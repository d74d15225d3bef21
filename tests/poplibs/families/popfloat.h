#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/poplibs/case.h"
#include "tests/poplibs/gfloat.h"
#include "tests/poplibs/recipe.h"

namespace superstep::poplibs {

/// A cast of popfloat to a number format.
struct PopfloatCast {
  Gfloat format{};
  bool in_half = false;  ///< it works in f16
  bool nan_on_overflow = false;
  std::string in, out;          ///< fields
  std::vector<double> numbers;  ///< that are rounded: the inputs, or as scaled f16

  [[nodiscard]] Grid grid() const;
  /// The least input that is a normal number of the type that the cast works in.
  [[nodiscard]] double least_normal() const;
  /// What is stored of a rounded number, before it becomes of the type of the output.
  [[nodiscard]] double result(double on_grid) const;
  /// Fills all fields; `bit_mask` and `more_params` are those of the rounding.
  void place(Case& run, const std::vector<double>& values, std::uint32_t bit_mask,
             const std::vector<std::uint32_t>& more_params = {});
};

/// By the template arguments of the case; one of several formats.
PopfloatCast popfloat_cast(Case& run, std::size_t n);

/// `size`, or the next for which popfloat stores every element of such a cast.
std::size_t popfloat_size(Case& run, const PopfloatCast& cast, std::size_t size);

/// How popfloat divides elements in pieces of `grain` among workers.
void popfloat_split(Case& run, std::size_t n, std::size_t grain);

/// The mask that leaves a correction as many random bits.
std::uint32_t popfloat_bit_mask(bool in_half, int bits);

/// The first element of a field that is not the expected one; NaNs are one.
std::string popfloat_difference(const Case& run, const DeviceResult& device,
                                const std::string& name, const std::vector<double>& expected);

/// Casts whose rounding adds noise of a given density.
void add_popfloat_noise(Recipes& recipes);

}  // namespace superstep::poplibs
