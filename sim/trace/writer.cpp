#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "isa/timing.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

/// Tile profiles by content, each distinct one numbered in order of appearance. Keeps so many bytes
/// of them and then finds only those.
class ProfileStore {
 public:
  /// The number of an equal profile seen before, or empty.
  [[nodiscard]] std::optional<std::uint32_t> find(const std::vector<TilePhase>& profile) const {
    const auto [first, last] = known_.equal_range(hash(profile));
    for (auto it = first; it != last; ++it) {
      if (it->second.key == bytes(profile)) return it->second.number;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint32_t add(const std::vector<TilePhase>& profile) {
    const std::size_t size = profile.size() * sizeof(TilePhase);
    if (kept_ + size <= kMostKept) {
      known_.emplace(hash(profile), Known{std::string(bytes(profile)), count_});
      kept_ += size;
    }
    return count_++;
  }

 private:
  struct Known {
    std::string key;
    std::uint32_t number;
  };
  static constexpr std::size_t kMostKept = std::size_t{256} << 20;

  static std::string_view bytes(const std::vector<TilePhase>& profile) {
    return {reinterpret_cast<const char*>(profile.data()), profile.size() * sizeof(TilePhase)};
  }
  static std::size_t hash(const std::vector<TilePhase>& profile) {
    return std::hash<std::string_view>()(bytes(profile));
  }

  std::unordered_multimap<std::size_t, Known> known_;
  std::size_t kept_ = 0;
  std::uint32_t count_ = 0;
};

Hdf5File create_part(const std::filesystem::path& part) {
  try {
    return Hdf5File::create(part);
  } catch (const std::runtime_error&) {
    throw UserError(ExitCode::kUsage, {Problem{{part.string(), 0, 0}, "cannot be written"}});
  }
}

std::filesystem::path part_of(const std::filesystem::path& path) {
  std::filesystem::path part = path;
  return part += ".part";
}

/// Makes a dataset of numbers, known now.
template <class T>
void put(Hdf5File& file, const std::string& path, const std::vector<T>& values,
         std::vector<std::uint64_t> dims = {}) {
  if (dims.empty()) dims = {values.size()};
  file.make_dataset(path, fixed_layout(path, hdf5_type_of(T{}), std::move(dims)));
  if (!values.empty()) file.write(path, values.data());
  describe_dataset(file, path);
}

void put_text(Hdf5File& file, const std::string& path, const std::vector<std::string>& text) {
  file.write_text(path, text);
  describe_dataset(file, path);
}

/// One member of every element of a table.
template <class Row, class Get>
auto column_of(const std::vector<Row>& rows, const Get& get) {
  std::vector<std::decay_t<decltype(get(rows[0]))>> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(get(row));
  return values;
}

void write_machine(Hdf5File& file, const MachineConfig& machine) {
  std::vector<std::uint32_t> tile(machine.tiles()), row(tile), column(tile), lane(tile);
  for (std::uint32_t t = 0; t < tile.size(); ++t) {
    const TilePlace place = place_of(machine, TileId{t});
    tile[t] = t;
    row[t] = place.row;
    column[t] = place.column;
    lane[t] = place.lane;
  }
  put_text(file, "/machine/toml", {to_toml(machine)});
  put(file, "/machine/tile", tile);
  put(file, "/machine/row", row);
  put(file, "/machine/column", column);
  put(file, "/machine/lane", lane);
}

void write_program(Hdf5File& file, const ProgramImage& image) {
  put(file, "/program/used_tile",
      column_of(image.entries, [](const TileEntry& e) { return index(e.tile); }));
  std::vector<StepInfo> steps = image.info.steps;
  steps.emplace_back().name = kControlStep;
  const auto kinds = [&] {
    auto values =
        column_of(steps, [](const StepInfo& s) { return static_cast<std::uint8_t>(s.kind); });
    values.back() = 3;
    return values;
  };
  put(file, "/program/step/kind", kinds());
  put_text(file, "/program/step/name", column_of(steps, [](const StepInfo& s) { return s.name; }));
  put_text(file, "/program/step/operation",
           column_of(steps, [](const StepInfo& s) { return s.operation; }));
  put_text(file, "/program/step/source_file",
           column_of(steps, [](const StepInfo& s) { return s.source.file; }));
  put(file, "/program/step/source_line",
      column_of(steps, [](const StepInfo& s) { return s.source.line; }));
  put(file, "/program/step/source_column",
      column_of(steps, [](const StepInfo& s) { return s.source.column; }));
  put(file, "/program/step/flops", column_of(steps, [](const StepInfo& s) { return s.flops; }));
  put(file, "/program/step/exchange_bytes",
      column_of(steps, [](const StepInfo& s) { return s.exchange_bytes; }));
  put(file, "/program/step/bound_cycles",
      column_of(steps, [](const StepInfo& s) { return s.bound_cycles; }));

  const std::vector<TensorInfo>& tensors = image.info.tensors;
  put_text(file, "/program/tensor/name",
           column_of(tensors, [](const TensorInfo& t) { return t.name; }));
  put_text(file, "/program/tensor/type",
           column_of(tensors, [](const TensorInfo& t) { return t.type.text(); }));
  put(file, "/program/tensor/bytes",
      column_of(tensors, [](const TensorInfo& t) { return t.bytes; }));
  put(file, "/program/tensor/max_tile_bytes",
      column_of(tensors, [](const TensorInfo& t) { return t.max_tile_bytes; }));
  put_text(file, "/program/tensor/source_file",
           column_of(tensors, [](const TensorInfo& t) { return t.source.file; }));
  put(file, "/program/tensor/source_line",
      column_of(tensors, [](const TensorInfo& t) { return t.source.line; }));
}

void write_memory(Hdf5File& file, const ProgramImage& image) {
  const std::vector<MemoryCategory>& memory = image.info.memory;
  const std::size_t tiles = image.machine.tiles();
  std::vector<std::uint32_t> bytes(memory.size() * tiles, 0);
  for (std::size_t c = 0; c < memory.size(); ++c) {
    const auto& by_tile = memory[c].bytes_by_tile;
    SUPERSTEP_CHECK(by_tile.size() <= tiles, "memory of more tiles than the machine has");
    std::copy(by_tile.begin(), by_tile.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(c * tiles));
  }
  put_text(file, "/memory/category",
           column_of(memory, [](const MemoryCategory& m) { return m.name; }));
  put(file, "/memory/bytes", bytes, {memory.size(), tiles});
}

void write_root(Hdf5File& file, const ProgramImage& image, TraceLevel level) {
  const MachineConfig& machine = image.machine;
  file.set_attribute("/", "format", std::string(kTraceFormat));
  file.set_attribute("/", "format_version", std::string(kTraceVersion));
  file.set_attribute("/", "level", std::string(name_of(level)));
  file.set_attribute("/", "complete", std::uint64_t{0});
  file.set_attribute("/", "outcome", std::string("running"));
  file.set_attribute("/", "module", image.info.module);
  file.set_attribute("/", "machine", machine.name);
  file.set_attribute("/", "clock_hz", machine.tile.clock_hz);
  file.set_attribute("/", "tiles", std::uint64_t{machine.tiles()});
  file.set_attribute("/", "workers_per_tile", std::uint64_t{machine.tile.workers});
  file.set_attribute("/", "tile_memory_bytes", std::uint64_t{machine.tile.memory_bytes});
}

}  // namespace

struct TraceWriter::State {
  std::filesystem::path path;
  TraceLevel level;
  std::size_t used_tiles;
  Hdf5File file;
  TraceTotals totals;
  std::uint64_t pending_rows = 0;
  std::map<std::string, std::vector<std::byte>> pending;  ///< by dataset
  std::uint64_t pending_profiles = 0;
  ProfileStore profiles;

