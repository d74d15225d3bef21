#include "sim/trace/detail_rows.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/trace/tables.h"

namespace superstep {
namespace {

/// Whether each operation is in a window.
std::vector<bool> kept_operations(const TraceWindow& window, const TraceOperations& operations) {
  std::vector<bool> kept;
  for (const StepInfo& first : operations.first_steps) {
    kept.push_back(window.operations.empty() ||
                   fnmatch(window.operations.c_str(), first.name.c_str(), 0) == 0);
  }
  return kept;
}

}  // namespace

std::string window_problem(const TraceWindow& window, const ProgramImage& image) {
  for (const TileId tile : window.tiles.value_or(std::vector<TileId>())) {
    if (std::ranges::find(image.entries, tile, &TileEntry::tile) == image.entries.end()) {
      return fmt::format("has no program on tile {}, whose rows the trace should keep",
                         index(tile));
    }
  }
  const TraceOperations operations = operations_of(trace_steps(image.info));
  if (std::ranges::count(kept_operations(window, operations), true) > 0) return {};
  std::string names;
  for (const StepInfo& first : operations.first_steps) {
    names += (names.empty() ? "" : ", ") + first.name;
  }
  return fmt::format("has no operation like '{}', whose rows the trace should keep; there are {}",
                     window.operations, names);
}

DetailRows::DetailRows(const ProgramImage& image, const TraceWindow& window)
    : image_(image), window_(window), steps_(image) {
  const TraceOperations operations = operations_of(trace_steps(image.info));
  operation_by_step_ = operations.by_step;
  is_kept_ = kept_operations(window, operations);
  for (const CodeletPlace& place : image.info.codelets) {
    for (const TileId tile : place.tiles) codelets_.push_back({tile, place.pc, place.vertex_type});
  }
  std::ranges::sort(codelets_, {},
                    [](const Codelet& codelet) { return std::pair(codelet.tile, codelet.pc); });
}

Watch DetailRows::watch() const {
  Watch watch{.first_superstep = window_.first_superstep,
              .last_superstep = window_.end_superstep - 1,
              .instructions = false,
              .worker_runs = true};
  if (window_.tiles) {
    watch.tiles = *window_.tiles;
  } else {
    for (const TileEntry& entry : image_.entries) watch.tiles.push_back(entry.tile);
  }
  return watch;
}

std::optional<std::uint32_t> DetailRows::vertex_type(TileId tile, std::uint32_t pc) const {
  const auto place = [](const Codelet& codelet) { return std::pair(codelet.tile, codelet.pc); };
  const auto found = std::ranges::lower_bound(codelets_, std::pair(tile, pc), {}, place);
  if (found == codelets_.end() || place(*found) != std::pair(tile, pc)) return std::nullopt;
  return found->vertex_type;
}

void DetailRows::on_worker_run(TileId tile, const WorkerRun& run) {
  VertexRow& row = vertices_.emplace_back(VertexRow{run});
  row.tile = index(tile);
  row.vertex_type = vertex_type(tile, run.entry);
  row.length = run.end - run.begin;
}

/// A launch without a step of its own is of that of the launch before, as one of several that a
/// step takes.
void DetailRows::name_steps(std::span<VertexRow> of_tile) const {
  std::vector<VertexRow*> by_launch;
  for (VertexRow& row : of_tile) by_launch.push_back(&row);
  std::ranges::stable_sort(by_launch, {}, [](const VertexRow* row) { return row->launch; });
  std::uint32_t step = steps_.none();
  for (VertexRow* const row : by_launch) {
    const std::uint32_t own = steps_.find(TileId{row->tile}, row->launch_pc, row->calls_step);
    if (own != steps_.none()) step = own;
    row->step = step;
    row->operation = operation_by_step_[step];
  }
}

std::vector<VertexRow> DetailRows::take(std::uint64_t superstep) {
  std::vector<VertexRow> rows = std::exchange(vertices_, {});
  const auto all = std::span(rows);
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && rows[end].tile == rows[begin].tile) ++end;
    name_steps(all.subspan(begin, end - begin));
    begin = end;
  }
  for (VertexRow& row : rows) row.superstep = superstep;
  std::erase_if(rows, [&](const VertexRow& row) { return !is_kept_[row.operation]; });
  return rows;
}

}  // namespace superstep
