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
  std::uint32_t formula_steps = 0;  ///< of its formula, without inputs and constants

  bool operator==(const FusedOperation&) const = default;
};

}  // namespace superstep
