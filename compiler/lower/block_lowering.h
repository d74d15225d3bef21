#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/lower/assign_layouts.h"
#include "compiler/lower/products/products.h"
#include "compiler/lower/values.h"
#include "compiler/ops/op.h"
#include "compiler/ops/step_lowerings.h"

namespace superstep {

/// How a whole program is lowered.
struct LoweringChoices {
  const SqueezedProducts& squeezed;
  StepOrder order = StepOrder::kBalanced;
};

/// A block of ops that is being lowered, as the lowerings of single ops see it.
class BlockLowering {
 public:
  /// Of a program, or of a region in a block whose builder is given; `placed` as for
  /// `assign_layouts`.
  BlockLowering(const Module& module, ProgramBuilder for_block, const LoweringChoices& its_choices,
                const std::map<ValueId, LayoutPtr>* placed = nullptr)
      : graph(module.main),
        choices(its_choices),
        builder(std::move(for_block)),
        values(builder, graph, assign_layouts(module, builder.layouts(), placed)) {}

  const Graph& graph;
  LoweringChoices choices;
  ProgramBuilder builder;
  Values values;
  /// Conversions that the reduction of their results does, by result.
  std::map<ValueId, const Op*> conversions;
  std::optional<Products> products;
  std::map<const Op*, std::size_t> product_numbers;
  /// Buffers, and the storage to which they are copied to be updated there.
  std::vector<std::pair<BufferId, BufferId>> updates;
};

/// Buffers of a region's arguments and results; none for values without elements, and for results
/// that nobody uses.
struct RegionBuffers {
  std::vector<std::optional<BufferId>> arguments, results;
};
/// For a region of a loop: what needs none of the buffers that change in it is made in front of it,
/// from `superstep` of the outer block on, which gets past that.
struct InLoop {
  std::set<BufferId> changing;
  std::uint32_t& superstep;
};
/// Lowers a region in the block of `outer`. Results end in their buffers, which may be those of
/// arguments.
[[nodiscard]] Block lower_region(BlockLowering& outer, const Graph& region,
                                 const RegionBuffers& buffers, const InLoop* loop = nullptr);

}  // namespace superstep
