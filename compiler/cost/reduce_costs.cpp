#include "compiler/cost/reduce_costs.h"

#include <algorithm>
#include <vector>

#include "base/divide.h"
#include "compiler/vertex/reduce_operation.h"

namespace superstep {
namespace {

vertex::Codelet code_by(vertex::ReduceBy by, vertex::Reduce reduce, const MachineConfig& machine) {
  reduce.by = by;
  return reduce.code(machine);
}

}  // namespace

ReduceCosts::ReduceCosts(const MachineConfig& machine, const vertex::Reduce& reduce, bool in_rows,
                         bool may_cut, const vertex::Reduce* combine)
    : machine_(machine),
      costs_(machine),
      reduce_(reduce),
      in_rows_(in_rows),
      may_cut_(may_cut),
      combine_(combine == nullptr
                   ? nullptr
                   : std::make_shared<const ReduceCosts>(machine, *combine, in_rows, may_cut)),
      columns_(machine, code_by(vertex::ReduceBy::kColumns, reduce, machine)) {
  const auto lanes = vertex::row_lanes(reduce.expression, reduce.outputs, reduce.dtypes);
  if (lanes > 0) {
    rows_.emplace(machine, code_by(vertex::ReduceBy::kRows, reduce, machine));
  }
  if (lanes == 2) odd_row_.emplace(machine, code_by(vertex::ReduceBy::kOddRow, reduce, machine));
}

std::int64_t ReduceCosts::launch(std::int64_t width, std::int64_t depth, bool in_rows) const {
  const auto [at, is_new] = launches_.try_emplace({width, depth, in_rows}, 0);
  if (is_new) {
    vertex::Reduce::Value value;
    value.constant = 0;
    const vertex::Reduce::State state{
        .outer = in_rows ? width : 1,
        .reduced = depth,
        .inner = in_rows ? 1 : width,
        .values = std::vector<vertex::Reduce::Value>(reduce_.dtypes.size(), value)};
    std::vector<std::uint32_t> words;
    for (const StateWord& word : state.words()) words.push_back(word.value);
    const auto by = in_rows ? vertex::reduce_by(reduce_.expression, reduce_.outputs, reduce_.dtypes,
                                                static_cast<std::uint64_t>(width),
                                                static_cast<std::uint64_t>(depth))
                            : vertex::ReduceBy::kColumns;
    const vertex::TimingAnalysis& analysis = by == vertex::ReduceBy::kRows     ? *rows_
                                             : by == vertex::ReduceBy::kOddRow ? *odd_row_
                                                                               : columns_;
    const auto workers = analysis.launch(words, 0, 0);
    at->second =
        costs_.launch_of(static_cast<std::int64_t>(vertex::launch_cycles(machine_, workers)));
  }
  return at->second;
}

std::int64_t ReduceCosts::in_parts(std::int64_t width, std::int64_t depth,
                                   std::int64_t parts) const {
  const bool in_rows = are_rows(width);
  if (parts == 1) return launch(width, depth, in_rows);
  return launch(width * parts, depth / parts, in_rows) +
         (combine_ ? *combine_ : *this).launch(width, parts, in_rows);
}

std::int64_t ReduceCosts::parts(std::int64_t width, std::int64_t depth) const {
  if (!may_cut_ || !are_rows(width)) return 1;
  const std::int64_t lanes =
      std::max(vertex::row_lanes(reduce_.expression, reduce_.outputs, reduce_.dtypes), 2U);
  std::int64_t best = 1;
  for (std::int64_t parts = machine_.tile.workers / width; parts > 1; --parts) {
    if (depth % (lanes * parts) != 0) continue;
    if (in_parts(width, depth, parts) < in_parts(width, depth, best)) best = parts;
  }
  return best;
}

std::int64_t ReduceCosts::cycles(std::int64_t width, std::int64_t depth) const {
  return in_parts(width, depth, parts(width, depth));
}

std::int64_t ReduceCosts::gather(std::int64_t runs, std::int64_t run) const {
  std::int64_t words = 0, arrange = 0;
  for (const DType dtype : vertex::element_dtypes(reduce_.expression, reduce_.dtypes)) {
    const auto bytes = static_cast<std::int64_t>(size_of(dtype));
    words += divide_up(runs * run * bytes, 4);
    if (run * bytes % 4 != 0)
      arrange += costs_.copy(1, runs, run, static_cast<std::uint32_t>(bytes));
  }
  return costs_.phase() + costs_.port(words, runs) + arrange;
}

}  // namespace superstep
