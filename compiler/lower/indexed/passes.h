#pragma once

#include <span>
#include <vector>

#include "compiler/ops/graph_builder.h"
#include "compiler/ops/table.h"
#include "isa/machine_config.h"

namespace superstep {

/// A take as a loop over blocks of its offsets, where a table is cut by position and what its parts
/// have for all of them would not fit a tile; else nothing. `op` has its definition and attributes.
[[nodiscard]] std::vector<Tensor> take_in_passes(GraphBuilder& builder, const Op& op,
                                                 std::span<const Tensor> operands,
                                                 const TableUse& use, const MachineConfig& machine);

/// A put as a loop over blocks of its windows, in order, where all of them would take more of a
/// tile than they may; else nothing. `op` has its definition, attributes and region.
[[nodiscard]] std::vector<Tensor> put_in_passes(GraphBuilder& builder, const Op& op,
                                                std::span<const Tensor> operands,
                                                const TableUse& use, const MachineConfig& machine);

}  // namespace superstep
