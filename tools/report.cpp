#include "tools/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tools/numbers.h"

namespace superstep {
namespace {

double percent(Cycles part, Cycles whole) {
  return whole.value() == 0
             ? 0
             : 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value());
}

Cycles device(const RunTotals& totals) { return totals.exchange + totals.compute + totals.sync; }

/// How near the exchanges' schedules are to the words of their busiest ports.
std::string schedule_quality(const TraceSummary& trace) {
  std::uint64_t scheduled = 0, bound = 0;
  for (const StepTotals& step : trace.steps) {
    scheduled += step.count * step.info.predicted_cycles;
    bound += step.count * step.info.bound_cycles;
  }
  if (bound == 0) return {};
  return fmt::format(", schedules at {:.2f} of their bound",
                     static_cast<double>(scheduled) / static_cast<double>(bound));
}

}  // namespace

std::vector<OperationTotals> operations_of(const TraceSummary& trace) {
  std::vector<OperationTotals> operations;
  std::map<std::string, std::size_t> known;
  for (const StepTotals& step : trace.steps) {
    if (step.count == 0) continue;
    const auto [it, fresh] = known.emplace(step.operation_name, operations.size());
    if (fresh)
      operations.push_back(
          {.name = step.operation_name, .opcode = step.info.operation, .source = step.info.source});
    OperationTotals& sums = operations[it->second];
    sums.supersteps += step.count;
    sums.flops += step.count * step.info.flops;
    sums.compute += step.compute;
    sums.exchange += step.exchange;
    sums.sync += step.sync;
    sums.host += step.host;
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const OperationTotals& a, const OperationTotals& b) {
                     return a.device() != b.device() ? a.device() > b.device() : a.name < b.name;
                   });
  return operations;
}

std::string text_report(const TraceSummary& t) {
  const RunTotals& totals = t.totals;
  const Cycles on_device = device(totals);
  std::string out = fmt::format("{} on {} ({} of {} tiles, {:.3f} GHz)\n", t.module, t.machine_name,
                                t.tiles_used, t.tiles, static_cast<double>(t.clock_hz) / 1e9);
  if (!t.complete) out += "the run did not end: these are its finished supersteps\n";
  if (!t.trap.empty()) out += t.trap + "\n";
  for (const TraceEvent& event : t.events) {
    if (event.kind == TraceEvent::Kind::kTrap) continue;
    out +=
        fmt::format("{} at cycle {}: {}\n", name_of(event.kind), grouped(event.cycle), event.text);
  }
  out +=
      fmt::format("{:<28}{:>16}{:>16}{:>10}{:>10}\n", "", "cycles", "time", "% total", "% device");
  const auto row = [&](const char* name, Cycles cycles, bool of_device, const std::string& note) {
    out += fmt::format("{:<28}{:>16}{:>16}{:>10.1f}", name, grouped(cycles),
                       time_text(cycles, t.clock_hz), percent(cycles, totals.cycles));
    if (of_device) out += fmt::format("{:>10.1f}", percent(cycles, on_device));
    out += note.empty() ? "\n" : "  " + note + "\n";
  };
  row("Total", totals.cycles, false, "");
  row("  Host", totals.host, false, fmt::format("{} B", grouped(t.host_bytes)));
  row("  Device", on_device, true, "");
  row("    Compute", totals.compute, true, fmt::format("balance {:.0f} %", 100 * t.balance));
  row("    Exchange", totals.exchange, true,
      fmt::format("{} B{}", grouped(t.exchange_bytes), schedule_quality(t)));
  row("    Sync", totals.sync, true, fmt::format("{} supersteps", grouped(totals.supersteps)));
  if (t.calls > 1 && t.outcome == "ok")
    out += fmt::format("A call    {} device and {} host cycles, {} calls\n",
                       grouped(on_device.value() / t.calls), grouped(totals.host.value() / t.calls),
                       grouped(t.calls));

  const StepTotals* longest = nullptr;
  for (const StepTotals& step : t.steps)
    if (step.compute.value() != 0 && (!longest || step.compute > longest->compute)) longest = &step;
  if (longest)
    out += fmt::format("Critical  {}: {} compute cycles, tile {}\n", longest->info.name,
                       grouped(longest->compute), index(longest->worst));
  if (t.tile_memory_bytes != 0) {
    out += fmt::format(
        "Memory    worst tile {}: {:.1f} of {:.0f} KiB ({:.0f} %)", index(t.worst_tile),
        static_cast<double>(t.worst_tile_bytes) / 1024,
        static_cast<double>(t.tile_memory_bytes) / 1024,
        100.0 * static_cast<double>(t.worst_tile_bytes) / static_cast<double>(t.tile_memory_bytes));
    for (const auto& [name, bytes] : t.worst_tile_memory)
      if (bytes != 0) out += fmt::format("  {} {}", name, grouped(bytes));
    out += "\n";
  }
  constexpr std::size_t kMost = 8;
  const auto operations = operations_of(t);
  if (on_device.value() == 0) return out;
  out += fmt::format("{:<28}{:>16}{:>16}{:>10}{:>10}\n", "Top operations", "device cycles",
                     "compute", "exchange", "% device");
  for (std::size_t i = 0; i < std::min(kMost, operations.size()); ++i) {
    const OperationTotals& o = operations[i];
    if (o.device().value() == 0) break;
    out += fmt::format("  {:<26}{:>16}{:>16}{:>10}{:>10.1f}{}\n", o.name, grouped(o.device()),
                       grouped(o.compute), grouped(o.exchange), percent(o.device(), on_device),
                       o.source.file.empty() ? "" : "  " + o.source.text());
  }
  if (operations.size() > kMost)
    out +=
        fmt::format("  and {} more: superstep report RUN.h5 --json\n", operations.size() - kMost);
  return out;
}

