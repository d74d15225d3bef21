#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "report/validation/checks.h"
#include "sim/trace/rows_by_superstep.h"

namespace superstep {
namespace {

/// Rules of instructions, superstep by superstep.
class InstructionCheck {
 public:
  InstructionCheck(const TraceFile& trace, TraceFindings& findings)
      : findings_(findings),
        workers_(read_attributes(trace.hdf5(), kRootAttributes).workers),
        used_tiles_(trace.read(kUsedTiles)),
        opcodes_(trace.read(kOpcodes).size()) {}

  /// `first_vertex` is the row of the first vertex.
  void add(const SuperstepRow& superstep, std::span<const VertexRow> vertices,
           std::span<const InstructionRow> rows, std::uint64_t first_vertex) {
    const std::uint64_t end =
        (superstep.begin + superstep.exchange + superstep.compute + superstep.sync + superstep.host)
            .value();
    counts_.clear();
    for (const InstructionRow& row : rows) {
      check_row(superstep, end, row);
      if (row.worker) {
        auto& [last, count] = counts_[{row.tile, *row.worker}].emplace_back();
        last = row.cycle;
        count = row.instructions;
      }
      before_ = row;
      ++at_;
    }
    // Those of one with too many are left out.
    if (rows.empty()) return;
    for (std::size_t v = 0; v < vertices.size(); ++v) check_vertex(vertices[v], first_vertex + v);
  }

 private:
  void check_row(const SuperstepRow& superstep, std::uint64_t end, const InstructionRow& row) {
    const auto key = [](const InstructionRow& r) {
      return std::tuple(r.superstep, r.cycle, r.tile);
    };
    order_.check(!before_ || key(*before_) <= key(row), at_, [&] {
      return fmt::format("is {}, of tile {}, not behind the row before it", row.cycle, row.tile);
    });
    inside_.check(row.cycle >= superstep.begin.value() && row.cycle <= end, at_, [&] {
      return fmt::format("is {}: not inside of superstep {}, {} to {}", row.cycle, superstep.number,
                         superstep.begin.value(), end);
    });
    tile_.check(std::ranges::binary_search(used_tiles_, TileId{row.tile}, {}, &TileEntry::tile),
                at_, [&] { return fmt::format("is {}, which has no program", row.tile); });
    if (row.worker) worker_.below(at_, *row.worker, workers_, "workers");
    if (row.opcode) opcode_.below(at_, *row.opcode, opcodes_, "opcodes");
    if (row.aux_opcode) aux_opcode_.below(at_, *row.aux_opcode, opcodes_, "opcodes");
    const bool is_bundle = row.aux_opcode.has_value();
    bundle_.equal(at_, row.instructions, is_bundle ? 2U : 1U,
                  is_bundle ? "of a bundle it is" : "of no bundle it is");
  }

  /// A worker issues what its vertex counts.
  void check_vertex(const VertexRow& vertex, std::uint64_t at) {
    const auto issued = counts_.find({vertex.tile, vertex.worker});
    std::uint64_t count = 0;
    if (issued != counts_.end()) {
      const auto cycle = [](const auto& instruction) { return instruction.first; };
      auto next = std::ranges::lower_bound(issued->second, vertex.begin, {}, cycle);
      for (; next != issued->second.end() && next->first < vertex.begin + vertex.length; ++next) {
        count += next->second;
      }
    }
    issued_.equal(at, vertex.instructions.all, count, "its /instructions are");
  }

  TraceRule& rule(std::string_view column) { return findings_.rule(kInstructions.path_of(column)); }

  TraceFindings& findings_;
  std::uint32_t workers_;
  std::vector<TileEntry> used_tiles_;
  std::uint64_t opcodes_;
  TraceRule &order_ = rule("cycle"), &inside_ = rule("cycle"), &tile_ = rule("tile"),
            &worker_ = rule("worker"), &opcode_ = rule("opcode"), &aux_opcode_ = rule("aux_opcode"),
            &bundle_ = rule("instructions");
  TraceRule& issued_ = findings_.rule(kVertices.path_of("instructions"));
  std::optional<InstructionRow> before_;
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::vector<std::pair<std::uint64_t, std::uint64_t>>>
      counts_;  ///< by tile and worker: cycles, and how many issue there
  std::uint64_t at_ = 0;
};

}  // namespace

void check_instructions(const TraceFile& trace, const SoundColumns& sound,
                        TraceFindings& findings) {
  const Hdf5File& file = trace.hdf5();
  if (!trace.has(kInstructions) ||
      !sound.has_all(file, kInstructions, kOpcodes, kUsedTiles, kVertices, kSupersteps,
                     kProfileNumbers, kLaunches, kTransfers)) {
    return;
  }
  const std::uint64_t rows = trace.rows(kInstructions);
  TraceRule& superstep_of = findings.rule(kInstructions.path_of("superstep"));
  RowsBySuperstep<kVertices> vertices(file, trace.rows(kVertices), 0);
  RowsBySuperstep<kInstructions> instructions(file, rows, 0);
  InstructionCheck check(trace, findings);
  trace.for_each_superstep(0, trace.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
    const std::uint64_t before = instructions.next(), first_vertex = vertices.next();
    const std::span<const InstructionRow> issued = instructions.of(superstep.row.number);
    superstep_of.check(instructions.next() == before + issued.size(), before, [&] {
      return fmt::format("and those behind it do not ascend to {}", superstep.row.number);
    });
    check.add(superstep.row, vertices.of(superstep.row.number), issued, first_vertex);
  });
  superstep_of.check(instructions.next() == rows, instructions.next(),
                     [] { return std::string("is behind the last superstep"); });
}

}  // namespace superstep
