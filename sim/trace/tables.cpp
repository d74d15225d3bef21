#include "sim/trace/tables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "base/error.h"
#include "base/number_ranges.h"
#include "base/sha256.h"
#include "base/text.h"
#include "isa/table.h"
#include "isa/timing.h"
#include "sim/host/feeds.h"
#include "sim/sync/barrier.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

std::vector<TilePlace> places_of(const MachineConfig& machine) {
  std::vector<TilePlace> places;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    places.push_back(place_of(machine, TileId{t}));
  }
  return places;
}

std::vector<ParameterRow> parameter_rows(const MachineConfig& machine,
                                         const MachineSources& sources) {
  std::vector<ParameterRow> rows;
  for (const ConfigNumber& number : config_numbers(machine)) {
    rows.push_back({number, cost_source(sources, number.key)});
  }
  return rows;
}

std::vector<OpcodeRow> opcode_rows() {
  std::vector<OpcodeRow> rows;
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    rows.push_back({std::string(info.mnemonic), std::string(info.spec.syntax), info.spec.pipe});
  }
  return rows;
}

/// The operation that a step does work of. Its name ends with its number, if it has one; behind it
/// are words that say which part of it a step is: `dot_general.3` of `dot_general.3.arrange`, of
/// `dot_general.3.partials.fill` and of `dot_general.3 +2`, `arg2` of `arg2.arrange`.
std::string operation_name(const std::string& step) {
  std::string name = step.substr(0, step.find(' '));
  for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot != 0;
       dot = name.rfind('.')) {
    if (name.find_first_not_of("0123456789", dot + 1) == std::string::npos) break;
    name.erase(dot);
  }
  return name;
}

std::vector<OperationRow> operation_rows(const ProgramInfo& info,
                                         const std::vector<StepInfo>& steps,
                                         const TraceOperations& operations) {
  std::vector<OperationRow> rows;
  for (const StepInfo& first : operations.first_steps) {
    rows.push_back(
        {.name = first.name, .opcode = first.operation, .source = shown_source(first.source)});
  }
  const std::vector<std::uint64_t> executions = executions_by_step(steps);
  std::vector<std::set<std::uint32_t>> types(rows.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::uint32_t operation = operations.by_step[s];
    rows[operation].flops += executions[s] * steps[s].flops;
    types[operation].insert(steps[s].vertex_types.begin(), steps[s].vertex_types.end());
  }
  for (std::size_t o = 0; o < types.size(); ++o) {
    for (const std::uint32_t type : types[o]) {
      rows[o].code_bytes += info.vertex_types.at(type).code_bytes;
    }
  }
  return rows;
}

std::vector<StepRow> step_rows(const std::vector<StepInfo>& steps,
                               const TraceOperations& operations) {
  std::vector<StepRow> rows;
  std::uint32_t compute_sets = 0, exchanges = 0;
  for (const StepInfo& step : steps) {
    const bool is_control = rows.size() + 1 == steps.size();
    StepRow& row = rows.emplace_back(StepRow{step});
    row.kind_number = is_control ? kControlKind : static_cast<std::uint8_t>(step.kind);
    row.known_trips = step.trips.value_or(0);
    if (!is_control && step.kind == StepInfo::Kind::kCompute) row.compute_set = compute_sets++;
    if (step.kind == StepInfo::Kind::kExchange) row.exchange = exchanges++;
    row.operation_number = operations.by_step[rows.size() - 1];
  }
  return rows;
}

std::vector<FusedOperationRow> fused_rows(const std::vector<StepInfo>& steps,
                                          const TraceOperations& operations) {
  std::vector<FusedOperationRow> rows;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    for (const FusedOperation& one : steps[s].fused) {
      rows.push_back({one, s, operations.numbers.at(operation_of(steps[s], one))});
      rows.back().source = shown_source(one.source);
    }
  }
  return rows;
}