namespace {

/// What tile memory holds where it holds most, and the tensors that take most of a tile.
struct WorstTile {
  std::size_t tile = 0;
  std::uint64_t bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> categories;
  std::vector<const TensorInfo*> tensors;
};

std::optional<WorstTile> worst_tile(const ProgramInfo& info) {
  constexpr std::size_t kTensors = 5;
  std::size_t tiles = 0;
  for (const MemoryCategory& category : info.memory)
    tiles = std::max(tiles, category.bytes_by_tile.size());
  std::vector<std::uint64_t> sums(tiles);
  for (const MemoryCategory& category : info.memory)
    for (std::size_t i = 0; i < category.bytes_by_tile.size(); ++i)
      sums[i] += category.bytes_by_tile[i];
  if (sums.empty()) return {};
  WorstTile worst;
  worst.tile = static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  worst.bytes = sums[worst.tile];
  for (const MemoryCategory& category : info.memory)
    if (worst.tile < category.bytes_by_tile.size() && category.bytes_by_tile[worst.tile] != 0)
      worst.categories.emplace_back(category.name, category.bytes_by_tile[worst.tile]);
  for (const TensorInfo& tensor : info.tensors) worst.tensors.push_back(&tensor);
  std::stable_sort(worst.tensors.begin(), worst.tensors.end(),
                   [](const TensorInfo* a, const TensorInfo* b) {
                     return a->max_tile_bytes > b->max_tile_bytes;
                   });
  worst.tensors.resize(std::min(kTensors, worst.tensors.size()));
  return worst;
}

}  // namespace

std::string memory_report(const ProgramInfo& info, const MachineConfig& machine) {
  const auto worst = worst_tile(info);
  if (!worst) return {};
  const std::uint64_t room = machine.tile.memory_bytes;
  std::string out = fmt::format(
      "Memory of the worst tile, {}: {} of {} B ({:.0f} %){}\n", worst->tile, grouped(worst->bytes),
      grouped(room), 100.0 * static_cast<double>(worst->bytes) / static_cast<double>(room),
      worst->bytes > room ? fmt::format(", {} B too many", grouped(worst->bytes - room)) : "");
  std::size_t width = 24;
  for (const TensorInfo* tensor : worst->tensors) width = std::max(width, tensor->name.size() + 2);
  for (const auto& [name, bytes] : worst->categories)
    out += fmt::format("  {:<{}}{:>12} B\n", name, width, grouped(bytes));
  if (!worst->tensors.empty())
    out += "Biggest tensors, bytes on the tile that holds most of each\n";
  for (const TensorInfo* tensor : worst->tensors)
    out += fmt::format("  {:<{}}{:>12} B  {}{}\n", tensor->name, width,
                       grouped(tensor->max_tile_bytes), tensor->type.text(),
                       tensor->source.file.empty() ? "" : "  " + tensor->source.text());
  return out;
}

nlohmann::ordered_json memory_document(const ProgramInfo& info, const MachineConfig& machine) {
  nlohmann::ordered_json document = {{"tile_bytes", machine.tile.memory_bytes}};
  const auto worst = worst_tile(info);
  if (!worst) return document;
  document["worst_tile"] = worst->tile;
  document["worst_tile_bytes"] = worst->bytes;
  document["worst_tile_categories"] = nlohmann::ordered_json::object();
  for (const auto& [name, bytes] : worst->categories)
    document["worst_tile_categories"][name] = bytes;
  document["biggest_tensors"] = nlohmann::ordered_json::array();
  for (const TensorInfo* tensor : worst->tensors)
    document["biggest_tensors"].push_back({{"name", tensor->name},
                                           {"type", tensor->type.text()},
                                           {"tile_bytes", tensor->max_tile_bytes},
                                           {"source", tensor->source.text()}});
  return document;
}

}  // namespace superstep
