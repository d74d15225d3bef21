#pragma once

#include <string>

#include "isa/op_location.h"

namespace superstep {

/// What has this name, with where it is written, as far as that is known: `add.1 of step.mlir:4`.
[[nodiscard]] inline std::string named(const std::string& name, const OpLocation& location) {
  const std::string place = location.text();
  return place.empty() ? name : name + " of " + place;
}

}  // namespace superstep