std::vector<StepInfo> compute_sets_of(const ProgramInfo& info) {
  std::vector<StepInfo> sets;
  std::ranges::copy_if(info.steps, std::back_inserter(sets),
                       [](const StepInfo& step) { return step.kind == StepInfo::Kind::kCompute; });
  return sets;
}

std::vector<VariableRow> variable_rows(const std::vector<TensorInfo>& tensors) {
  std::vector<VariableRow> rows;
  for (const TensorInfo& tensor : tensors) {
    rows.push_back({tensor, tensor.type.text()});
    rows.back().source = shown_source(tensor.source);
  }
  return rows;
}

std::vector<CompileEventRow> event_rows(const std::vector<CompileEvent>& events) {
  std::vector<CompileEventRow> rows;
  for (const CompileEvent& event : events) {
    rows.push_back({event, std::string(name_of(event.kind))});
    rows.back().source = shown_source(event.source);
  }
  return rows;
}

std::vector<StreamRow> stream_rows(const std::vector<Stream>& streams) {
  std::vector<StreamRow> rows;
  for (const Stream& stream : streams) {
    StreamRow& row = rows.emplace_back();
    row.name = stream_name(stream.kind, stream.position);
    row.direction = direction_of(stream);
    row.type = stream.type.text();
    row.label = shortened(stream.label, kTextBytes);
    for (const StreamPiece& piece : stream.pieces) row.bytes += piece.bytes;
  }
  return rows;
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
  write_table(file, kMemoryCategories, memory);
  write_table(file, kMemoryBytes, bytes, {tiles, memory.size()});
  std::vector<TilePeak> peaks = info.tile_peaks;
  peaks.resize(tiles);
  write_table(file, kTilePeaks, peaks);
  write_table(file, kLiveness, trace_memory(info));
}

void write_exchanges(Hdf5File& file, const ProgramInfo& info) {
  std::vector<ExchangeProgramRow> exchanges;
  std::vector<ExchangeMessage> messages;
  for (std::uint32_t s = 0; s < info.steps.size(); ++s) {
    if (info.steps[s].kind != StepInfo::Kind::kExchange) continue;
    ExchangeProgramRow& row = exchanges.emplace_back(ExchangeProgramRow{s, messages.size()});
    const auto plan = std::ranges::find(info.exchanges, s, &ExchangeInfo::step);
    if (plan == info.exchanges.end()) continue;
    messages.insert(messages.end(), plan->messages.begin(), plan->messages.end());
    row.messages = plan->messages.size();
  }
  write_table(file, kExchanges, exchanges);
  write_table(file, kMessages, messages);
}

/// Callbacks of a visit to the host inside calls.
struct FeedCallbacks {
  std::uint32_t step = 0;
  std::uint64_t visits = 0;       ///< of a call
  std::uint64_t in = 0, out = 0;  ///< of a visit
};

std::vector<FeedCallbacks> feed_callbacks(const ProgramImage& image) {
  const std::vector<std::uint64_t> times = executions_by_step(image.info.steps);
  std::vector<FeedCallbacks> all;
  for (const FeedVisit& visit : image.visits) {
    const StepInfo* info = step_of_visit(image, visit.pc);
    if (info == nullptr) continue;
    const auto step = static_cast<std::uint32_t>(info - image.info.steps.data());
    all.push_back({step, times[step], visit.phase.arguments.size(), visit.phase.results.size()});
  }
  return all;
}

