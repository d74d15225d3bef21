#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/format_version.h"
#include "report/validation/checks.h"
#include "sim/trace/detail_rows.h"
#include "sim/trace/progress.h"
#include "sim/trace/rows_by_superstep.h"
#include "sim/trace/totals.h"
#include "sim/trace/wide_column.h"

namespace superstep {
namespace {

/// From this format on steps count that only other tiles than the critical one launch.
constexpr unsigned kCountsOfAllTiles = 13;

/// Of the rows of one tile in one superstep.
struct TileSums {
  std::uint64_t cycles = 0;
  InstructionCounts instructions;
};

/// Rules of what workers did, superstep by superstep.
class VertexCheck {
 public:
  VertexCheck(const TraceFile& trace, TraceFindings& findings)
      : trace_(trace),
        findings_(findings),
        root_(read_attributes(trace.hdf5(), kRootAttributes)),
        used_tiles_(trace.read(kUsedTiles)),
        steps_(trace.read(kSteps)),
        types_(trace.read(kVertexTypes).size()),
        totals_(groups_of(steps_)) {}

  void add(const SuperstepInFile& superstep, std::span<const VertexRow> rows) {
    check_steps(superstep, rows);
    TileSums all;
    for (std::size_t begin = 0; begin < rows.size();) {
      std::size_t end = begin;
      while (end < rows.size() && rows[end].tile == rows[begin].tile) ++end;
      const TileSums sums = check_tile(superstep, rows.subspan(begin, end - begin));
      all.instructions += sums.instructions;
      begin = end;
    }
    // Behind the size limit of the trace there are none, and of a superstep with too many.
    const bool is_whole = !rows.empty() || (superstep.profiles->compute < computes_ &&
                                            !may_be_left_out(superstep.row));
    if (is_whole && keeps_everything()) {
      all_.equal(superstep_, superstep.row.worker_instructions.all, all.instructions.all,
                 "its vertices issue");
    }
    ++superstep_;
  }

 private:
  /// Steps that a tile launches are counted in the superstep, but code between steps, the last.
  void check_steps(const SuperstepInFile& superstep, std::span<const VertexRow> rows) {
    if (steps_.empty() || minor_of(root_.format_version) < kCountsOfAllTiles) return;
    std::vector<bool> is_counted(steps_.size());
    totals_.for_each_executed(superstep.row, superstep.launches,
                              [&](std::size_t step, std::uint64_t runs) {
                                is_counted[step] = is_counted[step] || runs > 0;
                              });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t step = rows[i].step;
      counted_.check(step + 1 >= steps_.size() || is_counted[step], at_ + i, [&] {
        return fmt::format("is {}, which superstep {} does not count", step, superstep.row.number);
      });
    }
  }

  /// Each run of a worker issues an instruction at least.
  [[nodiscard]] bool may_be_left_out(const SuperstepRow& row) const {
    return left_out_ && row.number >= left_out_->superstep &&
           row.worker_instructions.all > left_out_->most;
  }

