#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "report/numbers.h"
#include "report/report.h"
#include "report/shares.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

using Form = ViewColumn::Form;

std::vector<OperationTotals> groups_by_call(const ViewInput& input) {
  std::vector<OperationTotals> calls;
  input.file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    const std::string name = fmt::format("call {}", row.call);
    if (calls.empty() || calls.back().name != name) calls.push_back({.name = name, .runs = 1});
    add(calls.back(), {.supersteps = 1,
                       .flops = row.flops,
                       .compute = row.compute,
                       .exchange = row.exchange,
                       .sync = row.sync,
                       .host = row.host,
                       .tile_cycles = row.compute_sum,
                       .peak_cycles = row.compute_max,
                       .instructions = row.worker_instructions});
  });
  return calls;
}

/// The steps that ran, and what has steps in it, of those that are meant.
std::vector<std::size_t> steps_there(const ViewInput& input) {
  std::vector<std::size_t> there;
  for (std::size_t s = 0; s < input.trace.steps.size(); ++s) {
    const StepTotals& step = input.trace.steps[s];
    const bool is_there = step.count != 0 || step.info.is_control();
    if (is_there && matches(input.options, step.info.name)) there.push_back(s);
  }
  return there;
}

/// Of these steps those that took most, as many as the options say, and the loops and branches that
/// they are in.
std::set<std::size_t> longest_steps(const ViewInput& input, std::vector<std::size_t> there) {
  const std::set<std::size_t> all(there.begin(), there.end());
  if (input.options.top == 0 || input.options.top >= there.size()) return all;
  std::ranges::stable_sort(there, std::ranges::greater{},
                           [&](std::size_t s) { return input.trace.steps[s].device(); });
  there.resize(input.options.top);
  std::set<std::size_t> longest;
  for (std::optional<std::size_t> s : there) {
    for (; s && all.contains(*s) && longest.insert(*s).second;) {
      const auto parent = input.trace.steps[*s].info.parent;
      s = parent ? std::optional<std::size_t>(*parent) : std::nullopt;
    }
  }
  return longest;
}

/// What of a step was measured where its cycles count: an exchange always, code where the critical
/// tile of a superstep runs it. The page compares the same with what was predicted.
struct Measured {
  std::uint64_t runs = 0, cycles = 0;
};

std::vector<Measured> measured_steps(const ViewInput& input) {
  std::vector<Measured> measured(input.trace.steps.size());
  input.file.for_each_superstep(
      0, input.file.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
        for (const LaunchRow& launch : superstep.launches) {
          // Without cycles only other tiles run it.
          if (launch.runs == 0 || launch.cycles == 0 || launch.step >= measured.size()) continue;
          measured[launch.step].runs += launch.runs;
          measured[launch.step].cycles += launch.cycles;
        }
      });
  for (std::size_t s = 0; s < measured.size(); ++s) {
    const StepTotals& step = input.trace.steps[s];
    if (step.info.kind == StepInfo::Kind::kExchange)
      measured[s] = {step.runs, step.exchange.value()};
  }
  return measured;
}

/// Groups that take device cycles, or compute beside others, and match, as many as the options say,
/// and the sum of the others.
ViewTable groups_table(const TraceSummary& trace, std::vector<OperationTotals> groups,
                       const ViewOptions& options) {
  std::erase_if(groups, [&](const OperationTotals& group) {
    return !is_listed(group) || !matches(options, group.name);
  });
  const RunTotals& totals = trace.totals;
  const auto device = static_cast<double>(totals.device().value());
  double longest = 1;
  for (const OperationTotals& group : groups)
    longest = std::max(longest, static_cast<double>(group.device().value()));
  ViewTable table{
      .name = "operations",
      .title = options.group_by == "operation" ? "Operations" : "By " + options.group_by,
      .columns = {{options.group_by},
                  {"cycles", Form::kCycles},
                  {"time", Form::kTime, "", 1},
                  {"%", Form::kShare},
                  {"compute", Form::kCycles, "", 4},
                  {"exchange", Form::kCycles, "", 3},
                  {"sync", Form::kCycles, "", 5},
                  {"host", Form::kCycles, "", 11},
                  {"balance", Form::kShare, "1", 8,
                   "mean of the tiles' compute cycles over the most, in supersteps that begin "
                   "with it"},
                  {"AMP", Form::kShare, "1", 7,
                   "of the tiles' compute cycles in supersteps that begin with it, those in which "
                   "the AMP issues"},
                  {"main", Form::kShare, "1", 9, "the main pipe, likewise"},
                  {"aux", Form::kShare, "1", 10,
                   "the auxiliary pipe, likewise, of which the AMP is a part"},
                  {"runs", Form::kCount, "1", 12},
                  {"supersteps", Form::kCount, "1", 14},
                  {"flop", Form::kCount, "flop", 15},
                  {"flop/cycle", Form::kReal, "flop/cycle", 13},
                  {"place", Form::kPlace, "", 2},
                  {"phases", Form::kPhaseBar, "", 6}}};
  const auto add_row = [&](const OperationTotals& group) {
    const Cycles cycles = group.device();
    const auto of_device = static_cast<double>(cycles.value());
    const auto of_longest = [&](Cycles part) {
      return static_cast<double>(part.value()) / longest;
    };
    const double even = static_cast<double>(group.peak_cycles) * trace.tiles_used;
    const std::optional<IssueShares> issue = issue_shares(group.instructions, group.tile_cycles);
    const auto issued = [&](double IssueShares::*share) {
      return cell_if(issue.has_value(), issue.value_or(IssueShares{}).*share);
    };
    table.add(
        group.name, cycles.value(), time_cell(cycles, trace.clock_hz),
        device == 0 ? 0 : of_device / device, group.compute.value(), group.exchange.value(),
        group.sync.value(), group.host.value(),
        cell_if(even != 0, static_cast<double>(group.tile_cycles) / even),
        issued(&IssueShares::amp), issued(&IssueShares::main), issued(&IssueShares::auxiliary),
        cell_if(group.runs != 0, group.runs), group.supersteps, group.flops,
        cell_if(of_device != 0 && group.flops != 0, static_cast<double>(group.flops) / of_device),
        group.source.python.file.empty() ? group.source.module.text() : group.source.python.text(),
        std::vector<double>{of_longest(group.compute), of_longest(group.exchange),
                            of_longest(group.sync)});
  };
  const std::size_t top = options.top == 0 ? groups.size() : options.top;
  const std::size_t shown = std::min(top, groups.size());
  for (std::size_t i = 0; i < shown; ++i) add_row(groups[i]);
  if (shown < groups.size()) {
    OperationTotals rest{.name = fmt::format("{} more", groups.size() - shown)};
    for (std::size_t i = shown; i < groups.size(); ++i) add(rest, groups[i]);
    add_row(rest);
  }
  note_no_match(table, options);
  return table;
}

}  // namespace