/// What the tiles wait in so many calls for the callbacks of feeds, which run one after the other:
/// those of infeeds that nobody makes ahead while the tiles wait, the others beside them. For those
/// of outfeeds behind the last infeed nobody waits; it is made ahead of `prefetch` trips more.
std::uint64_t callback_cycles(const ProgramImage& image, std::uint64_t calls) {
  const MachineConfig& machine = image.machine;
  const std::vector<FeedCallbacks> feeds = feed_callbacks(image);
  const auto last = std::ranges::max_element(
      feeds, {}, [](const FeedCallbacks& feed) { return feed.in == 0 ? 0 : feed.step + 1; });
  if (last == feeds.end() || last->in == 0) return 0;
  const auto loop = loop_around(image.info.steps, last->step);
  std::uint64_t in = 0, out = 0, behind = 0;
  for (const FeedCallbacks& feed : feeds) {
    in += calls * feed.visits * feed.in;
    out += calls * feed.visits * feed.out;
    const bool is_beside = loop_around(image.info.steps, feed.step) == loop;
    if (is_beside) behind += machine.host.prefetch * feed.out;
    if (feed.step > last->step) behind += (is_beside ? 1 : feed.visits) * feed.out;
  }
  const std::uint64_t callback = cycles_of_ns(machine, machine.host.callback_latency_ns).value();
  const std::uint64_t alone = machine.host.prefetch == 0 ? in : 0;
  const std::uint64_t beside = (in + out - std::min(out, behind) - alone) * callback;
  return alone * callback + beside - std::min(beside, calls * image.info.predicted_cycles);
}

/// Empty for all.
std::string tiles_text(const TraceWindow& window) {
  std::vector<std::uint32_t> tiles;
  for (const TileId tile : window.tiles.value_or(std::vector<TileId>())) {
    tiles.push_back(index(tile));
  }
  return ranges_of(tiles);
}

/// Of what the tiles hold when the program begins, and where it begins.
std::string code_sha256(const ProgramImage& image) {
  if (image.segments.empty()) return {};
  Sha256 hash;
  const auto add = [&](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    const std::uint64_t count = bytes.size();
    hash.add({reinterpret_cast<const char*>(&count), sizeof count});
    hash.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  for (const Segment& segment : image.segments) {
    add(segment.tiles);
    add(std::array{segment.address});
    add(segment.bytes);
  }
  for (const TileEntry& entry : image.entries) add(std::array{index(entry.tile), entry.pc});
  return hash.digest();
}

RootRow root_row(const ProgramImage& image, const TraceOptions& options) {
  const MachineConfig& machine = image.machine;
  RootRow root;
  root.format = kTraceFormat;
  root.format_version = kTraceVersion;
  root.level = name_of(options.level);
  if (options.level >= TraceLevel::kVertex) {
    root.window_first = options.window.first_superstep;
    root.window_end = options.window.end_superstep;
    root.window_tiles = tiles_text(options.window);
    root.window_operations = options.window.operations;
  }
  root.outcome = "running";
  root.module = image.info.module;
  root.machine = machine.name;
  root.clock_hz = static_cast<double>(machine.tile.clock_hz);
  root.ipus = 1;
  root.tiles = machine.tiles();
  root.workers = static_cast<std::uint8_t>(machine.tile.workers);
  root.tile_memory_bytes = machine.tile.memory_bytes;
  root.calls = options.calls;
  root.begins_inside = options.begin == CallPlace::kInside;
  root.predicted = predicted_cycles(image, options.calls, options.begin);
  root.config_sha256 = sha256(to_toml(machine));
  root.program_sha256 = image.info.text_sha256;
  root.code_sha256 = code_sha256(image);
  return root;
}

}  // namespace

Cycles predicted_cycles(const ProgramImage& image, std::uint32_t calls, CallPlace begin) {
  // Nobody predicted parts of calls, nor what is no compiled program, and nothing visits the host
  // without tiles.
  if (begin == CallPlace::kInside || image.info.steps.empty() || image.entries.empty()) return {};
  const MachineConfig& machine = image.machine;
  const Cycles visit = cycles_of_ns(machine, machine.sync.external_latency_ns);
  // The host comes behind each call, and in front of the first one of the program.
  const std::uint64_t visits = calls + (begin == CallPlace::kBegin ? 1 : 0);
  return Cycles(calls * image.info.predicted_cycles + callback_cycles(image, calls) +
                visits * visit.value());
}