  /// The first superstep that an event says it of.
  [[nodiscard]] std::optional<LeftOut> first_left_out() const {
    for (const TraceEvent& event : read_events(trace_.hdf5())) {
      if (const auto left_out = left_out_by(event.text, kWorkerRuns)) return left_out;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool keeps_everything() const {
    return root_.window_first == 0 && root_.window_end == UINT64_MAX &&
           root_.window_tiles.empty() && root_.window_operations.empty();
  }

  /// The first row is `at_`.
  TileSums check_tile(const SuperstepInFile& superstep, std::span<const VertexRow> rows) {
    const std::uint64_t first = at_;
    TileSums sums;
    for (const VertexRow& row : rows) {
      check_row(superstep.row, row);
      sums.cycles += row.length;
      sums.instructions += row.instructions;
      ++at_;
    }
    const auto tile = std::ranges::find(used_tiles_, TileId{rows.front().tile}, &TileEntry::tile);
    tile_.check(tile != used_tiles_.end(), first,
                [&] { return fmt::format("is {}, which has no program", rows.front().tile); });
    if (tile == used_tiles_.end() || superstep.profiles->compute >= computes_ ||
        superstep.profiles->exchange >= exchanges_) {
      return sums;
    }
    const auto column = static_cast<std::size_t>(tile - used_tiles_.begin());
    check_end(superstep, rows, first, column);
    if (root_.window_operations.empty()) {
      check_sums(sums, superstep.profiles->compute, first, column);
    }
    return sums;
  }

  void check_row(const SuperstepRow& superstep, const VertexRow& row) {
    const auto key = [](const VertexRow& r) {
      return std::tuple(r.superstep, r.tile, r.begin, r.worker);
    };
    order_.check(!before_ || key(*before_) < key(row), at_, [&] {
      return fmt::format("is {}, of worker {} of tile {}, not behind the row before it", row.begin,
                         row.worker, row.tile);
    });
    worker_.below(at_, row.worker, root_.workers, "workers");
    step_.below(at_, row.step, steps_.size(), "steps");
    if (row.step < steps_.size()) {
      operation_.equal(at_, row.operation, steps_[row.step].operation_number,
                       "that of its step is");
    }
    if (row.vertex_type) type_.below(at_, *row.vertex_type, types_, "vertex types");
    launch_.check(row.launch >= superstep.begin.value() && row.launch <= row.begin, at_, [&] {
      return fmt::format(
          "is {}, not between the begin of superstep {}, {}, and its start_cycle, {}", row.launch,
          superstep.number, superstep.begin.value(), row.begin);
    });
    std::uint64_t& free = free_[{row.tile, row.worker}];
    start_.check(row.begin >= free, at_, [&] {
      return fmt::format("is {}, but its worker runs another vertex until {}", row.begin, free);
    });
    free = std::max(free, row.begin + row.length);
    before_ = row;
  }

  /// A tile arrives behind its workers.
  void check_end(const SuperstepInFile& superstep, std::span<const VertexRow> rows,
                 std::uint64_t first, std::size_t column) {
    if (superstep.row.host.value() != 0) return;
    const std::uint64_t arrival = superstep.row.begin.value() +
                                  moves_.row(superstep.profiles->exchange)[column] +
                                  cycles_.row(superstep.profiles->compute)[column];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t end = rows[i].begin + rows[i].length;
      end_.check(end <= arrival, first + i, [&] {
        return fmt::format("is {}, to {}, but its tile is done at {}", rows[i].length, end,
                           arrival);
      });
    }
  }

  void check_sums(const TileSums& sums, std::uint32_t profile, std::uint64_t first,
                  std::size_t column) {
    const auto check = [&](TraceRule& rule, std::uint64_t found, WideColumn& of_tiles) {
      const std::uint64_t expected = of_tiles.row(profile)[column];
      rule.check(found == expected, first, [&] {
        return fmt::format("and those behind it of its tile sum to {}, but the tile has {}", found,
                           expected);
      });
    };
    check(end_, sums.cycles, busy_);
    check(instructions_, sums.instructions.all, issued_);
    check(aux_, sums.instructions.aux, auxs_);
    check(amp_, sums.instructions.amp, amps_);
    check(load_, sums.instructions.loads, loads_);
    check(store_, sums.instructions.stores, stores_);
    check(branch_, sums.instructions.branches, branches_);
  }

  [[nodiscard]] WideColumn compute(std::string_view column) const {
    return {trace_, kComputePhases.path_of(column), computes_, used_tiles_.size()};
  }
  TraceRule& rule(std::string_view column) { return findings_.rule(kVertices.path_of(column)); }

  const TraceFile& trace_;
  TraceFindings& findings_;
  RootRow root_;
  std::vector<TileEntry> used_tiles_;
  std::vector<StepRow> steps_;
  std::uint64_t types_;
  TraceTotals totals_;
  std::optional<LeftOut> left_out_ = first_left_out();
  std::uint64_t computes_ = trace_.rows(kComputePhases), exchanges_ = trace_.rows(kExchangePhases);
  WideColumn cycles_ = compute("cycles"), busy_ = compute("worker_busy"),
             issued_ = compute("instructions"), auxs_ = compute("aux_instructions"),
             amps_ = compute("amp_instructions"), loads_ = compute("load_instructions"),
             stores_ = compute("store_instructions"), branches_ = compute("branch_instructions");
  WideColumn moves_{trace_, kExchangePhases.path_of("cycles"), exchanges_, used_tiles_.size()};
  TraceRule &order_ = rule("start_cycle"), &tile_ = rule("tile"), &worker_ = rule("worker"),
            &step_ = rule("step"), &counted_ = rule("step"), &operation_ = rule("operation"),
            &type_ = rule("vertex_type"), &launch_ = rule("launch_cycle"),
            &start_ = rule("start_cycle"), &end_ = rule("cycles"),
            &instructions_ = rule("instructions"), &aux_ = rule("aux_instructions"),
            &amp_ = rule("amp_instructions"), &load_ = rule("load_instructions"),
            &store_ = rule("store_instructions"), &branch_ = rule("branch_instructions");
  TraceRule& all_ = findings_.rule(kSupersteps.path_of("instructions"));
  std::optional<VertexRow> before_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
      free_;                              ///< by tile and worker: when its last run ended
  std::uint64_t at_ = 0, superstep_ = 0;  ///< rows
};

}  // namespace

void check_vertices(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings) {
  const Hdf5File& file = trace.hdf5();
  if (!trace.has(kVertices) ||
      !sound.has_all(file, kVertices, kSupersteps, kProfileNumbers, kComputePhases, kExchangePhases,
                     kUsedTiles, kSteps, kVertexTypes, kLaunches, kTransfers)) {
    return;
  }
  const std::uint64_t rows = trace.rows(kVertices);
  TraceRule& superstep_of = findings.rule(kVertices.path_of("superstep"));
  RowsBySuperstep<kVertices> vertices(file, rows, 0);
  VertexCheck check(trace, findings);
  trace.for_each_superstep(0, trace.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
    const std::uint64_t before = vertices.next();
    const std::span<const VertexRow> of_superstep = vertices.of(superstep.row.number);
    superstep_of.check(vertices.next() == before + of_superstep.size(), before, [&] {
      return fmt::format("and those behind it do not ascend to {}", superstep.row.number);
    });
    check.add(superstep, of_superstep);
  });
  superstep_of.check(vertices.next() == rows, vertices.next(),
                     [] { return std::string("is behind the last superstep"); });
}

}  // namespace superstep
