#include "report/export/folded.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/export/stacks.h"

namespace superstep {
namespace {

/// A name without what separates frames and lines.
std::string folded(std::string name) {
  std::ranges::replace(name, ';', ',');
  std::ranges::replace(name, '\n', ' ');
  return name;
}

}  // namespace

std::vector<std::string> write_folded(const TraceFile& trace, const ExportRequest& request,
                                      const ExportSink& sink) {
  for (const Stack& stack : stacks_of(trace, request)) {
    std::string line;
    for (const StackFrame& frame : stack.frames) {
      line += (line.empty() ? "" : ";") + folded(frame.name);
    }
    sink(fmt::format("{} {}\n", line, stack.cycles));
  }
  return {};
}

}  // namespace superstep
