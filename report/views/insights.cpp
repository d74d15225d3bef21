#include <fmt/format.h>

#include <algorithm>

#include "report/insights.h"
#include "report/view.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

ViewTable found_table(const std::vector<Insight>& found, const ViewInput& input) {
  ViewTable table{.name = "insights",
                  .title = "Worth a look",
                  .columns = {{"rule"},
                              {"found"},
                              {"operation"},
                              {"cycles", Form::kCycles},
                              {"time", Form::kTime},
                              {"try"}}};
  table.is_prose = true;
  for (const Insight& insight : found) {
    if (input.options.top != 0 && table.rows.size() == input.options.top) break;
    table.add(std::string(insight.rule), insight.found, insight.operation,
              cell_if(insight.cycles.value() != 0, insight.cycles.value()),
              time_cell(insight.cycles, input.trace.clock_hz), insight.advice);
  }
  note_more(table, found.size() - table.rows.size());
  if (table.rows.empty()) table.notes.emplace_back("None of the rules finds anything.");
  return table;
}

}  // namespace

ViewTable silent_rules_table(const std::vector<SilentRule>& silent, const TraceSummary& trace) {
  ViewTable table{
      .name = "silent",
      .title = "Rules that find nothing",
      .columns = {{"rule"},
                  {"measured", Form::kShare, "1"},
                  {"limit", Form::kShare, "1", 0, "above which it speaks (docs/insights.md)"},
                  {"of what", Form::kText}}};
  std::string unseen, of_nothing;
  const auto level = trace_level(trace.level);
  for (const auto& [rule, measured] : silent) {
    if (!measured) {
      if (level && *level >= rule->level)
        of_nothing += fmt::format("{}{}", of_nothing.empty() ? "" : ", ", rule->name);
      else
        unseen += fmt::format("{}{} (level {})", unseen.empty() ? "" : ", ", rule->name,
                              name_of(rule->level));
      continue;
    }
    table.add(std::string(rule->name), *measured, rule->limit, std::string(rule->measure));
  }
  if (!unseen.empty()) table.notes.push_back(fmt::format("Not there to be measured: {}.", unseen));
  if (!of_nothing.empty())
    table.notes.push_back(
        fmt::format("Nothing of the kind in the run, or not all of it traced: {}.", of_nothing));
  return table;
}

std::vector<ViewTable> insights_view(const ViewInput& input) {
  const Insights insights = look_for_insights(input.trace, &input.file);
  return {found_table(insights.found, input), silent_rules_table(insights.silent, input.trace)};
}

}  // namespace superstep
