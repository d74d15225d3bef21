#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "base/output_file.h"
#include "sim/trace/recorder.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
#include "sim/trace/tables.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

/// Rows of numbers by content, each distinct one numbered in order of appearance. Keeps so many
/// bytes of them and then finds only those.
class ProfileStore {
 public:
  using Row = std::vector<std::uint32_t>;

  /// The number of an equal row seen before, or empty.
  [[nodiscard]] std::optional<std::uint32_t> find(const Row& row) const {
    const auto it = known_.find(std::string_view(bytes(row)));
    if (it == known_.end()) return std::nullopt;
    return it->second;
  }

  [[nodiscard]] std::uint32_t add(const Row& row) {
    const std::size_t size = row.size() * sizeof(Row::value_type);
    if (kept_ + size <= kMostKept) {
      known_.emplace(bytes(row), count_);
      kept_ += size;
    }
    return count_++;
  }
  [[nodiscard]] std::uint32_t size() const { return count_; }

 private:
  static constexpr std::size_t kMostKept = std::size_t{128} << 20;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  static std::string_view bytes(const Row& row) {
    return {reinterpret_cast<const char*>(row.data()), row.size() * sizeof(Row::value_type)};
  }

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
  std::size_t kept_ = 0;
  std::uint32_t count_ = 0;
};

/// The `.part` of a trace: no link, which would be followed to a file of somebody else.
const std::filesystem::path& own_file(const std::filesystem::path& part) {
  std::error_code none;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(part, none))) {
    throw InputOutputError(part.string(), "is a link, where the unfinished trace goes");
  }
  return part;
}

/// A group of columns that get a row now and then, and what is not in the file yet.
class GrowingTable {
 public:
  explicit GrowingTable(std::string group) : group_(std::move(group)) {}

  /// Adds a row but for the columns whose names `skips` is true for.
  template <class Row, class Skip>
  void add(const Row& row, const Skip& skips) {
    std::size_t next = 0;
    Row::for_each_column(row, [&](const char* name, const auto& value) {
      if (skips(std::string_view(name))) return;
      if (next == columns_.size()) columns_.push_back({group_ + name, {}, sizeof value});
      std::vector<std::byte>& bytes = columns_[next++].bytes;
      const auto* data = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), data, data + sizeof value);
    });
  }
  template <class Row>
  void add(const Row& row) {
    add(row, [](std::string_view) { return false; });
  }

  void flush(Hdf5File& file) {
    for (Column& column : columns_) {
      file.append(column.path, column.bytes.data(), column.bytes.size() / column.size);
      column.bytes.clear();
    }
  }

 private:
  struct Column {
    std::string path;
    std::vector<std::byte> bytes;
    std::size_t size;
  };
  std::string group_;
  std::vector<Column> columns_;
};

}  // namespace

struct TraceWriter::State {
  std::filesystem::path path, part;
  TraceOptions options;
  std::shared_ptr<FileLock> lock;
  std::size_t used_tiles;
  RunRecorder recorder;
  /// In place once readers may follow: until then an earlier file of this name stays.
  OutputFile unfinished;
  Hdf5File file;
  std::uint64_t rows = 0;
  GrowingTable supersteps{"/supersteps/"}, launches{"/launches/"}, transfers{"/host/"},
      events{"/events/"};
  std::uint64_t transfer_count = 0;
  std::uint32_t event_count = 0;
  std::map<std::string, std::vector<std::uint64_t>> pending_profiles;  ///< by dataset
  ProfileStore compute_profiles, exchange_profiles;
  std::vector<std::uint64_t> profiles_by_step;
  std::vector<std::uint8_t> direction_by_stream;
  std::vector<TilePeak> tile_peaks;  ///< by tile of the machine
  ProfileStore::Row row;             ///< scratch
  bool keeps_profiles;
  bool is_warned = false;