SourceLocation shown_source(const SourceLocation& source) {
  const std::filesystem::path path(source.file);
  return {path.is_absolute() ? path.filename().string() : source.file, source.line, source.column};
}

OpLocation shown_source(const OpLocation& source) {
  return {shown_source(source.module), shown_source(source.python)};
}

std::vector<StepInfo> trace_steps(const ProgramInfo& info) {
  std::vector<StepInfo> steps = info.steps;
  steps.emplace_back().name = kControlStep;
  return steps;
}

std::vector<StepMemory> trace_memory(const ProgramInfo& info) {
  std::vector<StepMemory> by_step = info.step_memory;
  by_step.resize(info.steps.size());
  by_step.push_back(by_step.empty() ? StepMemory{} : by_step.front());
  return by_step;
}

std::vector<std::uint64_t> live_bytes_by_step(std::span<const StepGroup> groups,
                                              std::span<const StepMemory> memory) {
  std::vector<std::uint64_t> live(std::min(groups.size(), memory.size()));
  for (std::size_t first = 0; first < live.size();) {
    std::size_t end = first + 1;
    while (end < live.size() && groups[first].superstep &&
           groups[end].superstep == groups[first].superstep) {
      ++end;
    }
    std::uint64_t most = 0;
    for (const StepMemory& of_step : memory.subspan(first, end - first)) {
      most = std::max(most, of_step.always_live_bytes + of_step.not_always_live_bytes);
    }
    std::fill(live.begin() + static_cast<std::ptrdiff_t>(first),
              live.begin() + static_cast<std::ptrdiff_t>(end), most);
    first = end;
  }
  return live;
}

std::string operation_of(const StepInfo& step, const FusedOperation& served) {
  return operation_name(step.kind == StepInfo::Kind::kExchange ? served.name : step.name);
}

TraceOperations operations_of(const std::vector<StepInfo>& steps) {
  TraceOperations operations;
  const auto add = [&](const std::string& name, const auto& served) {
    const auto [it, fresh] =
        operations.numbers.emplace(name, static_cast<std::uint32_t>(operations.first_steps.size()));
    if (fresh) operations.first_steps.emplace_back().name = name;
    StepInfo& first = operations.first_steps[it->second];
    // Steps that only prepare it, as copies and fills do, are of no operation of their own.
    if (fresh || (first.operation.empty() && !served.operation.empty())) {
      first.operation = served.operation;
      first.source = served.source;
    }
    return it->second;
  };
  for (const StepInfo& step : steps) {
    operations.by_step.push_back(add(operation_name(step.name), step));
    for (const FusedOperation& fused : step.fused) add(operation_of(step, fused), fused);
  }
  return operations;
}

void write_tables(Hdf5File& file, const ProgramImage& image, const TraceOptions& options) {
  write_attributes(file, kRootAttributes, root_row(image, options));
  write_table(file, kMachineText, {{to_toml(image.machine), options.config_origin}});
  write_table(file, kTilePlaces, places_of(image.machine));
  write_table(file, kParameters, parameter_rows(image.machine, options.sources));
  write_table(file, kUsedTiles, image.entries);
  if (options.level >= TraceLevel::kInstruction) write_table(file, kOpcodes, opcode_rows());
  const std::vector<StepInfo> steps = trace_steps(image.info);
  const TraceOperations operations = operations_of(steps);
  write_table(file, kOperations, operation_rows(image.info, steps, operations));
  write_table(file, kSteps, step_rows(steps, operations));
  write_table(file, kFusedOperations, fused_rows(steps, operations));
  write_table(file, kComputeSets, compute_sets_of(image.info));
  write_table(file, kVertexTypes, image.info.vertex_types);
  write_table(file, kVariables, variable_rows(image.info.tensors));
  write_table(file, kCompileEvents, event_rows(image.info.events));
  write_table(file, kStreams, stream_rows(image.streams));
  write_memory(file, image);
  if (options.level >= TraceLevel::kTile) write_exchanges(file, image.info);
}

}  // namespace superstep
