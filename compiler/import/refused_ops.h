#pragma once

#include <span>
#include <string>
#include <string_view>

namespace superstep::import {

/// The ops of StableHLO and CHLO that Superstep does not have, by dialect and name.
[[nodiscard]] std::span<const std::string_view> refused_ops();

/// Why an op of this name, which `find_op` does not know, is refused, and what was meant.
[[nodiscard]] std::string refusal_of(std::string_view name);

}  // namespace superstep::import
