#include "report/export/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "report/export/host_tracks.h"
#include "report/export/perfetto_writer.h"
#include "report/export/program_track.h"
#include "report/export/worker_tracks.h"
#include "report/numbers.h"
#include "sim/trace/progress.h"
#include "sim/trace/schema.h"
#include "sim/trace/wide_column.h"

namespace superstep {
namespace {

using Track = PerfettoWriter::Track;

/// A counter, of which only changes are written.
template <class T>
class Counter {
 public:
  Counter(PerfettoWriter& writer, std::string_view name, Track parent, std::string_view unit)
      : writer_(writer), track_(writer.counter(name, parent, unit)) {}

  void set(std::uint64_t at, T value) {
    if (value_ == value) return;
    writer_.count(track_, at, value);
    value_ = value;
  }

 private:
  PerfettoWriter& writer_;
  Track track_;
  std::optional<T> value_;
};

double rate(std::uint64_t amount, std::uint64_t cycles) {
  return cycles == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(cycles);
}

/// Writes an export; what is left out is noted on the way.
class PerfettoExport {
 public:
  PerfettoExport(const TraceFile& trace, const ExportRequest& request, const ExportSink& sink)
      : trace_(trace),
        request_(request),
        writer_(sink),
        rows_(rows_in(trace, request.window)),
        used_tiles_(trace.read(kUsedTiles)),
        tree_(trace),
        root_(read_attributes(trace.hdf5(), kRootAttributes)) {}

  std::vector<std::string> write() {
    if (request_.tiles) check_tiles(*request_.tiles);
    const Track chip =
        writer_.track(fmt::format("{} on {}: 1 ns is 1 tile cycle at {} GHz", root_.module,
                                  root_.machine, root_.clock_hz / 1e9),
                      0, "All times are cycles of the tile clock, from the begin of the run.");
    write_supersteps(chip);
    if (trace_.has(kProfileNumbers)) write_tiles(chip);
    write_attributes();
    return left_out_;
  }

 private:
  void check_tiles(const std::vector<std::uint32_t>& tiles) const {
    if (!trace_.has(kProfileNumbers)) not_at_level(trace_, "rows of tiles", kProfileNumbers.level);
    for (const std::uint32_t tile : tiles) {
      if (column_of(tile)) continue;
      throw UserError(ExitCode::kUsage, {{{trace_.path().string(), 0, 0},
                                          fmt::format("has no program on tile {}", tile)}});
    }
  }

  /// Where a tile is among those with a program.
  [[nodiscard]] std::optional<std::size_t> column_of(std::uint32_t tile) const {
    const auto found = std::ranges::find(used_tiles_, tile,
                                         [](const TileEntry& entry) { return index(entry.tile); });
    if (found == used_tiles_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - used_tiles_.begin());
  }

  void write_supersteps(Track chip) {
    ProgramTrack program(writer_, writer_.track("Program", chip, kProgramNote), tree_);
    const Track supersteps = writer_.track("Supersteps", chip);
    const Track phases = writer_.track("Phases", chip);
    Counter<std::uint64_t> active(writer_, "Active tiles", chip, "tiles");
    Counter<std::uint64_t> live(writer_, "Live memory", chip, "B");
    Counter<double> exchanged(writer_, "Exchanged", chip, "B/cycle");
    Counter<double> computed(writer_, "Computed", chip, "FLOP/cycle");
    const Track events = writer_.track("Events", chip);
    HostTracks host(writer_, trace_);
    std::optional<std::uint64_t> begin;
    std::uint64_t end = 0, behind = rows_.count;
    trace_.for_each_superstep(rows_.first, rows_.count, [&](const SuperstepInFile& superstep) {
      if (is_full(superstep.row.number, "supersteps")) return;
      const SuperstepRow& row = superstep.row;
      const std::uint64_t at = row.begin.value();
      const std::uint64_t device = (row.exchange + row.compute + row.sync).value();
      if (!begin) begin = at;
      end = at + device + row.host.value();
      critical_cycles_[index(row.critical)] += device;
      std::vector<PerfettoFlow> flows = host.arrows_into_superstep();
      const auto from_visit = host.arrows_from_visit(superstep.transfers);
      flows.insert(flows.end(), from_visit.begin(), from_visit.end());
      program.add(superstep);
      write_superstep(supersteps, row, end, flows);
      write_phases(phases, row);
      host.add(superstep.transfers, --behind != 0);
      active.set(at, row.active_tiles);
      live.set(at, row.live_bytes);
      exchanged.set(at, rate(row.exchange_bytes, row.exchange.value()));
      if (row.exchange.value() != 0) exchanged.set(at + row.exchange.value(), 0);
      computed.set(at, rate(row.flops, device));
    });
    program.finish(end);
    active.set(end, 0);
    exchanged.set(end, 0);
    computed.set(end, 0);
    for (const TraceEvent& event : read_events(trace_.hdf5())) {
      const std::uint64_t at = event.cycle.value();
      if (request_.window && (at < begin.value_or(end) || at > end)) continue;
      const PerfettoArgument arguments[] = {{"text", event.text}};
      writer_.instant(events, at, name_of(event.kind), arguments);
    }
  }

  /// Whether there are slices enough; then what is left out is noted once.
  bool is_full(std::uint64_t superstep, std::string_view what) {
    const bool full = writer_.slices() >= request_.most_slices;
    if (full && noted_ != what) {
      left_out_.push_back(fmt::format(
          "{} from superstep {} on are left out: there are {} slices; --window shows others", what,
          superstep, grouped(writer_.slices())));
      noted_ = what;
    }
    return full;
  }

