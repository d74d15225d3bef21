#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "isa/machine_config.h"

namespace superstep {

/// What the planner knows of the codelet that multiplies blocks: A [rows][depth] times the
/// transpose of B [columns][depth], dense, to C [rows][columns].
struct MatmulKernel {
  MatmulSpec spec;

  /// The kernel for operands of a dtype.
  [[nodiscard]] static MatmulKernel of(DType input, DType result);

  /// Cycles of one launch [derived from the codelet's loops].
  [[nodiscard]] std::int64_t cycles(const MachineConfig& machine, std::int64_t rows,
                                    std::int64_t columns, std::int64_t depth) const;
  [[nodiscard]] std::string key() const;
  /// Vertex state of one product; addresses are those of the blocks.
  [[nodiscard]] static std::vector<StateWord> state(std::int64_t rows, std::int64_t columns,
                                                    std::int64_t depth, StateWord a, StateWord b,
                                                    StateWord c);
};

}  // namespace superstep
