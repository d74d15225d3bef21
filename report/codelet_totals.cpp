#include "report/codelet_totals.h"

#include <algorithm>
#include <set>
#include <utility>

#include "report/workers_of_tile.h"
#include "sim/trace/schema.h"

namespace superstep {

std::vector<CodeletTotals> codelet_totals(const TraceFile& file, std::uint64_t workers) {
  std::vector<CodeletTotals> codelets;
  for (VertexTypeInfo& type : file.read(kVertexTypes)) {
    const auto number = static_cast<std::uint32_t>(codelets.size());
    codelets.push_back({.name = std::move(type.name), .number = number});
  }
  const std::size_t unknown = codelets.size();
  codelets.push_back({.name = "(unknown)", .number = std::nullopt});
  using StepCodelet = std::pair<std::uint32_t, std::size_t>;  // step, codelet
  const auto book = [&](const StepCodelet& of, std::uint64_t busiest, std::uint64_t /*busy*/) {
    codelets[of.second].slots += busiest * workers;
  };
  WorkersOfTile<StepCodelet, decltype(book)> of_tile(book);
  // Of one tile in one superstep: workers of a launch begin at once.
  std::set<std::pair<std::uint64_t, std::size_t>> launches;
  VertexRow last;
  file.for_each_row(kVertices, [&](const VertexRow& row) {
    if (row.superstep != last.superstep || row.tile != last.tile) launches.clear();
    last = row;
    const std::size_t number = std::min<std::size_t>(row.vertex_type.value_or(unknown), unknown);
    CodeletTotals& of = codelets[number];
    if (launches.emplace(row.launch, number).second) ++of.launches;
    of_tile.add(row, {row.step, number});
    ++of.runs;
    of.cycles += row.length;
    of.instructions += row.instructions;
    of.by_step[row.step] += row.length;
    of.by_operation[row.operation] += row.length;
    if (row.length > of.longest.length) of.longest = row;
  });
  of_tile.finish();
  std::erase_if(codelets, [](const CodeletTotals& of) { return of.runs == 0; });
  return codelets;
}

}  // namespace superstep
