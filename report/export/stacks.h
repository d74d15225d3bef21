#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "report/export/format.h"

namespace superstep {

/// A place in a stack: what it is called, and where it is written, if that is known.
struct StackFrame {
  std::string name, file;
  std::uint32_t line = 0;
  auto operator<=>(const StackFrame&) const = default;
};

/// A path through the program tree, outermost first, and its cycles.
struct Stack {
  std::vector<StackFrame> frames;
  std::uint64_t cycles = 0;
};

/// The stacks of a trace, in program order: module, loops, branches and arms, operation, step, by
/// the critical path part of the superstep, and where several share the step each with its part.
/// Those without cycles are left out.
[[nodiscard]] std::vector<Stack> stacks_of(const TraceFile& trace, const ExportRequest& request);

}  // namespace superstep