  void write_superstep(Track track, const SuperstepRow& row, std::uint64_t end,
                       std::span<const PerfettoFlow> flows) {
    const double most = static_cast<double>(row.compute_max * used_tiles_.size());
    const PerfettoArgument arguments[] = {
        {"superstep", row.number},
        {"call", std::uint64_t{row.call}},
        {"trip", row.trip},
        {"critical_tile", std::uint64_t{index(row.critical)}},
        {"active_tiles", std::uint64_t{row.active_tiles}},
        {"balance", most == 0 ? 1 : static_cast<double>(row.compute_sum) / most},
        {"h_bytes", row.h_bytes},
        {"bytes_sent", row.exchange_bytes},
        {"messages", std::uint64_t{row.messages}},
        {"host_bytes", row.host_bytes},
        {"flops", row.flops},
        {"instructions", row.worker_instructions.all}};
    writer_.begin(track, row.begin.value(), tree_.step(row.step).name, arguments, flows);
    writer_.end(track, end);
  }

  void write_phases(Track track, const SuperstepRow& row) {
    std::uint64_t at = row.begin.value();
    const auto add = [&](std::string_view name, Cycles cycles) {
      add_slice(track, at, name, cycles.value());
    };
    add("exchange", row.exchange);
    add("compute", row.compute);
    add("sync", row.sync);
    add("host", row.host);
  }

  /// Adds a slice, if it takes a cycle, and moves `at` to its end.
  void add_slice(Track track, std::uint64_t& at, std::string_view name, std::uint64_t cycles) {
    if (cycles == 0) return;
    writer_.begin(track, at, name);
    at += cycles;
    writer_.end(track, at);
  }

  /// The tiles that are critical for most cycles of the supersteps, the first of them first.
  [[nodiscard]] std::vector<std::uint32_t> critical_tiles() const {
    constexpr std::size_t kMost = 8;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> tiles;
    for (const auto& tile : critical_cycles_) {
      if (tile.second != 0 && column_of(tile.first)) tiles.emplace_back(tile);
    }
    std::ranges::stable_sort(tiles, std::greater(),
                             &std::pair<std::uint32_t, std::uint64_t>::second);
    if (tiles.size() > kMost) tiles.resize(kMost);
    std::vector<std::uint32_t> numbers;
    for (const auto& [tile, cycles] : tiles) numbers.push_back(tile);
    return numbers;
  }

  void write_tiles(Track chip) {
    const std::vector<std::uint32_t> tiles = request_.tiles ? *request_.tiles : critical_tiles();
    const Track parent = writer_.track("Tiles", chip);
    std::vector<Track> tracks;
    std::vector<std::size_t> columns;
    for (const std::uint32_t tile : tiles) {
      tracks.push_back(writer_.track(fmt::format("Tile {}", tile), parent));
      columns.push_back(*column_of(tile));
    }
    const auto column = [&](const auto& table, std::string_view name) {
      return WideColumn(trace_, table.path_of(name), trace_.rows(table), used_tiles_.size());
    };
    WideColumn exchange = column(kExchangePhases, "cycles");
    WideColumn compute = column(kComputePhases, "cycles");
    WideColumn wait = column(kComputePhases, "wait_cycles");
    std::optional<WorkerTracks> workers;
    if (trace_.has(kVertices)) workers.emplace(writer_, trace_, tree_, rows_.first, tiles, tracks);
    trace_.for_each_superstep(rows_.first, rows_.count, [&](const SuperstepInFile& superstep) {
      const ProfileNumbers& profiles = *superstep.profiles;
      if (is_full(superstep.row.number, "tiles")) return;
      if (workers) workers->add(superstep.row.number);
      // Behind the size limit of the trace there are none.
      if (profiles.compute >= trace_.rows(kComputePhases) ||
          profiles.exchange >= trace_.rows(kExchangePhases)) {
        return;
      }
      for (std::size_t t = 0; t < tracks.size(); ++t) {
        std::uint64_t at = superstep.row.begin.value();
        add_slice(tracks[t], at, "exchange", exchange.row(profiles.exchange)[columns[t]]);
        add_slice(tracks[t], at, "compute", compute.row(profiles.compute)[columns[t]]);
        add_slice(tracks[t], at, "wait", wait.row(profiles.compute)[columns[t]]);
      }
    });
  }

  void write_attributes() {
    const std::string prefix = "org.superstep.";
    const auto add = [&](std::string_view name, std::string_view text) {
      writer_.attribute(prefix + std::string(name), text);
    };
    add("time_unit", "1 ns is 1 tile cycle");
    add("clock_hz", fmt::format("{}", root_.clock_hz));
    add("module", root_.module);
    add("machine", root_.machine);
    add("outcome", root_.outcome);
    add("trace_format", root_.format_version);
    std::string left_out;
    for (const std::string& sentence : left_out_) {
      left_out += (left_out.empty() ? "" : ". ") + sentence;
    }
    if (!left_out.empty()) add("left_out", left_out);
  }

  static constexpr std::string_view kProgramNote =
      "What the critical tile of each superstep runs. A step that it launches several times in one "
      "superstep is one slice.";

  const TraceFile& trace_;
  const ExportRequest& request_;
  PerfettoWriter writer_;
  SuperstepRows rows_;
  std::vector<TileEntry> used_tiles_;
  ProgramTree tree_;
  RootRow root_;
  std::map<std::uint32_t, std::uint64_t> critical_cycles_;
  std::vector<std::string> left_out_;
  std::string_view noted_;
};

}  // namespace

std::vector<std::string> write_perfetto(const TraceFile& trace, const ExportRequest& request,
                                        const ExportSink& sink) {
  std::vector<std::string> left_out;
  guard_trace(trace.path(), [&] { left_out = PerfettoExport(trace, request, sink).write(); });
  return left_out;
}

}  // namespace superstep
