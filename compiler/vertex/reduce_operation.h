#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/vertex/expression.h"

namespace superstep::vertex {

/// An operation on floats that is all of a reducer's expression; a sum may widen its elements.
struct SingleOperation {
  std::string_view name;  ///< of its instructions, behind their type
  DType element;          ///< f32 or f16
  DType result;
  std::uint32_t neutral;  ///< bits of the result's dtype that change no operand
  bool drops_nan;         ///< the instruction gives the other operand for a NaN

  /// Elements in a pair of registers.
  [[nodiscard]] std::uint32_t lanes() const { return element == DType::kF16 ? 4 : 2; }
  [[nodiscard]] bool widens() const { return element != result; }
  /// The type of instructions on a pair of results.
  [[nodiscard]] std::string_view pair_type() const {
    return result == DType::kF16 ? "f16v4" : "f32v2";
  }
};

/// `f32v2` and `add` together.
[[nodiscard]] inline std::string mnemonic(std::string_view type, std::string_view operation) {
  return std::string(type).append(operation);
}

/// The negative zero of f32 and of f16.
inline constexpr std::uint32_t kNegativeZero = 0x80000000, kNegativeZeroF16 = 0x8000;

/// The dtypes of the elements that an expression combines into results of `dtypes`.
[[nodiscard]] std::vector<DType> element_dtypes(const Expression& expression,
                                                const std::vector<DType>& dtypes);

[[nodiscard]] std::optional<SingleOperation> single_operation(const Expression& expression,
                                                              const std::vector<Node>& outputs,
                                                              const std::vector<DType>& dtypes);

}  // namespace superstep::vertex
