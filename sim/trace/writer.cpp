#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "sim/trace/detail_rows.h"
#include "sim/trace/recorder.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"
#include "sim/trace/tables.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

/// Profiles of one kind: a row of every tile's phase, those that are equal stored once.
template <const auto& kNumbers, const auto& kPhases>
class Profiles {
 public:
  /// The number of the profile of the tiles: that of an equal one, or the next.
  std::uint32_t add(const std::vector<TilePhase>& tiles) {
    words_.clear();
    std::uint64_t any = 0;
    const auto add_words = [&](unsigned shift) {
      for (const TilePhase& phase : tiles) {
        kPhases.for_each_column([&](const auto& column) {
          const std::uint64_t value = stored_value(column, phase, 0);
          any |= value;
          words_.push_back(static_cast<std::uint32_t>(value >> shift));
        });
      }
    };
    // Equal rows are found by their low words where those are all there is.
    add_words(0);
    if (any >> 32 != 0) add_words(32);
    const std::string_view bytes(reinterpret_cast<const char*>(words_.data()),
                                 words_.size() * sizeof(std::uint32_t));
    if (const auto known = known_.find(bytes); known != known_.end()) return known->second;
    const std::uint32_t number = size();
    if (kept_ + bytes.size() <= kMostKept) {
      known_.emplace(bytes, number);
      kept_ += bytes.size();
    }
    numbers_.add({});
    for (const TilePhase& phase : tiles) phases_.add(phase);
    return number;
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(numbers_.rows()); }

  void flush(Hdf5File& file, std::size_t tiles) {
    numbers_.flush(file);
    phases_.flush(file, tiles);
  }

 private:
  /// Of so many bytes of rows equal ones are found.
  static constexpr std::size_t kMostKept = std::size_t{128} << 20;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  GrowingTable<kNumbers> numbers_;
  GrowingTable<kPhases> phases_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
  std::size_t kept_ = 0;
  std::vector<std::uint32_t> words_;  ///< scratch
};

std::optional<struct stat> status_of(const std::filesystem::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// The `.part` of a trace: no link, which would be followed to a file of somebody else.
const std::filesystem::path& own_file(const std::filesystem::path& part) {
  std::error_code none;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(part, none))) {
    throw InputOutputError(part.string(), "is a link, where the unfinished trace goes");
  }
  return part;
}

}  // namespace

struct TraceWriter::State {
  /// Rows of levels below tile that are not in the file.
  static constexpr std::uint64_t kMostPending = std::uint64_t{1} << 18;

  std::filesystem::path path, part;
  TraceOptions options;
  std::shared_ptr<FileLock> lock;
  std::size_t used_tiles;
  RunRecorder recorder;
  /// In place once readers may follow: until then an earlier file of this name stays.
  OutputFile unfinished;
  Hdf5File file;
  std::optional<struct stat> own;  ///< of the file, at `part`
  std::uint64_t rows = 0;
  GrowingTable<kSupersteps> supersteps;
  GrowingTable<kProfileNumbers> profile_numbers;
  GrowingTable<kLaunches> launches;
  GrowingTable<kVertices> vertices;
  GrowingTable<kInstructions> instructions;
  GrowingTable<kTransfers> transfers;
  GrowingTable<kEvents> events;
  Profiles<kComputeProfiles, kComputePhases> compute_profiles;
  Profiles<kExchangeProfiles, kExchangePhases> exchange_profiles;
  std::vector<std::uint64_t> profiles_by_step;
  std::vector<std::uint8_t> direction_by_stream;
  std::vector<TilePeak> tile_peaks;  ///< by tile of the machine
  std::optional<DetailRows> detail;  ///< at levels below tile
  std::uint64_t detail_in_file = 0;  ///< rows
  bool keeps_tiles;                  ///< what level tile and those below it add
  bool is_warned = false, has_left_out_runs = false, has_left_out_instructions = false;

  State(const std::filesystem::path& p, const TraceOptions& o, const ProgramImage& image)
      : path(link_target(p)),
        part(trace_part(path)),
        options(o),
        lock(o.lock ? o.lock : std::make_shared<FileLock>(checked(path))),
        used_tiles(image.entries.size()),
        recorder(image, options),
        unfinished(own_file(part)),
        file(Hdf5File::create(unfinished.temporary(), part)),
        profiles_by_step(recorder.steps().size()),
        tile_peaks(image.info.tile_peaks),
        keeps_tiles(o.level >= TraceLevel::kTile) {
    if (o.level >= TraceLevel::kVertex) detail.emplace(image, o);
    for (const Stream& stream : image.streams) {
      direction_by_stream.push_back(direction_of(stream));
    }
  }

  static const std::filesystem::path& checked(const std::filesystem::path& path) {
    check_output(path);
    return path;
  }

