#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/lower/values.h"

namespace superstep {

/// A value with its dimensions permuted.
struct PermutedValue {
  ValueId value{};
  std::vector<std::int64_t> permutation = {};  ///< empty: as it is
};

/// A product of floats, what its operands are made of, and the value that takes its
/// result with its dimensions permuted.
struct ProductOp {
  const Op* op = nullptr;
  std::array<PermutedValue, 2> operands = {};
  PermutedValue target = {};
  bool may_keep_blocks = false;  ///< the result may stay in the order in which it is computed
};

}  // namespace superstep
