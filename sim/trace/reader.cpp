#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <new>
#include <optional>

#include "base/error.h"
#include "base/output_file.h"
#include "sim/trace/progress.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"
#include "sim/trace/trace_file.h"

namespace superstep {
namespace {

TraceTotals stored_totals(const Hdf5File& file) {
  const SummaryRow row = read_attributes(file, kSummaryAttributes);
  TraceTotals totals = no_totals(file);
  totals.run.cycles = row.total;
  totals.run.exchange = row.exchange;
  totals.run.compute = row.compute;
  totals.run.sync = row.sync;
  totals.run.host = row.host;
  totals.assumed = {std::min(row.exchange, row.assumed.exchange),
                    std::min(row.compute, row.assumed.compute),
                    std::min(row.sync, row.assumed.sync), std::min(row.host, row.assumed.host)};
  totals.visits = {row.visits, row.visit_begin, row.visit_callbacks, row.visit_end};
  totals.run.supersteps = row.supersteps;
  totals.run.worker_instructions = row.instructions;
  totals.instructions.all = row.instructions;
  totals.instructions.aux = row.aux_instructions;
  totals.instructions.amp = row.amp_instructions;
  totals.bytes_exchanged = row.bytes_exchanged;
  totals.host_bytes = row.host_bytes;
  totals.flops = row.flops;
  std::vector<StepSums> steps = read_table(file, kStepSums);
  if (steps.size() != totals.steps.size()) {
    throw std::runtime_error("the summary's steps are not those of the program");
  }
  totals.steps = std::move(steps);
  for (const StepSums& sums : totals.steps) {
    totals.compute_sum += sums.compute_sum;
    totals.compute_max += sums.compute_max;
  }
  return totals;
}

std::vector<StepTotals> read_step_totals(const Hdf5File& file, const TraceTotals& totals) {
  const std::vector<OperationRow> operations = read_table(file, kOperations);
  const std::vector<StepRow> rows = read_steps(file);
  std::vector<StepTotals> steps;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const StepSums& sums = totals.steps[s];
    if (s + 1 == rows.size() && sums.count == 0) continue;  // nothing ran between steps
    StepTotals step = step_totals(sums);
    const StepRow& row = rows[s];
    step.info = row;
    if (row.operation_number < operations.size()) {
      const OperationRow& operation = operations[row.operation_number];
      step.operation_name = operation.name;
      step.info.operation = operation.opcode;
      step.info.source = operation.source;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<CompileEvent> read_compile_events(const Hdf5File& file) {
  // Traces before format 1.2 have none.
  if (!file.exists(kCompileEvents.path_of("kind"))) return {};
  std::vector<CompileEvent> events;
  for (CompileEventRow& row : read_table(file, kCompileEvents)) {
    using enum CompileEvent::Kind;
    constexpr CompileEvent::Kind kKnown[] = {kNoAmp, kDroppedPlan, kSlowRoute, kSmallProduct,
                                             kWideEncoding};
    const auto* const kind =
        std::ranges::find(kKnown, row.kind_name, [](CompileEvent::Kind k) { return name_of(k); });
    if (kind == std::end(kKnown)) continue;
    row.kind = *kind;
    events.push_back(std::move(row));
  }
  return events;
}

void read_memory(const Hdf5File& file, TraceSummary& out) {
  const std::vector<std::string> category = file.read_text("/memory/category");
  const auto bytes = file.read_all<std::uint32_t>("/memory/bytes", Hdf5Type::kU32);
  if (category.empty()) return;
  const std::size_t tiles = bytes.size() / category.size();
  std::vector<std::uint64_t> sums(tiles, 0);
  for (std::size_t i = 0; i < tiles * category.size(); ++i) sums[i / category.size()] += bytes[i];
  const auto worst = std::max_element(sums.begin(), sums.end());
  if (worst == sums.end()) return;
  const auto tile = static_cast<std::size_t>(worst - sums.begin());
  out.worst_tile = TileId{static_cast<std::uint32_t>(tile)};
  out.worst_tile_bytes = *worst;
  for (std::size_t c = 0; c < category.size(); ++c) {
    out.worst_tile_memory.emplace_back(category[c], bytes[tile * category.size() + c]);
  }
}

/// Reads `tensor<2x3xf32>` back; a type that is none of ours stays a scalar.
TensorType type_from(std::string_view text) {
  TensorType type;
  if (!text.starts_with("tensor<") || !text.ends_with('>')) return type;
  text = text.substr(7, text.size() - 8);
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    const std::size_t cut = text.find('x');
    if (cut == std::string_view::npos) return {};
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + cut, extent);
    if (error != std::errc{} || end != text.data() + cut) return {};
    type.shape.push_back(extent);
    text.remove_prefix(cut + 1);
  }
  for (const DType dtype : kAllDTypes) {
    if (name_of(dtype) == text) type.dtype = dtype;
  }
  return type;
}

std::vector<TensorInfo> read_tensors(const Hdf5File& file) {
  std::vector<TensorInfo> tensors;
  for (VariableRow& row : read_table(file, kVariables)) {
    row.type = type_from(row.type_text);
    tensors.push_back(std::move(row));
  }
  return tensors;
}

/// The lock that a run which writes `part` holds: that of the trace it will become. Empty when that
/// is `out`, or nobody can write there.
std::optional<FileLock> lock_of_run(const std::filesystem::path& part,
                                    const std::filesystem::path& out) {
  namespace fs = std::filesystem;
  if (part.extension() != ".part") return std::nullopt;
  const fs::path run = fs::absolute(part).parent_path() / part.stem();
  if (fs::weakly_canonical(run) == fs::weakly_canonical(fs::absolute(out))) return std::nullopt;
  if (access(run.parent_path().c_str(), W_OK) != 0) return std::nullopt;
  return std::optional<FileLock>(std::in_place, run);
}

TraceSummary summary_of(const Hdf5File& file) {
  TraceSummary out;
  RootRow root = read_attributes(file, kRootAttributes);
  out.format_version = std::move(root.format_version);
  out.level = std::move(root.level);
  out.outcome = std::move(root.outcome);
  out.complete = root.complete;
  out.module = std::move(root.module);
  out.program_sha256 = std::move(root.program_sha256);
  out.machine_name = std::move(root.machine);
  if (root.clock_hz > 0 && root.clock_hz < 1e18) {
    out.clock_hz = static_cast<std::uint64_t>(root.clock_hz);
  }
  out.tiles = root.tiles;
  out.tiles_used = static_cast<std::uint32_t>(file.shape(kUsedTiles.path_of("used_tile"), 1)[0]);
  out.workers = root.workers;
  out.calls = root.calls;
  out.begins_inside = root.begins_inside;
  out.predicted = root.predicted;
  out.tile_memory_bytes = root.tile_memory_bytes;
  const SummaryRow row = read_attributes(file, kSummaryAttributes);
  out.trap = row.trap;
  out.trap_kind = row.trap_kind;
  for (MachineText& text : read_table(file, kMachineText)) {
    out.machine_toml = std::move(text.toml);
  }
  const TraceTotals totals = out.complete ? stored_totals(file) : totals_so_far(file);
  out.add_totals(totals);
  if (!out.complete) out.count_calls(totals);
  out.steps = read_step_totals(file, totals);
  out.events = read_events(file);
  out.plan_events = read_compile_events(file);
  read_memory(file, out);
  out.tensors = read_tensors(file);
  for (const std::string& name : file.attributes("/provenance")) {
    const auto value = file.attribute("/provenance", name);
    if (!value) continue;
    if (const auto* text = std::get_if<std::string>(&*value)) out.provenance.emplace(name, *text);
    if (const auto* number = std::get_if<std::uint64_t>(&*value)) {
      out.provenance.emplace(name, std::to_string(*number));
    }
    if (const auto* real = std::get_if<double>(&*value)) {
      out.provenance.emplace(name, fmt::format("{:.3f}", *real));
    }
  }
  return out;
}

}  // namespace

TraceSummary TraceFile::summary() const {
  TraceSummary out;
  guard_trace(path_, [&] { out = summary_of(file_); });
  return out;
}

TraceSummary read_trace(const std::filesystem::path& path) { return TraceFile(path).summary(); }

bool repair_trace(const std::filesystem::path& part, const std::filesystem::path& out,
                  const TraceReport& report) {
  if (read_trace(part).complete) return false;
  check_output(out);
  const FileLock of_out(out);
  const std::optional<FileLock> of_run = lock_of_run(part, out);
  const TraceFile trace(part);
  guard_trace(part, [&] {
    const Hdf5File& file = trace.hdf5();
    TraceEnd end;
    end.outcome = "interrupted";
    const SummaryRow row = read_attributes(file, kSummaryAttributes);
    end.trap = row.trap;
    end.trap_kind = row.trap_kind;
    repack_trace(file, totals_so_far(file), end, report, out);
  });
  // As when the run itself ends.
  std::error_code none;
  if (std::filesystem::equivalent(part, trace_part(out), none)) std::filesystem::remove(part, none);
  return true;
}

}  // namespace superstep