  State(std::filesystem::path p, const TraceOptions& o, const ProgramImage& image)
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
        keeps_profiles(o.level == TraceLevel::kTile) {
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

  void add_event(TraceEvent::Kind kind, Cycles cycle, std::int32_t tile, const std::string& text) {
    recorder.add_event({kind, cycle, tile, text});
  }

  /// Those that are not in the file yet.
  void flush_events() {
    for (; event_count < recorder.events().size(); ++event_count) {
      const TraceEvent& event = recorder.events()[event_count];
      EventRow row{.number = event_count,
                   .cycle = event.cycle.value(),
                   .kind = static_cast<std::uint8_t>(event.kind),
                   .tile = event.tile,
                   .text = {}};
      std::ranges::copy(event.text, row.text.begin());
      events.add(row);
    }
    events.flush(file);
  }

  /// The number of the profile whose columns the superstep's tiles have: equal ones are one.
  std::uint32_t profile(const std::vector<TilePhase>& tiles, std::span<const ProfileColumn> columns,
                        ProfileStore& store, const char* scale, std::uint32_t step) {
    row.clear();
    std::uint64_t any = 0;
    const auto add_words = [&](unsigned shift) {
      for (const TilePhase& phase : tiles) {
        for (const ProfileColumn& column : columns) {
          any |= phase.*column.member;
          row.push_back(static_cast<std::uint32_t>(phase.*column.member >> shift));
        }
      }
    };
    // Equal rows are found by their low words where those are all there is.
    add_words(0);
    if (any >> 32 != 0) add_words(32);
    if (const auto known = store.find(row)) return *known;
    const std::uint32_t number = store.add(row);
    pending_profiles[scale].push_back(number);
    for (const ProfileColumn& column : columns) {
      std::vector<std::uint64_t>& pending = pending_profiles[std::string(column.path)];
      for (const TilePhase& phase : tiles) pending.push_back(phase.*column.member);
    }
    ++profiles_by_step[std::min<std::size_t>(step, profiles_by_step.size() - 1)];
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
  /// number of supersteps only, so that the file does not depend on the host.
  [[nodiscard]] bool flush_is_due() const {
    if (rows <= 64) return std::has_single_bit(rows);
    if (rows <= 4 * kSuperstepChunk) return rows % 64 == 0;
    return rows % kSuperstepChunk == 0;
  }

  void flush() {
    // Supersteps last: a reader never sees one whose profile or launches are missing.
    for (auto& [dataset, values] : pending_profiles) {
      const bool is_matrix = trace_column(dataset).axes.ends_with("used_tile");
      if (!is_matrix) {
        const std::vector<std::uint32_t> numbers(values.begin(), values.end());
        file.append(dataset, numbers.data(), numbers.size());
      } else if (used_tiles != 0) {
        file.append(dataset, values.data(), values.size() / used_tiles);
      }
      values.clear();
    }
    flush_events();
    for (GrowingTable* table : {&launches, &transfers, &supersteps}) table->flush(file);
    file.flush();
    if (!keeps_profiles || std::filesystem::file_size(part) < options.max_bytes) return;
    keeps_profiles = false;
    add_event(TraceEvent::Kind::kLimit, recorder.totals().run.cycles, -1,
              fmt::format("the file has its limit of {} B: no more rows of tiles, most are of {}",
                          options.max_bytes, most_varied_step()));
  }

  /// Writes what is known before the run; from then on readers may follow.
  void begin(const ProgramImage& image, const Provenance& provenance);

  void close(const TraceEnd& end) {
    flush();
    flush_events();
    file.close();
    repack_trace(Hdf5File::open(part, Hdf5File::Access::kRead), recorder.totals(), end,
                 options.report, path);
    std::filesystem::remove(part);
  }
};

std::filesystem::path trace_part(const std::filesystem::path& path) {
  return link_target(path) += ".part";
}

TraceWriter::TraceWriter(std::filesystem::path path, const TraceOptions& options,
                         const ProgramImage& image, const Provenance& provenance)
    : state_(std::make_unique<State>(std::move(path), options, image)) {
  state_->begin(image, provenance);
}

void TraceWriter::State::begin(const ProgramImage& image, const Provenance& provenance) {
  for (const std::string_view group : trace_groups()) file.make_group(std::string(group));
  for (const auto& [name, value] : provenance) file.set_attribute("/provenance", name, value);
  write_tables(file, image, options);
  for (const TraceColumn& column : trace_columns()) {
    if (!column.grows() || !keeps(column)) continue;
    const std::string dataset(column.path);
    Hdf5Layout layout = growing_layout(column);
    if (column.axes.ends_with("used_tile")) layout.dims.push_back(used_tiles);
    file.make_dataset(dataset, layout);
    describe_dataset(file, dataset);
  }
  file.start_swmr();
  unfinished.commit();
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::on_superstep(const SuperstepRecord& record) {
  State& state = *state_;
  SuperstepRow row = state.recorder.add(record);
  for (const LaunchRow& launch : state.recorder.launches()) state.launches.add(launch);
  for (const HostTransfer& transfer : record.transfers) {
    state.transfers.add(TransferRow{.number = state.transfer_count++,
                                    .superstep = record.number,
                                    .stream = transfer.stream,
                                    .direction = state.direction_by_stream.at(transfer.stream),
                                    .bytes = transfer.bytes,
                                    .start_cycle = (record.begin + transfer.begin).value(),
                                    .cycles = (transfer.end - transfer.begin).value()});
  }
  const bool has_tiles = state.options.level == TraceLevel::kTile;
  if (has_tiles) {
    SUPERSTEP_CHECK(record.tiles != nullptr && record.tiles->size() == state.used_tiles,
                    "a superstep without its tiles");
    row.compute_profile = row.exchange_profile = kNoProfile;
    if (state.keeps_profiles) {
      row.compute_profile = state.profile(*record.tiles, kComputeProfile, state.compute_profiles,
                                          "/profiles/compute/profile", record.step);
      row.exchange_profile = state.profile(*record.tiles, kExchangeProfile, state.exchange_profiles,
                                           "/profiles/exchange/profile", record.exchange_step);
      state.warn_if_rows_differ(record.end);
    }
  }
  state.supersteps.add(
      row, [&](std::string_view name) { return !has_tiles && name.ends_with("_profile"); });
  ++state.rows;
  if (state.flush_is_due()) state.flush();
}

const RunRecorder& TraceWriter::recorder() const { return state_->recorder; }

void TraceWriter::finish(const RunResult& result, const Provenance& provenance) {
  TraceEnd end;
  end.outcome = outcome_of(result);
  end.provenance = provenance;
  if (result.trap) end.trap = result.trap->text();
  state_->recorder.finish(result);
  state_->close(end);
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
  state_->close(end);
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
