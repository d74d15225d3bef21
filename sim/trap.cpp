#include <fmt/format.h>

#include "sim/machine.h"

namespace superstep {

std::string Trap::text() const {
  return fmt::format("trap at cycle {}, superstep {}, tile {}, {}, pc {:#x}: {}", cycle.value(),
                     superstep, index(tile), context, pc, cause);
}

std::string RunResult::place(const ProgramInfo& program) const {
  std::string text =
      fmt::format("cycle {}, superstep {}", totals.cycles.value(), totals.supersteps);
  if (last_step >= program.steps.size()) return text;
  const StepInfo& step = program.steps[last_step];
  text += ", " + step.name;
  const std::string source = step.source.text();
  return source.empty() ? text : text + " of " + source;
}

}  // namespace superstep
