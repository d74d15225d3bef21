#pragma once

#include <cstdint>
#include <string>

#include "isa/op_location.h"

namespace superstep {

/// One of the operations that a compute step of several computes.
struct FusedOperation {
  std::string name;       ///< `multiply.3`
  std::string operation;  ///< StableHLO op name
  OpLocation source;
  /// What some elements of its formula would take in a vertex of their own, as many for each
  /// operation of a step: reports share the cycles of the step by it.
  std::uint32_t cycles_alone = 0;

  bool operator==(const FusedOperation&) const = default;
};

}  // namespace superstep
