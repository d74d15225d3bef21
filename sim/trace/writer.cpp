#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "isa/timing.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
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
    const std::size_t size = row.size() * sizeof(std::uint32_t);
    if (kept_ + size <= kMostKept) {
      known_.emplace(bytes(row), count_);
      kept_ += size;
    }
    return count_++;
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{128} << 20;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  static std::string_view bytes(const Row& row) {
    return {reinterpret_cast<const char*>(row.data()), row.size() * sizeof(std::uint32_t)};
  }

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> known_;
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
  put_text(file, "/provenance/config_toml", {to_toml(machine)});
  put(file, "/machine/tile", tile);
  put(file, "/machine/row", row);
  put(file, "/machine/column", column);
  put(file, "/machine/lane", lane);
}

/// 0, 1, 2, … for a dimension scale.
void put_numbers(Hdf5File& file, const std::string& path, std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  put(file, path, numbers);
}

/// The operation that a step does work of: `dot_general.3` of step `dot_general.3.arrange` or
/// `dot_general.3 +2`.
std::string operation_name(const std::string& step) {
  const std::string first = step.substr(0, step.find(' '));
  const std::size_t dot = first.find('.');
  return dot == std::string::npos ? first : first.substr(0, first.find('.', dot + 1));
}

void write_steps(Hdf5File& file, const std::vector<StepInfo>& steps) {
  std::vector<StepInfo> operations;  // the first step of each, under the operation's name
  std::vector<std::uint32_t> operation_of;
  std::map<std::string, std::uint32_t> known;
  for (const StepInfo& step : steps) {
    const auto [it, fresh] =
        known.emplace(operation_name(step.name), static_cast<std::uint32_t>(operations.size()));
    if (fresh) operations.push_back(step);
    if (fresh) operations.back().name = it->first;
    operation_of.push_back(it->second);
  }
  std::string at = "/program/operation/";
  put_numbers(file, at + "operation", operations.size());
  put_text(file, at + "name", column_of(operations, [](const StepInfo& s) { return s.name; }));
  put_text(file, at + "hlo_opcode",
           column_of(operations, [](const StepInfo& s) { return s.operation; }));
  put_text(file, at + "source_file",
           column_of(operations, [](const StepInfo& s) { return s.source.file; }));
  put(file, at + "source_line",
      column_of(operations, [](const StepInfo& s) { return s.source.line; }));
  put(file, at + "source_column",
      column_of(operations, [](const StepInfo& s) { return s.source.column; }));

  at = "/program/step/";
  std::vector<std::uint8_t> kinds =
      column_of(steps, [](const StepInfo& s) { return static_cast<std::uint8_t>(s.kind); });
  kinds.back() = kControlKind;
  put_numbers(file, at + "step", steps.size());
  put(file, at + "kind", kinds);
  put_text(file, at + "name", column_of(steps, [](const StepInfo& s) { return s.name; }));
  put(file, at + "operation", operation_of);
  put(file, at + "flops", column_of(steps, [](const StepInfo& s) { return s.flops; }));
  put(file, at + "exchange_bytes",
      column_of(steps, [](const StepInfo& s) { return s.exchange_bytes; }));
  put(file, at + "bound_cycles",
      column_of(steps, [](const StepInfo& s) { return s.bound_cycles; }));
}

void write_program(Hdf5File& file, const ProgramImage& image) {
  put(file, "/program/used_tile",
      column_of(image.entries, [](const TileEntry& e) { return index(e.tile); }));
  std::vector<StepInfo> steps = image.info.steps;
  steps.emplace_back().name = kControlStep;
  write_steps(file, steps);

  const std::vector<TensorInfo>& tensors = image.info.tensors;
  const std::string at = "/program/variable/";
  put_numbers(file, at + "variable", tensors.size());
  put_text(file, at + "name", column_of(tensors, [](const TensorInfo& t) { return t.name; }));
  put_text(file, at + "type",
           column_of(tensors, [](const TensorInfo& t) { return t.type.text(); }));
  put(file, at + "bytes", column_of(tensors, [](const TensorInfo& t) { return t.bytes; }));
  put(file, at + "max_tile_bytes",
      column_of(tensors, [](const TensorInfo& t) { return t.max_tile_bytes; }));
  put_text(file, at + "source_file",
           column_of(tensors, [](const TensorInfo& t) { return t.source.file; }));
  put(file, at + "source_line",
      column_of(tensors, [](const TensorInfo& t) { return t.source.line; }));
}

