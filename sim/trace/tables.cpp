#include "sim/trace/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/sha256.h"
#include "isa/timing.h"
#include "sim/sync/barrier.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
#include "sim/trace/totals.h"

namespace superstep {
namespace {

/// Makes a dataset of numbers, known now.
template <class T>
void put(Hdf5File& file, const std::string& path, const std::vector<T>& values,
         std::vector<std::uint64_t> dims = {}) {
  if (dims.empty()) dims = {values.size()};
  file.make_dataset(path, fixed_layout(path, hdf5_type_of(T{}), std::move(dims)));
  if (!values.empty()) file.write(path, values.data());
  describe_dataset(file, path);
}

/// 0, 1, 2, … for a dimension scale.
void put_numbers(Hdf5File& file, const std::string& path, std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  put(file, path, numbers);
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
  std::vector<std::uint32_t> row(machine.tiles()), column(row.size()), lane(row.size());
  for (std::uint32_t t = 0; t < row.size(); ++t) {
    const TilePlace place = place_of(machine, TileId{t});
    row[t] = place.row;
    column[t] = place.column;
    lane[t] = place.lane;
  }
  put_numbers(file, "/machine/tile", row.size());
  put(file, "/machine/row", row);
  put(file, "/machine/column", column);
  put(file, "/machine/lane", lane);

  const std::string at = "/machine/parameter/";
  const std::vector<ConfigNumber> numbers = config_numbers(machine);
  put_numbers(file, at + "parameter", numbers.size());
  put_text(file, at + "name", column_of(numbers, [](const ConfigNumber& n) { return n.key; }));
  put(file, at + "value", column_of(numbers, [](const ConfigNumber& n) { return n.value; }));
  put_text(file, at + "unit", column_of(numbers, [](const ConfigNumber& n) {
             constexpr const char* kUnits[] = {"1", "B", "B", "Hz", "ns", "B/s", "cycle"};
             return std::string(kUnits[static_cast<std::size_t>(n.unit)]);
           }));
}

std::string file_of(const SourceLocation& source) { return shown_source(source).file; }

/// The operation that a step does work of: `dot_general.3` of step `dot_general.3.arrange` or
/// `dot_general.3 +2`.
std::string operation_name(const std::string& step) {
  const std::string first = step.substr(0, step.find(' '));
  const std::size_t dot = first.find('.');
  return dot == std::string::npos ? first : first.substr(0, first.find('.', dot + 1));
}

void write_operations(Hdf5File& file, const ProgramInfo& info, const std::vector<StepInfo>& steps,
                      const TraceOperations& operations) {
  const std::vector<StepInfo>& first = operations.first_steps;
  std::vector<std::uint64_t> flops(first.size());
  const std::vector<std::uint64_t> executions = executions_by_step(steps);
  std::vector<std::set<std::uint32_t>> types(first.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::uint32_t operation = operations.by_step[s];
    flops[operation] += executions[s] * steps[s].flops;
    types[operation].insert(steps[s].vertex_types.begin(), steps[s].vertex_types.end());
  }
  std::vector<std::uint32_t> code(first.size());
  for (std::size_t o = 0; o < types.size(); ++o) {
    for (const std::uint32_t type : types[o]) code[o] += info.vertex_types.at(type).code_bytes;
  }
  const std::string at = "/program/operation/";
  put_numbers(file, at + "operation", first.size());
  put_text(file, at + "name", column_of(first, [](const StepInfo& s) { return s.name; }));
  put_text(file, at + "hlo_opcode",
           column_of(first, [](const StepInfo& s) { return s.operation; }));
  put_text(file, at + "source_file",
           column_of(first, [](const StepInfo& s) { return file_of(s.source.module); }));
  put(file, at + "source_line",
      column_of(first, [](const StepInfo& s) { return s.source.module.line; }));
  put(file, at + "source_column",
      column_of(first, [](const StepInfo& s) { return s.source.module.column; }));
  put_text(file, at + "python_file",
           column_of(first, [](const StepInfo& s) { return file_of(s.source.python); }));
  put(file, at + "python_line",
      column_of(first, [](const StepInfo& s) { return s.source.python.line; }));
  put(file, at + "flops", flops);
  put(file, at + "code_bytes", code);
}

void write_steps(Hdf5File& file, const std::vector<StepInfo>& steps,
                 const TraceOperations& operations) {
  std::vector<std::uint8_t> kinds;
  std::vector<std::int32_t> superstep, compute_set, exchange;
  std::int32_t compute_sets = 0, exchanges = 0;
  for (const StepInfo& step : steps) {
    const bool is_control = kinds.size() + 1 == steps.size();
    kinds.push_back(is_control ? kControlKind : static_cast<std::uint8_t>(step.kind));
    superstep.push_back(step.superstep ? static_cast<std::int32_t>(*step.superstep) : -1);
    const bool computes = !is_control && step.kind == StepInfo::Kind::kCompute;
    compute_set.push_back(computes ? compute_sets++ : -1);
    exchange.push_back(step.kind == StepInfo::Kind::kExchange ? exchanges++ : -1);
  }
  const std::string at = "/program/step/";
  put_numbers(file, at + "step", steps.size());
  put(file, at + "kind", kinds);
  put_text(file, at + "name", column_of(steps, [](const StepInfo& s) { return s.name; }));
  put(file, at + "superstep", superstep);
  put(file, at + "parent", column_of(steps, [](const StepInfo& s) {
        return s.parent ? static_cast<std::int32_t>(*s.parent) : -1;
      }));
  put(file, at + "trips", column_of(steps, [](const StepInfo& s) { return s.trips.value_or(0); }));
  put(file, at + "compute_set", compute_set);
  put(file, at + "exchange", exchange);
  put(file, at + "operation", operations.by_step);
  put(file, at + "flops", column_of(steps, [](const StepInfo& s) { return s.flops; }));
  put(file, at + "exchange_bytes",
      column_of(steps, [](const StepInfo& s) { return s.exchange_bytes; }));
  put(file, at + "bound_cycles",
      column_of(steps, [](const StepInfo& s) { return s.bound_cycles; }));
  put(file, at + "estimated_cycles",
      column_of(steps, [](const StepInfo& s) { return s.estimated_cycles; }));
  put(file, at + "predicted_cycles",
      column_of(steps, [](const StepInfo& s) { return s.predicted_cycles; }));
}

void write_compute_sets(Hdf5File& file, const ProgramInfo& info) {
  std::vector<StepInfo> sets;
  for (const StepInfo& step : info.steps) {
    if (step.kind == StepInfo::Kind::kCompute) sets.push_back(step);
  }
  std::string at = "/program/compute_set/";
  put_numbers(file, at + "compute_set", sets.size());
  put_text(file, at + "name", column_of(sets, [](const StepInfo& s) { return s.name; }));
  put(file, at + "vertices", column_of(sets, [](const StepInfo& s) { return s.vertices; }));
  put(file, at + "tiles", column_of(sets, [](const StepInfo& s) { return s.tiles; }));
  put(file, at + "vertex_type", column_of(sets, [](const StepInfo& s) {
        return s.vertex_types.empty() ? 0 : s.vertex_types.front();
      }));
  const std::vector<VertexTypeInfo>& types = info.vertex_types;
  at = "/program/vertex_type/";
  put_numbers(file, at + "vertex_type", types.size());
  put_text(file, at + "name", column_of(types, [](const VertexTypeInfo& v) { return v.name; }));
  put(file, at + "code_bytes",
      column_of(types, [](const VertexTypeInfo& v) { return v.code_bytes; }));
  put(file, at + "cost_source", std::vector<std::uint8_t>(types.size(), kDerivedCost));
}

void write_variables(Hdf5File& file, const std::vector<TensorInfo>& tensors) {
  const std::string at = "/program/variable/";
  put_numbers(file, at + "variable", tensors.size());
  put_text(file, at + "name", column_of(tensors, [](const TensorInfo& t) { return t.name; }));
  put_text(file, at + "type",
           column_of(tensors, [](const TensorInfo& t) { return t.type.text(); }));
  put(file, at + "bytes", column_of(tensors, [](const TensorInfo& t) { return t.bytes; }));
  put(file, at + "max_tile_bytes",
      column_of(tensors, [](const TensorInfo& t) { return t.max_tile_bytes; }));
  put(file, at + "tiles", column_of(tensors, [](const TensorInfo& t) { return t.tiles; }));
  put(file, at + "always_live", column_of(tensors, [](const TensorInfo& t) {
        return static_cast<std::uint8_t>(t.is_always_live);
      }));
  put(file, at + "first_step",
      column_of(tensors, [](const TensorInfo& t) { return t.first_step; }));
  put(file, at + "last_step", column_of(tensors, [](const TensorInfo& t) { return t.last_step; }));
  put_text(file, at + "source_file",
           column_of(tensors, [](const TensorInfo& t) { return file_of(t.source.module); }));
  put(file, at + "source_line",
      column_of(tensors, [](const TensorInfo& t) { return t.source.module.line; }));
}

void write_compile_events(Hdf5File& file, const std::vector<CompileEvent>& events) {
  const std::string at = "/program/event/";
  put_numbers(file, at + "event", events.size());
  const auto text = [&](const char* name, const auto& get) {
    put_text(file, at + name, column_of(events, get));
  };
  using Event = CompileEvent;
  text("kind", [](const Event& e) { return std::string(name_of(e.kind)); });
  text("operation", [](const Event& e) { return e.operation; });
  text("source_file", [](const Event& e) { return file_of(e.source.module); });
  put(file, at + "source_line",
      column_of(events, [](const Event& e) { return e.source.module.line; }));
  put(file, at + "source_column",
      column_of(events, [](const Event& e) { return e.source.module.column; }));
  text("reason", [](const Event& e) { return e.reason; });
  text("advice", [](const Event& e) { return e.advice; });
}

void write_streams(Hdf5File& file, const std::vector<Stream>& streams) {
  const std::string at = "/program/stream/";
  put_numbers(file, at + "stream", streams.size());
  put_text(file, at + "name", column_of(streams, [](const Stream& s) -> std::string {
             if (s.kind == Stream::Kind::kGoesOn) return "goes_on";
             const bool is_result = s.kind == Stream::Kind::kResult;
             return fmt::format("{}{}", is_result ? "result" : "arg", s.position);
           }));
  put(file, at + "direction", column_of(streams, [](const Stream& s) { return direction_of(s); }));
  put_text(file, at + "type", column_of(streams, [](const Stream& s) { return s.type.text(); }));
  put(file, at + "bytes", column_of(streams, [](const Stream& s) {
        std::uint64_t bytes = 0;
        for (const StreamPiece& piece : s.pieces) bytes += piece.bytes;
        return bytes;
      }));
}

void write_memory(Hdf5File& file, const ProgramImage& image) {
  const ProgramInfo& info = image.info;
  const std::vector<MemoryCategory>& memory = info.memory;
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
  std::vector<TilePeak> peaks = info.tile_peaks;
  peaks.resize(tiles);
  put(file, "/memory/max_live_bytes", column_of(peaks, [](const TilePeak& p) { return p.bytes; }));
  put(file, "/memory/at_step", column_of(peaks, [](const TilePeak& p) { return p.step; }));

  std::vector<StepMemory> by_step = info.step_memory;
  by_step.resize(info.steps.size());
  by_step.push_back(by_step.empty() ? StepMemory{} : by_step.front());
  const std::string at = "/memory/liveness/";
  put(file, at + "always_live_bytes",
      column_of(by_step, [](const StepMemory& m) { return m.always_live_bytes; }));
  put(file, at + "not_always_live_bytes",
      column_of(by_step, [](const StepMemory& m) { return m.not_always_live_bytes; }));
  put(file, at + "peak_tile_bytes",
      column_of(by_step, [](const StepMemory& m) { return m.peak_tile_bytes; }));
  put(file, at + "peak_tile", column_of(by_step, [](const StepMemory& m) { return m.peak_tile; }));
}

void write_exchanges(Hdf5File& file, const ProgramInfo& info) {
  std::vector<ExchangeInfo> exchanges;
  std::vector<std::uint64_t> first, count;
  std::vector<ExchangeMessage> messages;
  for (std::uint32_t s = 0; s < info.steps.size(); ++s) {
    if (info.steps[s].kind != StepInfo::Kind::kExchange) continue;
    const auto plan = std::ranges::find(info.exchanges, s, &ExchangeInfo::step);
    first.push_back(messages.size());
    if (plan != info.exchanges.end()) {
      messages.insert(messages.end(), plan->messages.begin(), plan->messages.end());
    }
    count.push_back(messages.size() - first.back());
    exchanges.push_back({s, {}});
  }
  std::string at = "/exchange/";
  put_numbers(file, at + "exchange", exchanges.size());
  put(file, at + "step", column_of(exchanges, [](const ExchangeInfo& e) { return e.step; }));
  put(file, at + "first_message", first);
  put(file, at + "messages", count);
  at = "/exchange/message/";
  std::vector<std::uint64_t> numbers(messages.size());
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  put(file, at + "message", numbers);
  using Message = ExchangeMessage;
  put(file, at + "source_tile",
      column_of(messages, [](const Message& m) { return m.source_tile; }));
  put(file, at + "destination_tile",
      column_of(messages, [](const Message& m) { return m.destination_tile; }));
  put(file, at + "bytes", column_of(messages, [](const Message& m) { return m.bytes; }));
  put(file, at + "start_cycle",
      column_of(messages, [](const Message& m) { return m.start_cycle; }));
  put(file, at + "cycles", column_of(messages, [](const Message& m) { return m.bytes / 4; }));
}

void write_root(Hdf5File& file, const ProgramImage& image, const TraceOptions& options) {
  const MachineConfig& machine = image.machine;
  const auto set = [&](const char* name, const Hdf5Value& value) {
    set_trace_attribute(file, "/", name, value);
  };
  set("format", std::string(kTraceFormat));
  set("format_version", std::string(kTraceVersion));
  set("level", std::string(name_of(options.level)));
  set("complete", std::uint64_t{0});
  set("outcome", std::string("running"));
  set("module", image.info.module);
  set("machine", machine.name);
  set("clock_hz", static_cast<double>(machine.tile.clock_hz));
  set("ipus", std::uint64_t{1});
  set("tiles", std::uint64_t{machine.tiles()});
  set("workers_per_tile", std::uint64_t{machine.tile.workers});
  set("tile_memory_bytes", std::uint64_t{machine.tile.memory_bytes});
  set("calls", std::uint64_t{options.calls});
  set("predicted_cycles", predicted_cycles(image, options.calls).value());
  set("config_sha256", sha256(to_toml(machine)));
  set("program_sha256", image.info.text_sha256);
  set("NX_class", std::string("NXroot"));
  set("default", std::string("plots"));
}

}  // namespace

Cycles predicted_cycles(const ProgramImage& image, std::uint32_t calls) {
  // Nobody predicted what is no compiled program, and nothing visits the host without tiles.
  if (image.info.steps.empty() || image.entries.empty()) return {};
  const MachineConfig& machine = image.machine;
  const Cycles visit = cycles_of_ns(machine, machine.sync.external_latency_ns);
  return Cycles(calls * image.info.predicted_cycles + (calls + 1) * visit.value());
}

SourceLocation shown_source(const SourceLocation& source) {
  const std::filesystem::path path(source.file);
  return {path.is_absolute() ? path.filename().string() : source.file, source.line, source.column};
}

std::vector<StepInfo> trace_steps(const ProgramInfo& info) {
  std::vector<StepInfo> steps = info.steps;
  steps.emplace_back().name = kControlStep;
  return steps;
}

TraceOperations operations_of(const std::vector<StepInfo>& steps) {
  TraceOperations operations;
  std::map<std::string, std::uint32_t> known;
  for (const StepInfo& step : steps) {
    const auto [it, fresh] = known.emplace(
        operation_name(step.name), static_cast<std::uint32_t>(operations.first_steps.size()));
    if (fresh) operations.first_steps.push_back(step);
    if (fresh) operations.first_steps.back().name = it->first;
    operations.by_step.push_back(it->second);
  }
  return operations;
}

void write_tables(Hdf5File& file, const ProgramImage& image, const TraceOptions& options) {
  write_root(file, image, options);
  put_text(file, "/provenance/config_toml", {to_toml(image.machine)});
  put_text(file, "/provenance/config_origin", {options.config_origin});
  write_machine(file, image.machine);
  put(file, "/program/used_tile",
      column_of(image.entries, [](const TileEntry& e) { return index(e.tile); }));
  const std::vector<StepInfo> steps = trace_steps(image.info);
  const TraceOperations operations = operations_of(steps);
  write_operations(file, image.info, steps, operations);
  write_steps(file, steps, operations);
  write_compute_sets(file, image.info);
  write_variables(file, image.info.tensors);
  write_compile_events(file, image.info.events);
  write_streams(file, image.streams);
  write_memory(file, image);
  if (options.level == TraceLevel::kTile) write_exchanges(file, image.info);
}

}  // namespace superstep
