#pragma once

#include <cstdint>
#include <string>

#include "isa/op_location.h"

namespace superstep {

/// One of the operations that a step serves: that it computes, or moves operands for.
struct FusedOperation {
  std::string name;       ///< `multiply.3`
  std::string operation;  ///< StableHLO op name
  OpLocation source;
  /// What reports share the step by. Compute: what so many elements of its formula would take in a
  /// vertex of their own. Exchange: the words that arrive for it; a port takes one a cycle.
  std::uint32_t cycles_alone = 0;

  bool operator==(const FusedOperation&) const = default;
};

}  // namespace superstep
