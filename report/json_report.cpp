#include <nlohmann/json.hpp>
#include <optional>

#include "report/insights.h"
#include "report/json_text.h"
#include "report/plan_events.h"
#include "report/report.h"
#include "report/text_table.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

constexpr AnswerField kFields[] = {
    {"module", "text", "", "name of the StableHLO module"},
    {"machine", "text", "", "name of the machine"},
    {"clock_hz", "integer", "Hz", "tile clock"},
    {"tiles", "integer", "", "tiles of the chip"},
    {"tiles_used", "integer", "", "tiles with a program"},
    {"calls", "integer", "", "calls of the program that ended in the run"},
    {"begins_inside", "boolean", "",
     "the run goes on from a checkpoint inside a call: what was before is not there"},
    {"outcome", "text", "", "ok, trap, interrupted, oom or running"},
    {"trap", "text", "", "the trap that ended the run, or empty"},
    {"trap_kind", "text", "", "its kind, of those below, or empty"},
    {"events", "list", "", "what happened: warnings, the size limit, traps, a program too big"},
    {"events[].kind", "text", "", "warning, limit, trap, oom or interrupted"},
    {"events[].cycle", "integer", "cycle", "when"},
    {"events[].tile", "integer", "", "its tile, or -1"},
    {"events[].text", "text", "", "cut at 120 bytes"},
    kPlanEventFields[0],
    kPlanEventFields[1],
    kPlanEventFields[2],
    kPlanEventFields[3],
    kPlanEventFields[4],
    kPlanEventFields[5],
    {"cycles.total", "integer", "cycle", "device and host"},
    {"cycles.device", "integer", "cycle", "compute, exchange and sync"},
    {"cycles.predicted", "integer", "cycle",
     "device cycles of all calls as the compiler predicted them, with the syncs of visits to the "
     "host, and of loops whose trips follow from data one; 0 of what no compiler made, and of a "
     "run "
     "that begins inside a call"},
    {"cycles.compute", "integer", "cycle", "of the critical tile of each superstep"},
    {"cycles.exchange", "integer", "cycle", "likewise"},
    {"cycles.sync", "integer", "cycle", "likewise"},
    {"cycles.host", "integer", "cycle", "between external syncs"},
    {"cycles.exchange_assumed", "integer", "cycle",
     "of the exchange cycles, those that rest on assumed or extrapolated numbers of the machine; "
     "all of a trace that does not say"},
    {"cycles.compute_assumed", "integer", "cycle",
     "of the compute cycles, likewise, by the numbers that all code follows: where functions run, "
     "see `superstep sensitivity` for their slots, such as costs.f32div"},
    {"cycles.sync_assumed", "integer", "cycle", "of the sync cycles, likewise"},
    {"cycles.host_assumed", "integer", "cycle", "of the host cycles, likewise"},
    {"cycles.visit_begin", "integer", "cycle",
     "of the sync cycles, those in which visits to the host begin: until the host is there"},
    {"cycles.visit_callbacks", "integer", "cycle",
     "of those, so of the device cycles, until the host's callbacks are done"},
    {"cycles.visit_end", "integer", "cycle",
     "of the host cycles, those from the last packet of a visit to the sync that closes it; the "
     "others move data"},
    {"visits", "integer", "", "to the host"},
    {"supersteps", "integer", "", "from one opening of the barrier to the next"},
    {"instructions", "integer", "", "issued by all workers; a bundle counts as two"},
    {"flops", "integer", "flop", "useful floating-point operations, by the compiler"},
    {"exchange_bytes", "integer", "B", "written to tile memories by exchanges"},
    {"host_bytes", "integer", "B", "moved over the host link"},
    {"tile_balance", "number", "",
     "sum of the tiles' mean compute cycles over the sum of their maximum"},
    {"bsp_efficiency", "number", "", "sum of the tiles' mean compute cycles over device cycles"},
    {"issue.main", "number or null", "1",
     "of the tiles' compute cycles, those in which the main pipe issues; null of a trace before "
     "format 1.8, or without compute cycles"},
    {"issue.auxiliary", "number or null", "1", "likewise, the auxiliary pipe"},
    {"issue.amp", "number or null", "1", "likewise, of it the AMP"},
    {"memory.tile_bytes", "integer", "B", "memory of a tile"},
    {"memory.worst_tile", "integer", "", "tile with most memory in use"},
    {"memory.worst_tile_bytes", "integer", "B", "memory in use there"},
    {"memory.worst_tile_categories", "object", "B", "what it is used for: a number by category"},
    {"operations", "list", "",
     "most device cycles first; an exchange of several is shared by what it writes for each"},
    {"operations[].name", "text", "", "such as dot_general.3; `control` is the code between steps"},
    {"operations[].opcode", "text", "", "StableHLO operation, or empty"},
    {"operations[].source", "text", "", "file:line:column of the module, or empty"},
    {"operations[].python", "text", "", "file:line that it was traced from, or empty"},
    {"operations[].supersteps", "integer", "", "that it took part in"},
    {"operations[].runs", "integer", "", "executions of the step that ran most often"},
    {"operations[].flops", "integer", "flop", "useful ones"},
    {"operations[].compute_cycles", "integer", "cycle", ""},
    {"operations[].exchange_cycles", "integer", "cycle", ""},
    {"operations[].sync_cycles", "integer", "cycle",
     "with those in which its visits to the host begin, until the host is there"},
    {"operations[].host_cycles", "integer", "cycle", ""},
    {"operations[].exchange_bytes", "integer", "B", "written to tile memories by exchanges"},
    {"steps", "list", "", "steps of the program that ran, in program order"},
    {"steps[].name", "text", "", ""},
    {"steps[].operation", "text", "", "name in `operations`"},
    {"steps[].supersteps", "integer", "", "that it took part in"},
    {"steps[].runs", "integer", "", "executions: in loops there may be several in a superstep"},
    {"steps[].compute_cycles", "integer", "cycle", ""},
    {"steps[].exchange_cycles", "integer", "cycle", ""},
    {"steps[].sync_cycles", "integer", "cycle", "likewise"},
    {"steps[].host_cycles", "integer", "cycle", ""},
    {"steps[].bound_cycles", "integer", "cycle",
     "of one exchange: words of its busiest port; 0 for other steps"},
    {"steps[].estimated_cycles", "integer", "cycle",
     "of one exchange: as estimated before it was scheduled"},
    {"steps[].predicted_cycles", "integer", "cycle",
     "of one execution: an exchange by its schedule, compute by its code"},
    {"steps[].critical_tile", "integer", "", "of its longest superstep"},
    kInsightFields[0],
    kInsightFields[1],
    kInsightFields[2],
    kInsightFields[3],
    kInsightFields[4],
    kInsightFields[5],
};

}  // namespace