  /// While the run lasts every level keeps supersteps, so that a killed one can be summed up.
  [[nodiscard]] bool keeps(const TraceColumn& column) const {
    return column.level <= std::max(options.level, TraceLevel::kSuperstep);
  }

  /// Rows of levels below tile, of a superstep that has ended.
  void add_detail(const SuperstepRecord& record) {
    const DetailRows::Rows rows = detail->take(record.number);
    if (!keeps_tiles) return;
    add_pieces(rows.vertices, vertices);
    add_pieces(rows.instructions, instructions);
    if (rows.has_too_many_runs && !std::exchange(has_left_out_runs, true))
      say_left_out(record, options.most_worker_runs, kWorkerRuns);
    if (rows.has_too_many_instructions && !std::exchange(has_left_out_instructions, true))
      say_left_out(record, options.most_instructions, kInstructionsIssued);
  }

  /// Readers pass over those of a superstep that is not in the file yet.
  template <class Row>
  void add_pieces(const std::vector<Row>& rows, auto& table) {
    for (const Row& row : rows) {
      table.add(row);
      if (table.rows() % kMostPending == 0) table.flush(file);
    }
  }

  void say_left_out(const SuperstepRecord& record, std::uint64_t most, std::string_view what) {
    add_event(TraceEvent::Kind::kLimit, record.begin, -1, text_of({record.number, most}, what));
  }

  void warn_if_window_is_empty() {
    if (!detail || !keeps_tiles || options.window.is_everything() || vertices.rows() > 0) return;
    add_event(TraceEvent::Kind::kWarning, recorder.totals().run.cycles, -1,
              fmt::format("no worker ran in the window of the trace; the run has {} supersteps",
                          recorder.totals().run.supersteps));
  }

  void add_event(TraceEvent::Kind kind, Cycles cycle, std::int32_t tile, const std::string& text) {
    recorder.add_event({kind, cycle, tile, text});
  }

  /// Those that are not in the file yet.
  void flush_events() {
    const std::vector<TraceEvent>& all = recorder.events();
    while (events.rows() < all.size()) events.add(all[events.rows()]);
    events.flush(file);
  }

  /// The number of the profile of a superstep's tiles, which belongs to a step.
  std::uint32_t profile(const std::vector<TilePhase>& tiles, auto& profiles, std::uint32_t step) {
    const std::uint32_t before = profiles.size(), number = profiles.add(tiles);
    if (profiles.size() != before) {
      ++profiles_by_step[std::min<std::size_t>(step, profiles_by_step.size() - 1)];
    }
    return number;
  }

  /// The step whose supersteps repeat least.
  [[nodiscard]] const std::string& most_varied_step() const {
    const auto most = std::ranges::max_element(profiles_by_step);
    return recorder.steps()[static_cast<std::size_t>(most - profiles_by_step.begin())].name;
  }

  void warn_if_rows_differ(Cycles cycle) {
    constexpr std::uint64_t kMany = 2048;
    if (is_warned || compute_profiles.size() < kMany || 2 * compute_profiles.size() < rows) return;
    is_warned = true;
    add_event(TraceEvent::Kind::kWarning, cycle, -1,
              fmt::format("rows of tiles rarely repeat, most of them in {}: the file grows fast",
                          most_varied_step()));
  }

  /// Often while there is little, so that a run that is killed early leaves something; by the
  /// number of supersteps and rows only, so that the file does not depend on the host.
  [[nodiscard]] bool flush_is_due() const {
    // There may be many rows of one superstep.
    if (vertices.rows() + instructions.rows() - detail_in_file >= kMostPending) return true;
    if (rows <= 64) return std::has_single_bit(rows);
    if (rows <= 4 * kSuperstepChunk) return rows % 64 == 0;
    return rows % kSuperstepChunk == 0;
  }

  void flush() {
    // Supersteps last: a reader never sees one whose profile or launches are missing.
    compute_profiles.flush(file, used_tiles);
    exchange_profiles.flush(file, used_tiles);
    flush_events();
    vertices.flush(file);
    instructions.flush(file);
    detail_in_file = vertices.rows() + instructions.rows();
    launches.flush(file);
    transfers.flush(file);
    profile_numbers.flush(file);
    supersteps.flush(file);
    file.flush();
    if (!keeps_tiles || file.file_bytes() < options.max_bytes) return;
    keeps_tiles = false;
    add_event(TraceEvent::Kind::kLimit, recorder.totals().run.cycles, -1,
              fmt::format("the file has its limit of {} B: no more rows of tiles, most are of {}",
                          options.max_bytes, most_varied_step()));
  }

  /// Writes what is known before the run; from then on readers may follow.
  void begin(const ProgramImage& image, const Provenance& provenance);

