#pragma once

#include <cstdint>
#include <string_view>

namespace superstep::import {

/// The double nearest to a decimal number; beyond its range infinity or zero.
[[nodiscard]] double parse_double(std::string_view text);

/// The bits of the IEEE half nearest to a value, ties to even.
[[nodiscard]] std::uint16_t half_bits(double value);

}  // namespace superstep::import
