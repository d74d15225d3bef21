#pragma once

#include <span>
#include <string>
#include <string_view>

namespace superstep {

/// A program of one op that is not on vectors alone, for the page of ops.
struct OpExample {
  std::string_view op;
  std::string_view arguments;  ///< `%a: tensor<4xf32>, %b: tensor<f32>`
  std::string_view result;     ///< the type of %r
  std::string_view body;       ///< defines %r

  /// As StableHLO.
  [[nodiscard]] std::string text() const;
};

/// In the order of names.
[[nodiscard]] std::span<const OpExample> op_examples();

}  // namespace superstep
