#include "compiler/vertex/reduce_plan.h"

#include <algorithm>

#include "compiler/vertex/turns.h"

namespace superstep::vertex {

ReducePlan plan_reduction(std::uint64_t outer, std::uint64_t reduced, std::uint64_t inner,
                          std::uint32_t neighbours, std::uint32_t lanes, std::uint32_t workers) {
  const std::uint64_t total = outer * inner;
  const std::uint32_t width = inner % neighbours == 0 ? neighbours : 1;
  const std::uint64_t unit = std::max(width, lanes);
  const std::uint64_t row = reduced * inner;
  ReducePlan plan;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const Turns turns = turns_of((total + unit - 1) / unit, workers, w);
    ReducePlan::Worker worker;
    worker.first = std::min(turns.first * unit, total);
    worker.outputs = std::min(turns.count * unit, total - worker.first);
    // Part of an outer row, whole ones, part of one; rows of one column are one.
    const std::uint64_t in_row = inner == 1 ? total : inner;
    for (std::uint64_t at = worker.first, end = at + worker.outputs; at < end;) {
      ReduceCommand c;
      c.columns_per_turn = width;
      const std::uint64_t column = at % in_row;
      c.outers = column == 0 ? std::max<std::uint64_t>((end - at) / in_row, 1) : 1;
      const std::uint64_t columns = std::min(in_row - column, end - at);
      c.turns = columns / width;
      c.element = inner == 1 ? at * reduced : at / inner * row + column;
      c.skip = inner == 1 ? 0 : static_cast<std::int64_t>(width) - static_cast<std::int64_t>(row);
      c.outer_skip = static_cast<std::int64_t>(row) - static_cast<std::int64_t>(columns);
      at += columns * c.outers;
      worker.commands.push_back(c);
    }
    plan.workers.push_back(std::move(worker));
  }
  return plan;
}

}  // namespace superstep::vertex
