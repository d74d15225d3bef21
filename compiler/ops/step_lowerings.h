#pragma once

#include <span>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/ops/graph_builder.h"
#include "isa/machine_config.h"

namespace superstep {

class BlockLowering;

// Lowerings of ops that become supersteps of their own. They are in compiler/lower/, which knows
// tiles; ops do not.

/// `stablehlo.reduce`: compiler/lower/reductions/.
void lower_reduce(BlockLowering& block, const Op& op);
/// `stablehlo.optimization_barrier`: compiler/lower/barrier.cpp.
void lower_barrier(BlockLowering& block, const Op& op);
/// `stablehlo.dot_general`: compiler/lower/products/.
void lower_product(BlockLowering& block, const Op& op);
/// `stablehlo.while`: compiler/lower/control/.
void lower_while(BlockLowering& block, const Op& op);
/// `stablehlo.case`: compiler/lower/control/.
void lower_case(BlockLowering& block, const Op& op);
/// Visits to the host inside a call, `compiler/ops/feeds.h`: compiler/lower/feeds.cpp.
void lower_infeed(BlockLowering& block, const Op& op);
void lower_outfeed(BlockLowering& block, const Op& op);
/// Windows of tables, `compiler/ops/take.h`: compiler/lower/indexed/.
void lower_take(BlockLowering& block, const Op& op);
void lower_put(BlockLowering& block, const Op& op);
/// Sorted runs, `compiler/ops/merge.h`: compiler/lower/merge.cpp.
void lower_merge(BlockLowering& block, const Op& op);
/// Rows of words, `compiler/ops/sort_words.h`, by merges, a network or a selection:
/// compiler/lower/sort.cpp.
std::vector<Tensor> divide_sort(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands, const MachineConfig& machine);
/// Offsets in batches, each with a table of its own: compiler/lower/indexed/batches.cpp.
std::vector<Tensor> divide_take(GraphBuilder& builder, const Op& op,
                                std::span<const Tensor> operands, const MachineConfig& machine);
std::vector<Tensor> divide_put(GraphBuilder& builder, const Op& op,
                               std::span<const Tensor> operands, const MachineConfig& machine);

}  // namespace superstep
