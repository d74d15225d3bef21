#pragma once

#include <string_view>

namespace superstep::import {

/// The double nearest to a decimal number; beyond its range infinity or zero.
[[nodiscard]] double parse_double(std::string_view text);

}  // namespace superstep::import
