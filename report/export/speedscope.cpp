#include "report/export/speedscope.h"

#include <map>
#include <nlohmann/json.hpp>

#include "report/export/stacks.h"
#include "report/json_text.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

ordered_json document_of(const StackFrame& frame) {
  ordered_json document = {{"name", frame.name}};
  if (!frame.file.empty()) document["file"] = frame.file;
  if (frame.line != 0) document["line"] = frame.line;
  return document;
}

}  // namespace

std::vector<std::string> write_speedscope(const TraceFile& trace, const ExportRequest& request,
                                          const ExportSink& sink) {
  std::map<StackFrame, std::size_t> numbers;
  ordered_json frames = ordered_json::array();
  const auto number_of = [&](const StackFrame& frame) {
    const auto [known, is_new] = numbers.emplace(frame, frames.size());
    if (is_new) frames.push_back(document_of(frame));
    return known->second;
  };
  ordered_json samples = ordered_json::array(), weights = ordered_json::array();
  std::uint64_t end = 0;
  for (const Stack& stack : stacks_of(trace, request)) {
    ordered_json& sample = samples.emplace_back(ordered_json::array());
    for (const StackFrame& frame : stack.frames) sample.push_back(number_of(frame));
    weights.push_back(stack.cycles);
    end += stack.cycles;
  }
  const bool is_work = request.weight == StackWeight::kWork;
  // Its units have no cycles.
  const ordered_json profile = {
      {"type", "sampled"},
      {"name", is_work ? "compute cycles of all tiles" : "cycles of the critical path"},
      {"unit", "none"},
      {"startValue", 0},
      {"endValue", end},
      {"samples", std::move(samples)},
      {"weights", std::move(weights)}};
  const ordered_json document = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                                 {"exporter", "superstep"},
                                 {"name", trace.hdf5().text_attribute("/", "module")},
                                 {"shared", {{"frames", std::move(frames)}}},
                                 {"profiles", ordered_json::array({profile})}};
  sink(json_text(document) + "\n");
  return {};
}

}  // namespace superstep
