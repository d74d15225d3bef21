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
        opcodes_(trace.read(kOpcodes)) {}

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
        counts_[{row.tile, *row.worker}].push_back(
            {row.cycle, row.instructions, is_aux(row.opcode) || row.aux_opcode ? 1U : 0U});
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
    if (row.opcode) opcode_.below(at_, *row.opcode, opcodes_.size(), "opcodes");
    if (row.aux_opcode) aux_opcode_.below(at_, *row.aux_opcode, opcodes_.size(), "opcodes");
    const bool is_bundle = row.aux_opcode.has_value();
    opcode_.check(!is_bundle || !is_aux(row.opcode), at_, [&] {
      return fmt::format("is {}, of the auxiliary pipe, where a bundle has one of the main pipe",
                         *row.opcode);
    });
    aux_opcode_.check(!is_bundle || *row.aux_opcode >= opcodes_.size() || is_aux(row.aux_opcode),
                      at_, [&] { return fmt::format("is {}, of the main pipe", *row.aux_opcode); });
    bundle_.equal(at_, row.instructions, is_bundle ? 2U : 1U,
                  is_bundle ? "of a bundle it is" : "of no bundle it is");
  }

  /// A worker issues what its vertex counts.
  void check_vertex(const VertexRow& vertex, std::uint64_t at) {
    const auto issued = counts_.find({vertex.tile, vertex.worker});
    std::uint64_t all = 0, aux = 0;
    if (issued != counts_.end()) {
      auto next = std::ranges::lower_bound(issued->second, vertex.begin, {}, &Issued::cycle);
      for (; next != issued->second.end() && next->cycle < vertex.begin + vertex.length; ++next) {
        all += next->all;
        aux += next->aux;
      }
    }
    issued_.equal(at, vertex.instructions.all, all, "its /instructions are");
    aux_issued_.equal(at, vertex.instructions.aux, aux, "those of its /instructions are");
  }

  [[nodiscard]] bool is_aux(const std::optional<std::uint32_t>& opcode) const {
    return opcode && *opcode < opcodes_.size() && opcodes_[*opcode].pipe == isa::Pipe::kAux;
  }

  TraceRule& rule(std::string_view column) { return findings_.rule(kInstructions.path_of(column)); }

  TraceFindings& findings_;
  std::uint32_t workers_;
  std::vector<TileEntry> used_tiles_;
  std::vector<OpcodeRow> opcodes_;
  TraceRule &order_ = rule("cycle"), &inside_ = rule("cycle"), &tile_ = rule("tile"),
            &worker_ = rule("worker"), &opcode_ = rule("opcode"), &aux_opcode_ = rule("aux_opcode"),
            &bundle_ = rule("instructions");
  TraceRule& issued_ = findings_.rule(kVertices.path_of("instructions"));
  TraceRule& aux_issued_ = findings_.rule(kVertices.path_of("aux_instructions"));
  std::optional<InstructionRow> before_;
  struct Issued {
    std::uint64_t cycle = 0;
    std::uint32_t all = 0, aux = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Issued>>
      counts_;  ///< by tile and worker
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
