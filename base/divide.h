#pragma once

#include <cstdint>

namespace superstep {

/// The quotient of numbers that are not negative, rounded up.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The least multiple of `unit` that is not below `a`.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return divide_up(a, unit) * unit;
}

}  // namespace superstep
