#pragma once

#include "compiler/graph/graph.h"
#include "compiler/program/program.h"
#include "compiler/program/step_order.h"
#include "compiler/progress.h"
#include "isa/machine_config.h"

namespace superstep {

/// Maps the tensors of a module to tiles and its ops to exchanges and compute sets.
/// A result that takes an argument's storage ends in that argument's buffer. An `order` that keeps
/// little alive makes nothing else larger for the sake of time either.
[[nodiscard]] LoweredProgram lower(const Module& module, const MachineConfig& machine,
                                   const CompileProgress& progress = {},
                                   const SqueezedProducts& squeezed = {},
                                   StepOrder order = StepOrder::kBalanced);

}  // namespace superstep
