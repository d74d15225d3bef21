#include "sim/trace/detail_rows.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "isa/table.h"
#include "sim/trace/schema.h"
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

std::string text_of(const LeftOut& left_out, std::string_view what) {
  return fmt::format(
      "superstep {} has more than {} {}: none are kept, nor of others like it; --trace-tiles takes "
      "fewer tiles",
      left_out.superstep, left_out.most, what);
}

std::optional<LeftOut> left_out_by(std::string_view text, std::string_view what) {
  LeftOut found;
  const auto read = [&](std::string_view before, std::uint64_t& number) {
    if (!text.starts_with(before)) return false;
    text.remove_prefix(before.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc{};
  };
  const bool is_one = read("superstep ", found.superstep) && read(" has more than ", found.most) &&
                      text.starts_with(fmt::format(" {}:", what));
  return is_one ? std::optional(found) : std::nullopt;
}

DetailRows::DetailRows(const ProgramImage& image, const TraceOptions& options)
    : options_(options), steps_(image) {
  for (const TileEntry& entry : image.entries) tiles_.push_back(entry.tile);
  const TraceOperations operations = operations_of(trace_steps(image.info));
  operation_by_step_ = operations.by_step;
  is_kept_ = kept_operations(options.window, operations);
  for (const CodeletPlace& place : image.info.codelets) {
    for (const TileId tile : place.tiles) codelets_.push_back({tile, place.pc, place.vertex_type});
  }
  std::ranges::sort(codelets_, {},
                    [](const Codelet& codelet) { return std::pair(codelet.tile, codelet.pc); });
}

Watch DetailRows::watch() const {
  Watch watch{.first_superstep = options_.window.first_superstep,
              .last_superstep = options_.window.end_superstep - 1,
              .instructions = options_.level >= TraceLevel::kInstruction,
              .most_instructions = options_.most_instructions,
              .worker_runs = true,
              .most_worker_runs = options_.most_worker_runs};
  watch.tiles = options_.window.tiles.value_or(tiles_);
  return watch;
}

std::optional<std::uint32_t> DetailRows::vertex_type(TileId tile, std::uint32_t pc) const {
  const auto place = [](const Codelet& codelet) { return std::pair(codelet.tile, codelet.pc); };
  const auto found = std::ranges::lower_bound(codelets_, std::pair(tile, pc), {}, place);
  if (found == codelets_.end() || place(*found) != std::pair(tile, pc)) return std::nullopt;
  return found->vertex_type;
}

void DetailRows::on_worker_run(TileId tile, const WorkerRun& run) {
  VertexRow& row = now_.vertices.emplace_back(VertexRow{run});
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

void DetailRows::on_instruction(TileId tile, const IssuedInstruction& instruction) {
  const auto opcode = [](std::uint32_t word) -> std::optional<std::uint32_t> {
    const isa::InstructionInfo* const info = isa::find_instruction(word);
    if (info == nullptr) return std::nullopt;
    return static_cast<std::uint32_t>(info->number);
  };
  InstructionRow& row = now_.instructions.emplace_back(InstructionRow{instruction});
  row.tile = index(tile);
  if (row.context != IssuedInstruction::kSupervisor) row.worker = row.context;
  row.opcode = opcode(row.words[0]);
  if (row.instructions == 2) row.aux_opcode = opcode(row.words[1]);
}

/// A supervisor works for no operation in particular.
void DetailRows::keep_operations(Rows& rows) const {
  std::erase_if(rows.vertices, [&](const VertexRow& row) { return !is_kept_[row.operation]; });
  using RunBegin = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // tile, worker, cycle
  std::map<RunBegin, std::uint64_t> ends;
  for (const VertexRow& row : rows.vertices) {
    ends.emplace(RunBegin(row.tile, row.worker, row.begin), row.end);
  }
  std::erase_if(rows.instructions, [&](const InstructionRow& row) {
    auto run = ends.upper_bound(RunBegin(row.tile, row.context, row.cycle));
    if (run == ends.begin()) return true;
    --run;
    const auto& [tile, worker, begin] = run->first;
    return tile != row.tile || worker != row.context || row.cycle >= run->second;
  });
}

DetailRows::Rows DetailRows::take(std::uint64_t superstep) {
  Rows rows = std::exchange(now_, {});
  const auto all = std::span(rows.vertices);
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].tile == all[begin].tile) ++end;
    name_steps(all.subspan(begin, end - begin));
    begin = end;
  }
  for (VertexRow& row : rows.vertices) row.superstep = superstep;
  for (InstructionRow& row : rows.instructions) row.superstep = superstep;
  if (!options_.window.operations.empty()) keep_operations(rows);
  return rows;
}

}  // namespace superstep
