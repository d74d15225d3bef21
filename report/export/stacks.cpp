#include "report/export/stacks.h"

#include <map>
#include <utility>

#include "report/export/program_tree.h"
#include "report/shares.h"
#include "sim/trace/progress.h"
#include "sim/trace/schema.h"
#include "sim/trace/totals.h"

namespace superstep {
namespace {

/// What each step adds up to, in a window or, as the summary has it, in the run.
std::vector<StepSums> sums_of(const TraceFile& trace, const ExportRequest& request) {
  if (!request.window && trace.has(kStepSums)) return trace.read(kStepSums);
  const SuperstepRows rows = rows_in(trace, request.window);
  TraceTotals totals(groups_of(trace.read(kSteps)));
  trace.for_each_superstep(rows.first, rows.count, [&](const SuperstepInFile& superstep) {
    totals.add(superstep.row, superstep.launches);
  });
  return totals.steps;
}

/// Of an operation, or of one that shares a step.
template <class Operation>
StackFrame frame_of(const Operation& operation) {
  const SourceLocation& python = operation.source.python;
  const SourceLocation& place = python.file.empty() ? operation.source.module : python;
  return {operation.name, place.file, place.line};
}

class StackMaker {
 public:
  explicit StackMaker(const TraceFile& trace) : tree_(trace) {}

  [[nodiscard]] const ProgramTree& tree() const { return tree_; }

  /// Adds cycles of a step, of a part of its supersteps if one is named.
  void add(std::uint32_t step, std::string_view part, std::uint64_t cycles) {
    if (cycles == 0) return;
    Stack stack;
    stack.frames.push_back({tree_.module(), "", 0});
    for (const std::uint32_t above : tree_.ancestors(step)) {
      stack.frames.push_back({tree_.label(above), "", 0});
    }
    stack.frames.push_back(frame_of(tree_.operation(step)));
    const StepRow& row = tree_.step(step);
    if (row.name != stack.frames.back().name) stack.frames.push_back({row.name, "", 0});
    if (!part.empty()) stack.frames.push_back({std::string(part), "", 0});
    const std::vector<Share> shares = shares_of(row.fused);
    if (shares.empty()) return add(std::move(stack), cycles);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Stack of_one = stack;
      of_one.frames.push_back(frame_of(row.fused[i]));
      add(std::move(of_one), shares[i].of(cycles));
    }
  }

  std::vector<Stack> stacks() && { return std::move(stacks_); }

 private:
  void add(Stack stack, std::uint64_t cycles) {
    if (cycles == 0) return;
    const auto [known, is_new] = places_.emplace(stack.frames, stacks_.size());
    if (is_new) stacks_.push_back(std::move(stack));
    stacks_[known->second].cycles += cycles;
  }

  ProgramTree tree_;
  std::vector<Stack> stacks_;
  std::map<std::vector<StackFrame>, std::size_t> places_;  ///< in `stacks_`
};

}  // namespace

std::vector<Stack> stacks_of(const TraceFile& trace, const ExportRequest& request) {
  StackMaker maker(trace);
  const std::vector<StepSums> sums = sums_of(trace, request);
  for (std::uint32_t step = 0; step < sums.size(); ++step) {
    const StepSums& of_step = sums[step];
    if (request.weight == StackWeight::kWork) {
      maker.add(step, "", of_step.compute_sum);
      continue;
    }
    maker.add(step, "exchange", of_step.exchange.value());
    maker.add(step, "compute", of_step.compute.value());
    maker.add(step, "sync", of_step.sync.value());
    maker.add(step, "host", of_step.host.value());
  }
  return std::move(maker).stacks();
}

}  // namespace superstep
