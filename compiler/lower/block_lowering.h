#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "compiler/lower/assign_layouts.h"
#include "compiler/lower/products/products.h"
#include "compiler/lower/values.h"
#include "compiler/ops/op.h"
#include "compiler/ops/step_lowerings.h"

namespace superstep {

/// A block of ops that is being lowered, as the lowerings of single ops see it.
class BlockLowering {
 public:
  BlockLowering(const Module& module, const MachineConfig& machine, bool saves)
      : graph(module.main),
        saves_memory(saves),
        builder(machine),
        values(builder, graph, assign_layouts(module, builder.layouts())) {}

  const Graph& graph;
  bool saves_memory;  ///< even where that takes time
  ProgramBuilder builder;
  Values values;
  /// Conversions that the reduction of their results does, by result.
  std::map<ValueId, const Op*> conversions;
  std::optional<Products> products;
  std::map<const Op*, std::size_t> product_numbers;
};

}  // namespace superstep
