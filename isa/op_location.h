#pragma once

#include <string>

#include "base/error.h"

namespace superstep {

/// Where an op is written: in the module and, when that says, in the Python program that it was
/// traced from. A Python file below the module's folder or the current one has its path from there,
/// any other only its name.
struct OpLocation {
  SourceLocation module;
  SourceLocation python = {};  ///< file and line; the column stays 0

  /// `step.mlir:4:12 (train.py:17)`, as far as it is known.
  [[nodiscard]] std::string text() const {
    return python.file.empty() ? module.text() : module.text() + " (" + python.text() + ")";
  }
  bool operator==(const OpLocation&) const = default;
};

}  // namespace superstep
