#include "report/export/program_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/trace/progress.h"
#include "sim/trace/schema.h"

namespace superstep {

ProgramTree::ProgramTree(const TraceFile& trace)
    : module_(trace.hdf5().text_attribute("/", "module")), operations_(trace.read(kOperations)) {
  guard_trace(trace.path(), [&] {
    steps_ = read_steps(trace.hdf5());
    if (steps_.empty()) throw std::runtime_error("has no steps");
    if (operations_.empty()) throw std::runtime_error("has no operations");
  });
}

std::uint32_t ProgramTree::number(std::uint32_t step) const {
  return std::min(step, static_cast<std::uint32_t>(steps_.size() - 1));
}

const OperationRow& ProgramTree::operation(std::uint32_t step) const {
  const std::size_t number = this->step(step).operation_number;
  return operations_[std::min(number, operations_.size() - 1)];
}

std::vector<std::uint32_t> ProgramTree::ancestors(std::uint32_t step) const {
  std::vector<std::uint32_t> path;
  // Those that execute a step precede it, or the trace is damaged.
  for (std::uint32_t s = number(step); steps_[s].parent && *steps_[s].parent < s;) {
    s = *steps_[s].parent;
    path.push_back(s);
  }
  std::ranges::reverse(path);
  return path;
}

std::optional<std::uint32_t> ProgramTree::loop_around(std::uint32_t step) const {
  const std::vector<std::uint32_t> path = ancestors(step);
  const auto loop = std::find_if(path.rbegin(), path.rend(), [&](std::uint32_t s) {
    return steps_[s].is(StepInfo::Kind::kLoop);
  });
  return loop == path.rend() ? std::nullopt : std::optional(*loop);
}

std::string ProgramTree::label(std::uint32_t step) const {
  const StepRow& row = this->step(step);
  if (!row.is(StepInfo::Kind::kLoop)) return row.name;
  return row.known_trips == 0 ? fmt::format("{} (trips by data)", row.name)
                              : fmt::format("{} ({} trips)", row.name, row.known_trips);
}

}  // namespace superstep