  State(std::filesystem::path p, TraceLevel l, const ProgramImage& image)
      : path(std::move(p)),
        level(l),
        used_tiles(image.entries.size()),
        file(create_part(part_of(path))),
        totals(image.info.steps.size() + 1) {}

  template <class T>
  void add(const std::string& dataset, T value) {
    std::vector<std::byte>& bytes = pending[dataset];
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }

  std::uint32_t profile_of(const std::vector<TilePhase>& tiles) {
    if (const auto known = profiles.find(tiles)) return *known;
    for (const TilePhase& phase : tiles) {
      add("/profiles/exchange_cycles", phase.exchange);
      add("/profiles/compute_cycles", phase.compute);
      add("/profiles/sync_cycles", phase.sync);
    }
    ++pending_profiles;
    return profiles.add(tiles);
  }

  void flush() {
    // Profiles first: a reader never sees a superstep whose profile is missing.
    for (const TraceColumn& column : trace_columns()) {
      if (column.path.starts_with("/profiles/")) append(column, pending_profiles);
    }
    for (const TraceColumn& column : trace_columns()) {
      if (column.path.starts_with("/supersteps/")) append(column, pending_rows);
    }
    pending_profiles = 0;
    pending_rows = 0;
    file.flush();
  }

  void append(const TraceColumn& column, std::uint64_t rows) {
    if (column.level > level) return;
    const std::string dataset(column.path);
    std::vector<std::byte>& bytes = pending[dataset];
    file.append(dataset, bytes.data(), rows);
    bytes.clear();
  }
};

TraceWriter::TraceWriter(std::filesystem::path path, TraceLevel level, const ProgramImage& image,
                         const std::map<std::string, std::string>& provenance)
    : state_(std::make_unique<State>(std::move(path), level, image)) {
  Hdf5File& file = state_->file;
  write_root(file, image, level);
  for (const std::string_view group : trace_groups()) file.make_group(std::string(group));
  for (const auto& [name, text] : provenance) file.set_attribute("/provenance", name, text);
  write_machine(file, image.machine);
  write_program(file, image);
  write_memory(file, image);
  for (const TraceColumn& column : trace_columns()) {
    if (!column.grows() || column.level > level) continue;
    const std::string dataset(column.path);
    Hdf5Layout layout{.type = column.type, .dims = {0}, .chunk_rows = kSuperstepChunk};
    if (column.axes == "profile used") {
      layout.dims.push_back(state_->used_tiles);
      layout.chunk_rows = kProfileChunk;
    }
    file.make_dataset(dataset, layout);
    describe_dataset(file, dataset);
  }
  file.start_swmr();
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::on_superstep(const SuperstepRecord& record) {
  State& state = *state_;
  SuperstepRow row;
  row.start_cycle = record.begin.value();
  row.step = record.step;
  row.exchange_step = record.exchange_step;
  row.exchange_cycles = record.exchange.value();
  row.compute_cycles = record.compute.value();
  row.sync_cycles = record.sync.value();
  row.host_cycles = record.host.value();
  row.critical_tile = index(record.critical);
  row.exchange_bytes = record.exchange_bytes;
  row.host_bytes = record.host_bytes;
  row.worker_instructions = record.worker_instructions;
  if (record.tiles != nullptr) {
    for (const TilePhase& phase : *record.tiles) {
      row.tile_cycles += phase.compute;
      row.peak_cycles = std::max<std::uint64_t>(row.peak_cycles, phase.compute);
    }
  }
  state.totals.add(row);
  if (state.level == TraceLevel::kSummary) return;
  if (state.level == TraceLevel::kTile) {
    SUPERSTEP_CHECK(record.tiles != nullptr && record.tiles->size() == state.used_tiles,
                    "a superstep without its tiles");
    row.profile = state.profile_of(*record.tiles);
  }
  SuperstepRow::for_each_column(row, [&](const char* name, auto value) {
    if (state.level == TraceLevel::kTile || std::string_view(name) != "profile") {
      state.add(fmt::format("/supersteps/{}", name), value);
    }
  });
  if (++state.pending_rows == kSuperstepChunk) state.flush();
}

void TraceWriter::finish(const RunResult& result,
                         const std::map<std::string, std::string>& provenance) {
  State& state = *state_;
  if (state.level != TraceLevel::kSummary) state.flush();
  state.file.close();
  const std::filesystem::path part = part_of(state.path);
  TraceEnd end;
  end.outcome = result.trap ? "trap" : result.interrupted ? "interrupted" : "ok";
  if (result.trap) end.trap = result.trap->text();
  end.provenance = provenance;
  repack_trace(Hdf5File::open(part, Hdf5File::Access::kRead), state.totals, end, state.path);
  std::filesystem::remove(part);
}

}  // namespace superstep