std::span<const AnswerField> report_fields() { return kFields; }

ordered_json report_document(const TraceSummary& t) {
  const RunTotals& totals = t.totals;
  const Cycles device = totals.device();
  ordered_json doc;
  doc["module"] = t.module;
  doc["machine"] = t.machine_name;
  doc["clock_hz"] = t.clock_hz;
  doc["tiles"] = t.tiles;
  doc["tiles_used"] = t.tiles_used;
  doc["calls"] = t.calls;
  doc["begins_inside"] = t.begins_inside;
  doc["outcome"] = t.outcome;
  doc["trap"] = t.trap;
  doc["trap_kind"] = t.trap_kind;
  doc["events"] = ordered_json::array();
  for (const TraceEvent& event : t.events) {
    doc["events"].push_back({{"kind", name_of(event.kind)},
                             {"cycle", event.cycle.value()},
                             {"tile", event.tile},
                             {"text", event.text}});
  }
  doc["plan_events"] = plan_events_document(t.plan_events);
  doc["cycles"] = {{"total", totals.cycles.value()},
                   {"device", device.value()},
                   {"predicted", t.predicted.value()},
                   {"compute", totals.compute.value()},
                   {"exchange", totals.exchange.value()},
                   {"sync", totals.sync.value()},
                   {"host", totals.host.value()},
                   {"exchange_assumed", t.assumed.exchange.value()},
                   {"compute_assumed", t.assumed.compute.value()},
                   {"sync_assumed", t.assumed.sync.value()},
                   {"host_assumed", t.assumed.host.value()},
                   {"visit_begin", t.visits.begin.value()},
                   {"visit_callbacks", t.visits.callbacks.value()},
                   {"visit_end", t.visits.end.value()}};
  doc["visits"] = t.visits.count;
  doc["supersteps"] = totals.supersteps;
  doc["instructions"] = totals.worker_instructions;
  doc["flops"] = t.flops;
  doc["exchange_bytes"] = t.exchange_bytes;
  doc["host_bytes"] = t.host_bytes;
  doc["tile_balance"] = t.balance;
  doc["bsp_efficiency"] = t.bsp_efficiency;
  const std::optional<IssueShares> issue = issue_shares(t);
  const auto share = [&](double IssueShares::*of) {
    return issue ? ordered_json((*issue).*of) : ordered_json();
  };
  doc["issue"] = {{"main", share(&IssueShares::main)},
                  {"auxiliary", share(&IssueShares::auxiliary)},
                  {"amp", share(&IssueShares::amp)}};
  ordered_json categories = ordered_json::object();
  for (const auto& [name, bytes] : t.worst_tile_memory) categories[name] = bytes;
  doc["memory"] = {{"tile_bytes", t.tile_memory_bytes},
                   {"worst_tile", index(t.worst_tile)},
                   {"worst_tile_bytes", t.worst_tile_bytes},
                   {"worst_tile_categories", categories}};
  const auto add_cycles = [](ordered_json& row, const auto& sums) {
    row["compute_cycles"] = sums.compute.value();
    row["exchange_cycles"] = sums.exchange.value();
    row["sync_cycles"] = sums.sync.value();
    row["host_cycles"] = sums.host.value();
  };
  doc["operations"] = ordered_json::array();
  for (const OperationTotals& operation : operations_of(t)) {
    ordered_json row{{"name", operation.name},
                     {"opcode", operation.opcode},
                     {"source", operation.source.module.text()},
                     {"python", operation.source.python.text()},
                     {"supersteps", operation.supersteps},
                     {"runs", operation.runs},
                     {"flops", operation.flops}};
    add_cycles(row, operation);
    row["exchange_bytes"] = operation.exchange_bytes;
    doc["operations"].push_back(std::move(row));
  }
  doc["steps"] = ordered_json::array();
  for (const StepTotals& step : t.steps) {
    if (step.count == 0) continue;
    ordered_json row{{"name", step.info.name},
                     {"operation", step.operation_name},
                     {"supersteps", step.count},
                     {"runs", step.runs}};
    add_cycles(row, step);
    row["bound_cycles"] = step.info.bound_cycles;
    row["estimated_cycles"] = step.info.estimated_cycles;
    row["predicted_cycles"] = step.info.predicted_cycles;
    row["critical_tile"] = index(step.worst);
    doc["steps"].push_back(std::move(row));
  }
  return doc;
}

std::string json_report(const TraceSummary& t) { return json_text(report_document(t), 2) + "\n"; }

}  // namespace superstep
