#include "sim/trace/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "isa/machine_config.h"
#include "isa/sync_zones.h"
#include "sim/named.h"
#include "sim/trace/schema.h"
#include "sim/trace/tables.h"

namespace superstep {
namespace {

void add_memory(const ProgramInfo& info, std::uint32_t tiles, TraceSummary& out) {
  if (info.memory.empty() || tiles == 0) return;
  const auto bytes = [&](const MemoryCategory& category, std::size_t tile) {
    return tile < category.bytes_by_tile.size() ? category.bytes_by_tile[tile] : 0;
  };
  std::vector<std::uint64_t> sums(tiles, 0);
  for (const MemoryCategory& category : info.memory) {
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += bytes(category, t);
  }
  const auto worst = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  out.worst_tile = TileId{static_cast<std::uint32_t>(worst)};
  out.worst_tile_bytes = sums[worst];
  for (const MemoryCategory& category : info.memory) {
    out.worst_tile_memory.emplace_back(category.name, bytes(category, worst));
  }
}

/// Where its user wrote it, without folders.
SourceLocation short_place(const OpLocation& source) {
  SourceLocation place = source.python.file.empty() ? source.module : source.python;
  place.file = std::filesystem::path(place.file).filename().string();
  return place;
}

}  // namespace

std::vector<RunRecorder::StepFacts> RunRecorder::facts_of(const ProgramInfo& info,
                                                          const std::vector<StepInfo>& steps) {
  const std::vector<std::uint32_t> operation = operations_of(steps).by_step;
  const std::vector<std::uint64_t> live = live_bytes_by_step(groups_of(steps), trace_memory(info));
  std::vector<StepFacts> facts(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    facts[s].operation = operation[s];
    facts[s].live_bytes = live[s];
    if (steps[s].kind == StepInfo::Kind::kExchange) {
      facts[s].predicted_cycles = steps[s].predicted_cycles;
    }
  }
  return facts;
}

RunRecorder::RunRecorder(const ProgramImage& image, const TraceOptions& options)
    : image_(image),
      level_(options.level),
      sources_(part_sources(image.machine, options.sources)),
      calls_(options.calls),
      begins_inside_(options.begin == CallPlace::kInside),
      predicted_(predicted_cycles(image, options.calls, options.begin)),
      steps_(trace_steps(image.info)),
      facts_(facts_of(image.info, steps_)),
      totals_(groups_of(steps_)) {}

const RunRecorder::StepFacts& RunRecorder::facts(std::uint32_t step) const {
  return facts_[std::min<std::size_t>(step, facts_.size() - 1)];
}

const SuperstepRow& RunRecorder::add(const SuperstepRecord& record) {
  SuperstepRow row{record};
  row.operation = facts(record.step).operation;
  row.live_bytes = facts(record.step).live_bytes;
  row.predicted_cycles = facts(record.exchange_step).predicted_cycles;
  row.exchange_source = sources_.exchange;
  row.compute_source = sources_.compute;
  row.sync_source = record.zone == kZoneExternal ? sources_.external_sync : sources_.internal_sync;
  row.callback_source = sources_.callbacks;
  row.host_source = sources_.host;
  if (record.tiles != nullptr && !record.tiles->empty()) {
    row.compute_min = UINT64_MAX;
    for (const TilePhase& phase : *record.tiles) {
      if (phase.compute != 0) ++row.active_tiles;
      row.compute_sum += phase.compute;
      row.compute_max = std::max(row.compute_max, phase.compute);
      row.compute_min = std::min(row.compute_min, phase.compute);
    }
  }
  row_ = row;
  launches_.clear();
  for (const ComputeShare& share : record.shares) launches_.push_back({share, record.number});
  totals_.for_each_executed(row_, launches_, [&](std::size_t step, std::uint64_t runs) {
    row_.flops += runs * steps_[step].flops;
  });
  totals_.add(row_, launches_);
  return row_;
}

std::string outcome_of(const RunResult& result) {
  return result.trap ? "trap" : result.interrupted ? "interrupted" : "ok";
}

void RunRecorder::finish(const RunResult& result) {
  if (result.trap) {
    const std::uint32_t tile =
        static_cast<std::uint32_t>(result.trap->chip) * image_.machine.tiles() +
        index(result.trap->tile);
    add_event({TraceEvent::Kind::kTrap, result.trap->cycle, static_cast<std::int32_t>(tile),
               result.trap->cause});
  } else if (result.interrupted) {
    add_event({TraceEvent::Kind::kInterrupted, result.totals.cycles, -1, place_of_end(result)});
  } else {
    for (const auto& [position, visits] : result.infeeds_left) {
      add_event({TraceEvent::Kind::kWarning, result.totals.cycles, -1,
                 fmt::format("infeed{} has {} visit{} more than the program took", position, visits,
                             visits == 1 ? "" : "s")});
    }
  }
}

std::string RunRecorder::place_of_end(const RunResult& result) const {
  std::string text;
  if (const std::uint32_t step = result.step_inside.value_or(result.last_step);
      step < image_.info.steps.size()) {
    text = fmt::format("{} {}, ", result.step_inside ? "inside" : "behind",
                       named(steps_[step].name, {short_place(steps_[step].source)}));
  }
  text += "in ";
  if (totals_.first_call) {
    const std::uint32_t calls = *totals_.first_call + calls_;
    // The last visit to the host is behind the last call.
    text += fmt::format("call {} of {}, ", std::min(totals_.last_call + 1, calls), calls);
  }
  return text + fmt::format("superstep {}", result.totals.supersteps);
}

void RunRecorder::add_event(TraceEvent event) {
  event.text = shortened(event.text, kTextBytes);
  events_.push_back(std::move(event));
}

TraceSummary RunRecorder::summary(std::string outcome, const std::optional<Trap>& trap) const {
  const MachineConfig& machine = image_.machine;
  TraceSummary out;
  out.format_version = kTraceVersion;
  out.level = name_of(level_);
  out.complete = outcome != "running";
  out.outcome = std::move(outcome);
  if (trap) {
    out.trap = trap->text();
    out.trap_kind = name_of(trap->kind);
  }
  out.module = image_.info.module;
  out.program_sha256 = image_.info.text_sha256;
  out.machine_name = machine.name;
  out.machine_toml = to_toml(machine);
  out.clock_hz = machine.tile.clock_hz;
  out.tiles = machine.tiles();
  out.tiles_used = static_cast<std::uint32_t>(image_.entries.size());
  out.workers = machine.tile.workers;
  out.begins_inside = begins_inside_;
  out.calls = calls_;
  out.predicted = predicted_;
  if (out.outcome != "ok") out.count_calls(totals_);
  out.tile_memory_bytes = machine.tile.memory_bytes;
  out.events = events_;
  for (const CompileEvent& event : image_.info.events) {
    out.plan_events.push_back(event);
    out.plan_events.back().source = shown_source(event.source);
  }
  out.add_totals(totals_);
  const TraceOperations operations = operations_of(steps_);
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const StepSums& sums = totals_.steps[s];
    if (s + 1 == steps_.size() && sums.count == 0) continue;  // nothing ran between steps
    StepTotals step = step_totals(sums);
    const StepInfo& first = operations.first_steps[operations.by_step[s]];
    step.info = steps_[s];
    step.operation_name = first.name;
    step.info.operation = first.operation;
    step.info.source = shown_source(first.source);
    for (FusedOperation& served : step.info.fused) served.source = shown_source(served.source);
    out.steps.push_back(std::move(step));
  }
  add_memory(image_.info, out.tiles, out);
  for (const TensorInfo& tensor : image_.info.tensors) {
    out.tensors.push_back(tensor);
    out.tensors.back().source = shown_source(tensor.source);
    // The table of variables has no column.
    out.tensors.back().source.module.column = 0;
  }
  return out;
}

}  // namespace superstep
