#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>

#include "base/error.h"
#include "base/output_file.h"
#include "sim/trace/repack.h"
#include "sim/trace/schema.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {
namespace {

UserError damaged(const std::filesystem::path& path, std::string_view why) {
  return {ExitCode::kDamagedTrace, {Problem{{path.string(), 0, 0}, std::string(why)}}};
}

/// Text, number and float attributes; absent ones are empty or 0.
std::string text_at(const Hdf5File& file, const std::string& object, const std::string& name) {
  const auto value = file.attribute(object, name);
  const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
  return text ? *text : std::string();
}
std::uint64_t number_at(const Hdf5File& file, const std::string& object, const std::string& name) {
  const auto value = file.attribute(object, name);
  const auto* number = value ? std::get_if<std::uint64_t>(&*value) : nullptr;
  return number ? *number : 0;
}

double real_at(const Hdf5File& file, const std::string& object, const std::string& name) {
  const auto value = file.attribute(object, name);
  const auto* real = value ? std::get_if<double>(&*value) : nullptr;
  return real ? *real : 0;
}

/// Opens a trace, finished or not, and makes sure that it is one of ours.
Hdf5File open_trace(const std::filesystem::path& path) {
  const auto open = [&] {
    try {
      return Hdf5File::open(path, Hdf5File::Access::kRead);
    } catch (const std::runtime_error&) {
      // A file that a writer has open, or had when it was killed, opens this way only.
      return Hdf5File::open(path, Hdf5File::Access::kSwmrRead);
    }
  };
  Hdf5File file = open();
  if (text_at(file, "/", "format") != kTraceFormat) {
    throw damaged(path, "is an HDF5 file but not a Superstep trace");
  }
  const std::string version = text_at(file, "/", "format_version");
  const auto major = [](std::string_view v) { return v.substr(0, v.find('.')); };
  if (major(version) != major(kTraceVersion)) {
    throw damaged(path, fmt::format("has trace format {}, this version reads {}.x", version,
                                    major(kTraceVersion)));
  }
  return file;
}

/// Runs `body`, turning every failure of the file into a damaged trace.
template <class Body>
auto guarded(const std::filesystem::path& path, const Body& body) {
  try {
    return body();
  } catch (const UserError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::string why = error.what();
    const std::string prefix = path.string() + ": ";
    if (why.starts_with(prefix)) why.erase(0, prefix.size());
    throw damaged(path, why);
  }
}

TraceTotals stored_totals(const Hdf5File& file) {
  TraceTotals totals(group_by_step(file));
  totals.run.cycles = Cycles(number_at(file, "/summary", "total_cycles"));
  totals.run.exchange = Cycles(number_at(file, "/summary", "exchange_cycles"));
  totals.run.compute = Cycles(number_at(file, "/summary", "compute_cycles"));
  totals.run.sync = Cycles(number_at(file, "/summary", "sync_cycles"));
  totals.run.host = Cycles(number_at(file, "/summary", "host_cycles"));
  totals.run.supersteps = number_at(file, "/summary", "supersteps");
  totals.run.worker_instructions = number_at(file, "/summary", "instructions");
  totals.bytes_exchanged = number_at(file, "/summary", "bytes_exchanged");
  totals.host_bytes = number_at(file, "/summary", "host_bytes");
  totals.flops = number_at(file, "/summary", "flops");
  StepSums names;
  StepSums::for_each_column(names, [&](const char* name, auto& member) {
    using Value = std::decay_t<decltype(member)>;
    const std::string path = fmt::format("/summary/step/{}", name);
    // Traces before format 1.4 do not have all.
    if (!file.exists(path)) return;
    const auto values = file.read_all<Value>(path, hdf5_type_of(Value{}));
    if (values.size() != totals.steps.size()) {
      throw std::runtime_error("the summary's steps are not those of the program");
    }
    for (std::size_t s = 0; s < values.size(); ++s) {
      StepSums::for_each_column(totals.steps[s], [&](const char* other, auto& target) {
        if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Value>) {
          if (std::string_view(other) == name) target = values[s];
        }
      });
    }
  });
  for (const StepSums& sums : totals.steps) {
    totals.compute_sum += sums.compute_sum;
    totals.compute_max += sums.compute_max;
  }
  return totals;
}

