#include "report/export/kanata.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "report/export/kanata_log.h"
#include "report/numbers.h"
#include "sim/trace/rows_by_superstep.h"

namespace superstep {
namespace {

/// Names of code, by where workers began to execute it.
class CodeNames {
 public:
  explicit CodeNames(const TraceFile& trace) : types_(trace.read(kVertexTypes)) {}

  /// What a superstep executed; instructions are in order of time.
  void add(std::span<const VertexRow> vertices, std::span<const InstructionRow> instructions) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> begins;
    for (const InstructionRow& row : instructions) {
      if (row.worker) begins.emplace(std::tuple(row.tile, *row.worker, row.cycle), row.pc);
    }
    for (const VertexRow& row : vertices) {
      const auto first = begins.find(std::tuple(row.tile, row.worker, row.begin));
      if (first == begins.end() || !row.vertex_type || *row.vertex_type >= types_.size()) continue;
      entries_[{row.tile, first->second}] = *row.vertex_type;
    }
  }

  /// `codelet+0x10`; of a supervisor, and where nobody knows, the address.
  [[nodiscard]] std::string place_of(const TileInstruction& i) const {
    const auto behind = entries_.upper_bound({i.tile, i.pc});
    const bool is_known = i.context != IssuedInstruction::kSupervisor &&
                          behind != entries_.begin() && std::prev(behind)->first.first == i.tile;
    if (!is_known) return fmt::format("{:#x}", i.pc);
    const auto& [entry, type] = *std::prev(behind);
    return fmt::format("{}+{:#x}", types_[type].name, i.pc - entry.second);
  }

 private:
  std::vector<VertexTypeInfo> types_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      entries_;  ///< by tile and pc: the vertex type
};

std::vector<std::string> write(const TraceFile& trace, const ExportRequest& request,
                               const ExportSink& sink) {
  if (!trace.has(kInstructions)) not_at_level(trace, "instructions", kInstructions.level);
  const SuperstepRows rows = rows_in(trace, request.window);
  KanataLog log(read_attributes(trace.hdf5(), kRootAttributes).workers);
  CodeNames names(trace);
  std::uint64_t begin = 0;
  if (rows.count > 0) {
    const SuperstepRow first = trace.read(kSupersteps, rows.first, 1).front();
    begin = first.begin.value();
    RowsBySuperstep<kVertices> vertices(trace.hdf5(), trace.rows(kVertices), first.number);
    RowsBySuperstep<kInstructions> instructions(trace.hdf5(), trace.rows(kInstructions),
                                                first.number);
    trace.for_each_superstep(rows.first, rows.count, [&](const SuperstepInFile& superstep) {
      const std::span<const InstructionRow> issued = instructions.of(superstep.row.number);
      names.add(vertices.of(superstep.row.number), issued);
      for (const InstructionRow& row : issued) {
        if (request.tiles && !std::ranges::binary_search(*request.tiles, row.tile)) continue;
        TileInstruction instruction{row, row.tile};
        instruction.context = row.worker.value_or(IssuedInstruction::kSupervisor);
        log.add(instruction);
      }
    });
  }
  if (log.is_empty()) {
    throw UserError(ExitCode::kUsage, {{{trace.path().string(), 0, 0},
                                        "has no instructions of these tiles and supersteps"}});
  }
  log.write(
      begin, [&](const TileInstruction& i) { return names.place_of(i); }, sink);
  if (log.left_out() == 0) return {};
  return {fmt::format("the last {} instructions are left out; --window and --tiles show others",
                      grouped(log.left_out()))};
}

}  // namespace

std::vector<std::string> write_kanata(const TraceFile& trace, const ExportRequest& request,
                                      const ExportSink& sink) {
  std::vector<std::string> left_out;
  guard_trace(trace.path(), [&] { left_out = write(trace, request, sink); });
  return left_out;
}

}  // namespace superstep
