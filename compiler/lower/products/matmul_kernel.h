#pragma once

#include <cstdint>
#include <string>

#include "compiler/program/program.h"
#include "isa/machine_config.h"

namespace superstep {

/// What the planner knows of the codelet that multiplies blocks: A [rows][depth] times the
/// transpose of B [columns][depth], dense, to C [rows][columns].
struct MatmulKernel {
  vertex::Matmul kind;

  /// The kernel for operands of a dtype.
  [[nodiscard]] static MatmulKernel of(DType input, DType result);

  /// Cycles of one launch [derived from the codelet's loops].
  [[nodiscard]] std::int64_t cycles(const MachineConfig& machine, std::int64_t rows,
                                    std::int64_t columns, std::int64_t depth) const;
  [[nodiscard]] std::string key() const;
};

}  // namespace superstep
