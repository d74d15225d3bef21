#include "tools/plan_events.h"

namespace superstep {

std::string plan_events_text(std::span<const CompileEvent> events) {
  std::string out;
  for (const CompileEvent& event : events) {
    const std::string where = event.source.text();
    out += fmt::format("Note      {}{}: {}\n", event.operation, where.empty() ? "" : " at " + where,
                       event.reason);
    if (!event.advice.empty()) out += fmt::format("          {}\n", event.advice);
  }
  return out;
}

nlohmann::ordered_json plan_events_document(std::span<const CompileEvent> events) {
  auto list = nlohmann::ordered_json::array();
  for (const CompileEvent& event : events) {
    list.push_back({{"kind", name_of(event.kind)},
                    {"operation", event.operation},
                    {"source", event.source.module.text()},
                    {"reason", event.reason},
                    {"advice", event.advice}});
  }
  return list;
}

}  // namespace superstep