ViewTable operations_table(const TraceSummary& trace, const ViewOptions& options) {
  return groups_table(trace, operations_of(trace, options.group_by), options);
}

std::vector<ViewTable> ops_view(const ViewInput& input) {
  if (input.options.group_by != "call") return {operations_table(input.trace, input.options)};
  return {groups_table(input.trace, groups_by_call(input), input.options)};
}

std::vector<ViewTable> steps_view(const ViewInput& input) {
  ViewTable table{
      .name = "steps",
      .title = "Steps, in program order",
      .columns = {{"#", Form::kCount, "1", 0,
                   "its superstep in the program, as `compile` numbers them; --trace-supersteps "
                   "takes those of the run (--view supersteps), which go on in each call and trip "
                   "of a loop"},
                  {"kind"},
                  {"step"},
                  {"runs", Form::kCount, "1", 5},
                  {"cycles", Form::kCycles},
                  {"time", Form::kTime, "", 6},
                  {"%", Form::kShare, "1", 1},
                  {"a run", Form::kReal, "cycle", 2,
                   "cycles of one execution, where the critical tile runs the step"},
                  {"predicted", Form::kCycles, "", 3, "by the code, or the schedule"},
                  {"bound", Form::kCycles, "", 4, "words of an exchange's busiest port"},
                  {"tile", Form::kCount, "1", 7, "critical in its longest superstep"},
                  {"share", Form::kBar, "", 9},
                  {"operations", Form::kText, "", 8,
                   "those that share a step: computed in it, by what each would take alone; moved "
                   "for, by words"}}};
  constexpr std::string_view kKinds[] = {"compute", "exchange", "host", "",
                                         "loop",    "branch",   "arm"};
  const auto all = static_cast<double>(input.trace.totals.device().value());
  const std::vector<std::size_t> there = steps_there(input);
  const std::set<std::size_t> shown = longest_steps(input, there);
  const std::vector<Measured> measured = measured_steps(input);
  Cycles rest;
  std::vector<std::size_t> depth;
  for (const StepTotals& step : input.trace.steps) {
    const auto parent = step.info.parent;
    depth.push_back(parent && *parent < depth.size() ? depth[*parent] + 1 : 0);
  }
  for (const std::size_t s : there) {
    const StepTotals& step = input.trace.steps[s];
    const Cycles cycles = step.device();
    if (!shown.contains(s)) {
      rest += cycles;
      continue;
    }
    const double share = all == 0 ? 0 : static_cast<double>(cycles.value()) / all;
    const auto kind = static_cast<std::size_t>(step.info.kind);
    const Measured& of_step = measured[s];
    table.add(
        cell_if(step.info.superstep.has_value(), std::uint64_t{step.info.superstep.value_or(0)}),
        std::string(kind < std::size(kKinds) ? kKinds[kind] : ""),
        std::string(2 * depth[s], ' ') + step.info.name, cell_if(step.runs != 0, step.runs),
        cycles.value(), time_cell(cycles, input.trace.clock_hz), share,
        cell_if(of_step.runs != 0, ratio(of_step.cycles, of_step.runs)),
        cell_if(step.info.predicted_cycles != 0, step.info.predicted_cycles),
        cell_if(step.info.bound_cycles != 0, step.info.bound_cycles),
        cell_if(step.compute.value() != 0, std::uint64_t{index(step.worst)}), share,
        shares_text(step.info.fused));
  }
  if (shown.size() < there.size()) {
    const double share = all == 0 ? 0 : static_cast<double>(rest.value()) / all;
    const ViewCell none;
    table.add(none, none, fmt::format("{} more", there.size() - shown.size()), none, rest.value(),
              time_cell(rest, input.trace.clock_hz), share, none, none, none, none, share, none);
  }
  if (!input.file.has(kSupersteps) && !there.empty())
    table.notes.emplace_back(
        "A run of what is computed is in traces of level superstep and finer (`--trace "
        "superstep`).");
  note_no_match(table, input.options);
  table.compared = {{"kind", "step"}, {"cycles", "runs", "predicted"}, true};
  return {std::move(table)};
}

}  // namespace superstep