std::vector<StepTotals> read_steps(const Hdf5File& file, const TraceTotals& totals) {
  std::string at = "/program/operation/";
  const auto operation_name = file.read_text(at + "name");
  const auto opcode = file.read_text(at + "hlo_opcode");
  const auto source = file.read_text(at + "source_file");
  const auto line = file.read_all<std::uint32_t>(at + "source_line", Hdf5Type::kU32);
  const auto column = file.read_all<std::uint32_t>(at + "source_column", Hdf5Type::kU32);
  // Traces of format 1.0 have no Python lines.
  std::vector<std::string> python_file(operation_name.size());
  std::vector<std::uint32_t> python_line(operation_name.size());
  if (file.exists(at + "python_file")) {
    python_file = file.read_text(at + "python_file");
    python_line = file.read_all<std::uint32_t>(at + "python_line", Hdf5Type::kU32);
  }
  at = "/program/step/";
  const auto kind = file.read_all<std::uint8_t>(at + "kind", Hdf5Type::kU8);
  const auto name = file.read_text(at + "name");
  const auto operation = file.read_all<std::uint32_t>(at + "operation", Hdf5Type::kU32);
  const auto flops = file.read_all<std::uint64_t>(at + "flops", Hdf5Type::kU64);
  const auto bytes = file.read_all<std::uint64_t>(at + "exchange_bytes", Hdf5Type::kU64);
  const auto bound = file.read_all<std::uint64_t>(at + "bound_cycles", Hdf5Type::kU64);
  const auto predicted = file.read_all<std::uint64_t>(at + "predicted_cycles", Hdf5Type::kU64);
  const std::size_t count = kind.size();
  // Traces before format 1.2 have no estimates.
  std::vector<std::uint64_t> estimated(count);
  if (file.exists(at + "estimated_cycles")) {
    estimated = file.read_all<std::uint64_t>(at + "estimated_cycles", Hdf5Type::kU64);
  }
  // Traces before format 1.4 have no loops.
  std::vector<std::int32_t> parent(count, -1);
  std::vector<std::uint64_t> trips(count);
  if (file.exists(at + "trips")) {
    parent = file.read_all<std::int32_t>(at + "parent", Hdf5Type::kI32);
    trips = file.read_all<std::uint64_t>(at + "trips", Hdf5Type::kU64);
  }
  for (const std::size_t rows :
       {parent.size(), trips.size(), name.size(), operation.size(), flops.size(), bytes.size(),
        bound.size(), estimated.size(), predicted.size(), totals.steps.size()}) {
    if (rows != count) throw std::runtime_error("the columns of /program/step differ in length");
  }
  const std::size_t operations =
      std::min({operation_name.size(), opcode.size(), source.size(), line.size(), column.size(),
                python_file.size(), python_line.size()});
  std::vector<StepTotals> steps;
  for (std::size_t s = 0; s < count; ++s) {
    const StepSums& sums = totals.steps[s];
    if (s + 1 == count && sums.count == 0) continue;  // nothing ran between steps
    StepTotals step = step_totals(sums);
    const bool known =
        kind[s] != kControlKind && kind[s] <= static_cast<std::uint8_t>(StepInfo::Kind::kArm);
    step.info.kind = known ? static_cast<StepInfo::Kind>(kind[s]) : StepInfo::Kind::kCompute;
    if (parent[s] >= 0) step.info.parent = static_cast<std::uint32_t>(parent[s]);
    if (trips[s] > 0) step.info.trips = trips[s];
    step.info.name = name[s];
    if (const std::uint32_t op = operation[s]; op < operations) {
      step.operation_name = operation_name[op];
      step.info.operation = opcode[op];
      step.info.source = {{source[op], line[op], column[op]},
                          {python_file[op], python_line[op], 0}};
    }
    step.info.flops = flops[s];
    step.info.exchange_bytes = bytes[s];
    step.info.bound_cycles = bound[s];
    step.info.estimated_cycles = estimated[s];
    step.info.predicted_cycles = predicted[s];
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<CompileEvent> read_compile_events(const Hdf5File& file) {
  const std::string at = "/program/event/";
  // Traces before format 1.2 have none.
  if (!file.exists(at + "kind")) return {};
  const auto kind = file.read_text(at + "kind"), operation = file.read_text(at + "operation"),
             source = file.read_text(at + "source_file"), reason = file.read_text(at + "reason"),
             advice = file.read_text(at + "advice");
  const auto line = file.read_all<std::uint32_t>(at + "source_line", Hdf5Type::kU32);
  const auto column = file.read_all<std::uint32_t>(at + "source_column", Hdf5Type::kU32);
  std::vector<CompileEvent> events;
  for (std::size_t e = 0; e < std::min({kind.size(), operation.size(), source.size(), reason.size(),
                                        advice.size(), line.size(), column.size()});
       ++e) {
    using enum CompileEvent::Kind;
    for (const CompileEvent::Kind known : {kNoAmp, kDroppedPlan, kSlowRoute, kSmallProduct}) {
      if (name_of(known) != kind[e]) continue;
      events.push_back(
          {known, operation[e], {{source[e], line[e], column[e]}, {}}, reason[e], advice[e]});
    }
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

void read_tensor_table(const Hdf5File& file, TraceSummary& out) {
  const std::string at = "/program/variable/";
  const auto name = file.read_text(at + "name");
  const auto type = file.read_text(at + "type");
  const auto source = file.read_text(at + "source_file");
  const auto line = file.read_all<std::uint32_t>(at + "source_line", Hdf5Type::kU32);
  const auto bytes = file.read_all<std::uint64_t>(at + "bytes", Hdf5Type::kU64);
  const auto most = file.read_all<std::uint32_t>(at + "max_tile_bytes", Hdf5Type::kU32);
  for (std::size_t t = 0; t < std::min({name.size(), type.size(), source.size(), line.size(),
                                        bytes.size(), most.size()});
       ++t) {
    out.tensors.push_back(
        {name[t], type_from(type[t]), OpLocation{{source[t], line[t], 0}}, bytes[t], most[t]});
  }
}

/// The lock that a run which writes `part` holds: that of the trace it will become. Empty when that
/// is `out`, or nobody can write there.
std::optional<FileLock> lock_of_run(const std::filesystem::path& part,
                                    const std::filesystem::path& out) {
  namespace fs = std::filesystem;
  if (part.extension() != ".part") return std::nullopt;
  const fs::path run = fs::absolute(part).parent_path() / part.stem();
  if (fs::weakly_canonical(run) == fs::weakly_canonical(out)) return std::nullopt;
  if (access(run.parent_path().c_str(), W_OK) != 0) return std::nullopt;
  return std::optional<FileLock>(std::in_place, run);
}

}  // namespace

TraceSummary read_trace(const std::filesystem::path& path) {
  return guarded(path, [&] {
    const Hdf5File file = open_trace(path);
    TraceSummary out;
    out.format_version = text_at(file, "/", "format_version");
    out.level = text_at(file, "/", "level");
    out.outcome = text_at(file, "/", "outcome");
    out.complete = number_at(file, "/", "complete") == 1;
    out.module = text_at(file, "/", "module");
    out.machine_name = text_at(file, "/", "machine");
    const double clock_hz = real_at(file, "/", "clock_hz");
    if (clock_hz > 0 && clock_hz < 1e18) out.clock_hz = static_cast<std::uint64_t>(clock_hz);
    out.tiles = static_cast<std::uint32_t>(number_at(file, "/", "tiles"));
    out.tiles_used = static_cast<std::uint32_t>(file.shape("/program/used_tile", 1)[0]);
    out.workers = static_cast<std::uint32_t>(number_at(file, "/", "workers_per_tile"));
    out.calls = static_cast<std::uint32_t>(number_at(file, "/", "calls"));
    out.predicted = Cycles(number_at(file, "/", "predicted_cycles"));
    out.tile_memory_bytes = number_at(file, "/", "tile_memory_bytes");
    out.trap = text_at(file, "/summary", "trap");
    const std::vector<std::string> toml = file.read_text("/provenance/config_toml");
    if (!toml.empty()) out.machine_toml = toml[0];
    const TraceTotals totals =
        out.complete ? stored_totals(file) : totals_of(file, complete_rows(file));
    out.add_totals(totals);
    out.steps = read_steps(file, totals);
    out.events = read_events(file);
    out.plan_events = read_compile_events(file);
    read_memory(file, out);
    read_tensor_table(file, out);
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
  });
}

bool repair_trace(const std::filesystem::path& part, const std::filesystem::path& out,
                  const TraceReport& report) {
  if (read_trace(part).complete) return false;
  check_output(out);
  const FileLock of_out(out);
  const std::optional<FileLock> of_run = lock_of_run(part, out);
  guarded(part, [&] {
    const Hdf5File file = open_trace(part);
    TraceEnd end;
    end.outcome = "interrupted";
    end.trap = text_at(file, "/summary", "trap");
    repack_trace(file, totals_of(file, complete_rows(file)), end, report, out);
  });
  return true;
}

}  // namespace superstep
