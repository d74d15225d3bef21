#include "tools/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/numbers.h"

namespace superstep {
namespace {

double percent(Cycles part, Cycles whole) {
  return whole.value() == 0
             ? 0
             : 100.0 * static_cast<double>(part.value()) / static_cast<double>(whole.value());
}

struct Operation {
  std::string name;
  Cycles cycles;
};

/// Device cycles by operation, most first; equal counts by name.
std::vector<Operation> top_operations(const TraceSummary& trace) {
  std::map<std::string, Cycles> sums;
  for (const StepTotals& step : trace.steps)
    if (step.count != 0) sums[step.info.name] += step.exchange + step.compute + step.sync;
  std::vector<Operation> operations;
  for (const auto& [name, cycles] : sums)
    if (cycles.value() != 0) operations.push_back({name, cycles});
  std::stable_sort(operations.begin(), operations.end(),
                   [](const Operation& a, const Operation& b) { return a.cycles > b.cycles; });
  return operations;
}

Cycles device(const RunTotals& totals) { return totals.exchange + totals.compute + totals.sync; }

}  // namespace

std::string text_report(const TraceSummary& t) {
  const RunTotals& totals = t.totals;
  const Cycles on_device = device(totals);
  std::string out = fmt::format("{} on {} ({} of {} tiles, {:.3f} GHz)\n", t.module, t.machine_name,
                                t.tiles_used, t.tiles, static_cast<double>(t.clock_hz) / 1e9);
  if (!t.complete) out += "the run did not end: these are its finished supersteps\n";
  if (!t.trap.empty()) out += t.trap + "\n";
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
  row("    Exchange", totals.exchange, true, fmt::format("{} B", grouped(t.exchange_bytes)));
  row("    Sync", totals.sync, true, fmt::format("{} supersteps", grouped(totals.supersteps)));

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
  const auto operations = top_operations(t);
  if (!operations.empty()) {
    out += "Top operations (device cycles)\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(8, operations.size()); ++i)
      out += fmt::format("  {:<40}{:>14}{:>8.1f} %\n", operations[i].name,
                         grouped(operations[i].cycles), percent(operations[i].cycles, on_device));
  }
  return out;
}

std::string json_report(const TraceSummary& t) {
  using nlohmann::ordered_json;
  const auto parts = [](const auto& p) {
    return ordered_json{{"cycles", p.cycles.value()},
                        {"compute_cycles", p.compute.value()},
                        {"exchange_cycles", p.exchange.value()},
                        {"sync_cycles", p.sync.value()},
                        {"host_cycles", p.host.value()}};
  };
  ordered_json doc;
  doc["schema_version"] = 1;
  doc["module"] = t.module;
  doc["machine"] = t.machine_name;
  doc["clock_hz"] = t.clock_hz;
  doc["tiles"] = t.tiles;
  doc["tiles_used"] = t.tiles_used;
  doc["outcome"] = t.outcome;
  if (!t.trap.empty()) doc["trap"] = t.trap;
  doc["total"] = parts(t.totals);
  doc["device_cycles"] = device(t.totals).value();
  doc["supersteps"] = t.totals.supersteps;
  doc["worker_instructions"] = t.totals.worker_instructions;
  doc["exchange_bytes"] = t.exchange_bytes;
  doc["host_bytes"] = t.host_bytes;
  doc["balance"] = t.balance;
  doc["memory"] = {{"worst_tile", index(t.worst_tile)},
                   {"worst_tile_bytes", t.worst_tile_bytes},
                   {"tile_memory_bytes", t.tile_memory_bytes}};
  for (const auto& [name, bytes] : t.worst_tile_memory) doc["memory"]["by_category"][name] = bytes;
  doc["steps"] = ordered_json::array();
  for (const StepTotals& step : t.steps) {
    if (step.count == 0) continue;
    ordered_json row{{"name", step.info.name},
                     {"operation", step.info.operation},
                     {"source", step.info.source.text()},
                     {"supersteps", step.count}};
    row.update(parts(step));
    row["critical_tile"] = index(step.worst);
    doc["steps"].push_back(std::move(row));
  }
  return doc.dump(2) + "\n";
}

std::string memory_report(const ProgramInfo& info, const MachineConfig& machine) {
  std::size_t tiles = 0;
  for (const MemoryCategory& category : info.memory)
    tiles = std::max(tiles, category.bytes_by_tile.size());
  std::vector<std::uint64_t> sums(tiles);
  for (const MemoryCategory& category : info.memory)
    for (std::size_t i = 0; i < category.bytes_by_tile.size(); ++i)
      sums[i] += category.bytes_by_tile[i];
  if (sums.empty()) return {};
  const auto worst =
      static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  std::string out = fmt::format("Memory    worst tile {}: {} of {} B\n", worst,
                                grouped(sums[worst]), grouped(machine.tile.memory_bytes));
  for (const MemoryCategory& category : info.memory)
    if (worst < category.bytes_by_tile.size() && category.bytes_by_tile[worst] != 0)
      out +=
          fmt::format("  {:<24}{:>12} B\n", category.name, grouped(category.bytes_by_tile[worst]));
  std::vector<const TensorInfo*> tensors;
  for (const TensorInfo& tensor : info.tensors) tensors.push_back(&tensor);
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return a->max_tile_bytes > b->max_tile_bytes;
  });
  if (!tensors.empty()) out += "Biggest tensors (bytes on their worst tile)\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(5, tensors.size()); ++i)
    out += fmt::format("  {:<24}{:>12} B  {}\n", tensors[i]->name,
                       grouped(tensors[i]->max_tile_bytes), tensors[i]->type.text());
  return out;
}

}  // namespace superstep
