#include "isa/program_image.h"

#include <fmt/format.h>

namespace superstep {

std::string stream_name(Stream::Kind kind, std::uint32_t position) {
  switch (kind) {
    case Stream::Kind::kArgument:
      return fmt::format("arg{}", position);
    case Stream::Kind::kResult:
      return fmt::format("result{}", position);
    case Stream::Kind::kInfeed:
      return fmt::format("infeed{}", position);
    case Stream::Kind::kOutfeed:
      return fmt::format("outfeed{}", position);
    case Stream::Kind::kGoesOn:
      break;
  }
  return "goes_on";
}

std::optional<std::uint32_t> loop_around(const std::vector<StepInfo>& steps, std::uint32_t step) {
  if (step >= steps.size()) return std::nullopt;
  std::optional<std::uint32_t> around = steps[step].parent;
  while (around && steps[*around].kind != StepInfo::Kind::kLoop) around = steps[*around].parent;
  return around;
}

std::vector<std::uint64_t> executions_by_step(const std::vector<StepInfo>& steps) {
  std::vector<std::uint64_t> executions(steps.size(), 1);
  std::vector<bool> has_longest(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const StepInfo& step = steps[s];
    if (!step.parent) continue;
    const StepInfo& parent = steps[*step.parent];
    executions[s] = executions[*step.parent] * parent.trips.value_or(1);
    if (step.kind != StepInfo::Kind::kArm) continue;
    const bool is_longest =
        step.predicted_cycles == parent.predicted_cycles && !has_longest[*step.parent];
    if (is_longest) has_longest[*step.parent] = true;
    if (!is_longest) executions[s] = 0;
  }
  return executions;
}

}  // namespace superstep
