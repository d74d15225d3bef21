#include <fmt/format.h>

#include <algorithm>

#include "report/plan_events.h"
#include "report/report.h"
#include "report/rules/rules.h"

namespace superstep {

std::optional<double> find_plan(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  const std::vector<OperationTotals> operations = operations_of(t);
  double most = 0;
  for (const CompileEvent& event : t.plan_events) {
    if (!costs_time(event.kind)) continue;
    const auto operation = std::ranges::find(operations, event.operation, &OperationTotals::name);
    if (operation == operations.end()) continue;
    const double of_device = ratio(operation->device(), t.totals.device());
    most = std::max(most, of_device);
    if (of_device <= input.rule.limit) continue;
    input.insights.push_back({name_of(event.kind),
                              fmt::format("{} takes {} % of device cycles: {}", event.operation,
                                          percent(of_device), event.reason),
                              event.advice, event.operation, Cycles()});
  }
  return most;
}

std::optional<double> find_prediction(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  if (t.predicted.value() == 0 || t.outcome != "ok") return std::nullopt;
  const double off = ratio(t.totals.device(), t.predicted) - 1;
  if (std::abs(off) > input.rule.limit)
    say(input, fmt::format("the compiler predicted {} device cycles, the machine took {} ({:+d} %)",
                           grouped(t.predicted), grouped(t.totals.device()), percent(off)));
  return std::abs(off);
}

std::optional<double> find_assumed(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  if (t.totals.device().value() == 0) return std::nullopt;
  const double of_device = ratio(t.assumed.device(), t.totals.device());
  if (of_device > input.rule.limit)
    say(input, fmt::format("{} % of device cycles rest on numbers of the machine that are assumed",
                           percent(of_device)));
  return of_device;
}

}  // namespace superstep