  void close(const TraceEnd& end) {
    flush();
    flush_events();
    if (is_own()) {
      file.close();
      repack_trace(Hdf5File::open(part, Hdf5File::Access::kRead), recorder.totals(), end,
                   options.report, path);
    } else {
      // Another process took the file's name away; it is open still.
      repack_trace(file, recorder.totals(), end, options.report, path);
    }
    std::error_code none;
    if (is_own()) std::filesystem::remove(part, none);
  }

  /// Does what reads the unfinished file back, as the library does to add to it.
  template <class Body>
  void with_file(const Body& body) {
    try {
      body();
    } catch (const Hdf5Error& error) {
      throw InputOutputError(
          part.string(),
          fmt::format("does not hold what the run has written there, as when another process "
                      "writes the file: {}",
                      error.what()));
    }
  }

  /// Whether the file at `part` is that of this run.
  [[nodiscard]] bool is_own() const {
    const std::optional<struct stat> now = status_of(part);
    return now && own && now->st_dev == own->st_dev && now->st_ino == own->st_ino;
  }
};

std::filesystem::path trace_part(const std::filesystem::path& path) {
  return link_target(path) += ".part";
}

TraceWriter::TraceWriter(const std::filesystem::path& path, const TraceOptions& options,
                         const ProgramImage& image, const Provenance& provenance)
    : state_(std::make_unique<State>(path, options, image)) {
  state_->begin(image, provenance);
}

void TraceWriter::State::begin(const ProgramImage& image, const Provenance& provenance) {
  for (const std::string& group : trace_groups()) file.make_group(group);
  for (const auto& [name, value] : provenance) file.set_attribute("/provenance", name, value);
  write_tables(file, image, options);
  for (const TraceColumn& column : trace_columns()) {
    if (column.grows && keeps(column)) make_unfinished(file, column, used_tiles);
  }
  file.start_swmr();
  unfinished.commit();
  own = status_of(part);
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::on_superstep(const SuperstepRecord& record) {
  State& state = *state_;
  state.supersteps.add(state.recorder.add(record));
  for (const LaunchRow& launch : state.recorder.launches()) state.launches.add(launch);
  for (const HostTransfer& transfer : record.transfers) {
    state.transfers.add({.superstep = record.number,
                         .stream = transfer.stream,
                         .direction = state.direction_by_stream.at(transfer.stream),
                         .bytes = transfer.bytes,
                         .packets = transfer.packets,
                         .start = record.begin + transfer.begin,
                         .length = transfer.end - transfer.begin});
  }
  if (state.detail) state.with_file([&] { state.add_detail(record); });
  if (state.options.level >= TraceLevel::kTile) {
    SUPERSTEP_CHECK(record.tiles != nullptr && record.tiles->size() == state.used_tiles,
                    "a superstep without its tiles");
    ProfileNumbers numbers{kNoProfile, kNoProfile};
    if (state.keeps_tiles) {
      numbers.compute = state.profile(*record.tiles, state.compute_profiles, record.step);
      numbers.exchange =
          state.profile(*record.tiles, state.exchange_profiles, record.exchange_step);
      state.warn_if_rows_differ(record.end);
    }
    state.profile_numbers.add(numbers);
  }
  ++state.rows;
  if (state.flush_is_due()) state.with_file([&] { state.flush(); });
}

Observer* TraceWriter::observer() { return state_->detail ? &*state_->detail : nullptr; }

const RunRecorder& TraceWriter::recorder() const { return state_->recorder; }

void TraceWriter::finish(const RunResult& result, const Provenance& provenance) {
  TraceEnd end;
  end.outcome = outcome_of(result);
  end.provenance = provenance;
  if (result.trap) {
    end.trap = result.trap->text();
    end.trap_kind = name_of(result.trap->kind);
  }
  state_->recorder.finish(result);
  state_->warn_if_window_is_empty();
  state_->with_file([&] { state_->close(end); });
}

void TraceWriter::finish_unrun() {
  TraceEnd end;
  end.outcome = "oom";
  const auto fullest = std::ranges::max_element(state_->tile_peaks, {}, &TilePeak::bytes);
  if (fullest != state_->tile_peaks.end()) {
    const auto tile = static_cast<std::int32_t>(fullest - state_->tile_peaks.begin());
    state_->add_event(TraceEvent::Kind::kOom, {}, tile,
                      fmt::format("does not fit: tile {} needs {} B in {}", tile, fullest->bytes,
                                  state_->recorder.steps()[fullest->step].name));
  }
  state_->with_file([&] { state_->close(end); });
}

void write_memory_trace(const std::filesystem::path& path, const TraceOptions& options,
                        const MachineConfig& machine, const ProgramInfo& info,
                        const Provenance& provenance) {
  ProgramImage image;
  image.machine = machine;
  image.info = info;
  TraceOptions unrun = options;
  unrun.level = TraceLevel::kSummary;
  unrun.calls = 0;
  TraceWriter(path, unrun, image, provenance).finish_unrun();
}

}  // namespace superstep