void write_memory(Hdf5File& file, const ProgramImage& image) {
  const std::vector<MemoryCategory>& memory = image.info.memory;
  const std::size_t tiles = image.machine.tiles();
  std::vector<std::uint32_t> bytes(memory.size() * tiles, 0);
  for (std::size_t c = 0; c < memory.size(); ++c) {
    const auto& by_tile = memory[c].bytes_by_tile;
    SUPERSTEP_CHECK(by_tile.size() <= tiles, "memory of more tiles than the machine has");
    for (std::size_t t = 0; t < by_tile.size(); ++t) bytes[t * memory.size() + c] = by_tile[t];
  }
  put_text(file, "/memory/category",
           column_of(memory, [](const MemoryCategory& m) { return m.name; }));
  put(file, "/memory/bytes", bytes, {tiles, memory.size()});
}

void write_root(Hdf5File& file, const ProgramImage& image, const TraceOptions& options) {
  const MachineConfig& machine = image.machine;
  file.set_attribute("/", "format", std::string(kTraceFormat));
  file.set_attribute("/", "format_version", std::string(kTraceVersion));
  file.set_attribute("/", "level", std::string(name_of(options.level)));
  file.set_attribute("/", "complete", std::uint64_t{0});
  file.set_attribute("/", "outcome", std::string("running"));
  file.set_attribute("/", "module", image.info.module);
  file.set_attribute("/", "machine", machine.name);
  file.set_attribute("/", "clock_hz", static_cast<double>(machine.tile.clock_hz));
  file.set_attribute("/", "ipus", std::uint64_t{1});
  file.set_attribute("/", "tiles", std::uint64_t{machine.tiles()});
  file.set_attribute("/", "workers_per_tile", std::uint64_t{machine.tile.workers});
  file.set_attribute("/", "tile_memory_bytes", std::uint64_t{machine.tile.memory_bytes});
  file.set_attribute("/", "calls", std::uint64_t{options.calls});
  file.set_attribute("/", "NX_class", std::string("NXroot"));
  file.set_attribute("/", "default", std::string("plots"));
}

}  // namespace

struct TraceWriter::State {
  std::filesystem::path path, part;
  TraceOptions options;
  std::size_t used_tiles;
  Hdf5File file;
  TraceTotals totals;
  std::uint64_t rows = 0, pending_rows = 0;
  std::map<std::string, std::vector<std::byte>> pending;  ///< by dataset
  ProfileStore compute_profiles, exchange_profiles;
  ProfileStore::Row row;  ///< scratch
  bool keeps_profiles;

  State(std::filesystem::path p, const TraceOptions& o, const ProgramImage& image)
      : path(std::move(p)),
        part(part_of(path)),
        options(o),
        used_tiles(image.entries.size()),
        file(create_part(part)),
        totals(image.info.steps.size() + 1),
        keeps_profiles(o.level == TraceLevel::kTile) {}

  /// While the run lasts every level keeps supersteps, so that a killed one can be summed up.
  [[nodiscard]] bool keeps(const TraceColumn& column) const {
    return column.level <= std::max(options.level, TraceLevel::kSuperstep);
  }

  void add(const std::string& dataset, const void* data, std::size_t size) {
    std::vector<std::byte>& bytes = pending[dataset];
    const std::size_t at = bytes.size();
    bytes.resize(at + size);
    std::memcpy(bytes.data() + at, data, size);
  }

  template <class Get>
  void gather(const std::vector<TilePhase>& tiles, const Get& get) {
    row.clear();
    for (const TilePhase& phase : tiles) row.push_back(get(phase));
  }

  void add_row(const std::string& dataset) {
    add(dataset, row.data(), row.size() * sizeof(std::uint32_t));
  }

  std::uint32_t compute_profile(const std::vector<TilePhase>& tiles) {
    // Both columns make the row: tiles that compute alike may wait differently.
    gather(tiles, [](const TilePhase& phase) { return phase.compute; });
    const std::size_t width = row.size();
    for (const TilePhase& phase : tiles) row.push_back(phase.sync);
    if (const auto known = compute_profiles.find(row)) return *known;
    const std::uint32_t number = compute_profiles.add(row);
    add("/profiles/compute/profile", &number, sizeof number);
    add("/profiles/compute/cycles", row.data(), width * sizeof(std::uint32_t));
    add("/profiles/compute/wait_cycles", row.data() + width, width * sizeof(std::uint32_t));
    return number;
  }

  std::uint32_t exchange_profile(const std::vector<TilePhase>& tiles) {
    gather(tiles, [](const TilePhase& phase) { return phase.exchange; });
    if (const auto known = exchange_profiles.find(row)) return *known;
    const std::uint32_t number = exchange_profiles.add(row);
    add("/profiles/exchange/profile", &number, sizeof number);
    add_row("/profiles/exchange/cycles");
    return number;
  }

  /// Often while there is little, so that a run that is killed early leaves something; by the
  /// number of supersteps only, so that the file does not depend on the host.
  [[nodiscard]] bool flush_is_due() const {
    if (rows <= 64) return std::has_single_bit(rows);
    if (rows <= 4 * kSuperstepChunk) return rows % 64 == 0;
    return rows % kSuperstepChunk == 0;
  }

