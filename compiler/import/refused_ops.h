#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace superstep::import {

/// An op of StableHLO or CHLO that Superstep does not have.
struct RefusedOp {
  std::string_view name;     ///< `stablehlo.while`
  std::string_view instead;  ///< what to write in Python; empty where nothing does yet
};

/// All of them, by dialect and name.
[[nodiscard]] std::vector<RefusedOp> refused_ops();

/// Why an op of this name, which `find_op` does not know, is refused, and what to do.
[[nodiscard]] std::string refusal_of(std::string_view name);

}  // namespace superstep::import
