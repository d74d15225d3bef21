#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/vertex/expression.h"

namespace superstep::vertex {

/// An operation on f32 that is all of a reducer's expression.
struct SingleOperation {
  const char *one, *two;  ///< instructions on f32 and on pairs
  std::uint32_t neutral;  ///< bits that change no operand
  bool drops_nan;         ///< the instruction gives the other operand for a NaN
};

inline constexpr std::uint32_t kNegativeZero = 0x80000000;

[[nodiscard]] std::optional<SingleOperation> single_operation(const Expression& expression,
                                                              const std::vector<Node>& outputs,
                                                              const std::vector<DType>& dtypes);

}  // namespace superstep::vertex