  void flush() {
    // Profiles first: a reader never sees a superstep whose profile is missing.
    for (const bool profiles : {true, false}) {
      for (const TraceColumn& column : trace_columns()) {
        if (!column.grows() || column.is_profile() != profiles || !keeps(column)) continue;
        std::vector<std::byte>& bytes = pending[std::string(column.path)];
        const std::size_t width = column.axes.ends_with("used_tile") ? used_tiles : 1;
        if (width != 0)
          file.append(std::string(column.path), bytes.data(),
                      bytes.size() / (width * size_of(column.type)));
        bytes.clear();
      }
    }
    pending_rows = 0;
    file.flush();
    if (keeps_profiles && std::filesystem::file_size(part) >= options.max_bytes)
      keeps_profiles = false;
  }

  void close(const TraceEnd& end) {
    flush();
    file.close();
    repack_trace(Hdf5File::open(part, Hdf5File::Access::kRead), totals, end, path);
    std::filesystem::remove(part);
  }
};

TraceWriter::TraceWriter(std::filesystem::path path, const TraceOptions& options,
                         const ProgramImage& image,
                         const std::map<std::string, std::string>& provenance)
    : state_(std::make_unique<State>(std::move(path), options, image)) {
  Hdf5File& file = state_->file;
  write_root(file, image, options);
  for (const std::string_view group : trace_groups()) file.make_group(std::string(group));
  for (const auto& [name, text] : provenance) file.set_attribute("/provenance", name, text);
  write_machine(file, image.machine);
  write_program(file, image);
  write_memory(file, image);
  for (const TraceColumn& column : trace_columns()) {
    if (!column.grows() || !state_->keeps(column)) continue;
    const std::string dataset(column.path);
    Hdf5Layout layout{.type = column.type, .dims = {0}, .chunk_rows = kSuperstepChunk};
    if (column.is_profile()) layout.chunk_rows = kProfileChunk;
    if (column.axes.ends_with("used_tile")) layout.dims.push_back(state_->used_tiles);
    file.make_dataset(dataset, layout);
    describe_dataset(file, dataset);
  }
  file.start_swmr();
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::on_superstep(const SuperstepRecord& record) {
  State& state = *state_;
  SuperstepRow row;
  row.number = record.number;
  row.start_cycle = record.begin.value();
  row.step = record.step;
  row.exchange_step = record.exchange_step;
  row.exchange_cycles = record.exchange.value();
  row.compute_cycles = record.compute.value();
  row.sync_cycles = record.sync.value();
  row.host_cycles = record.host.value();
  row.critical_tile = index(record.critical);
  row.bytes_sent = record.exchange_bytes;
  row.host_bytes = record.host_bytes;
  row.instructions = record.worker_instructions;
  if (record.tiles != nullptr && !record.tiles->empty()) {
    row.compute_min = UINT64_MAX;
    for (const TilePhase& phase : *record.tiles) {
      if (phase.compute != 0) ++row.active_tiles;
      row.compute_sum += phase.compute;
      row.compute_max = std::max<std::uint64_t>(row.compute_max, phase.compute);
      row.compute_min = std::min<std::uint64_t>(row.compute_min, phase.compute);
    }
  }
  state.totals.add(row);
  if (state.options.level == TraceLevel::kTile) {
    SUPERSTEP_CHECK(record.tiles != nullptr && record.tiles->size() == state.used_tiles,
                    "a superstep without its tiles");
    row.compute_profile = state.keeps_profiles ? state.compute_profile(*record.tiles) : kNoProfile;
    row.exchange_profile =
        state.keeps_profiles ? state.exchange_profile(*record.tiles) : kNoProfile;
  }
  SuperstepRow::for_each_column(row, [&](const char* name, auto value) {
    const std::string_view column = name;
    if (state.options.level != TraceLevel::kTile && column.ends_with("_profile")) return;
    state.add(fmt::format("/supersteps/{}", name), &value, sizeof value);
  });
  ++state.rows;
  ++state.pending_rows;
  if (state.flush_is_due()) state.flush();
}

void TraceWriter::finish(const RunResult& result,
                         const std::map<std::string, std::string>& provenance) {
  TraceEnd end;
  end.outcome = result.trap ? "trap" : result.interrupted ? "interrupted" : "ok";
  if (result.trap) end.trap = result.trap->text();
  end.provenance = provenance;
  state_->close(end);
}

void TraceWriter::finish_unrun() {
  TraceEnd end;
  end.outcome = "oom";
  state_->close(end);
}

void write_memory_trace(const std::filesystem::path& path, const MachineConfig& machine,
                        const ProgramInfo& info,
                        const std::map<std::string, std::string>& provenance) {
  ProgramImage image;
  image.machine = machine;
  image.info = info;
  TraceWriter(path, {.level = TraceLevel::kSummary, .calls = 0}, image, provenance).finish_unrun();
}

}  // namespace superstep
