#include "report/plan_events.h"

#include <fmt/format.h>

#include "report/text_table.h"

namespace superstep {

std::string plan_events_text(std::span<const CompileEvent> events, std::size_t columns) {
  constexpr std::size_t kIndent = 10;
  std::string out;
  for (const CompileEvent& event : events) {
    const std::string where = event.source.module.text();
    std::string text = fmt::format("Note: {}{} {}", event.operation,
                                   where.empty() ? "" : ", " + where + ",", event.reason);
    if (!event.advice.empty()) text += "; " + event.advice;
    out += filled(one_line(text), kIndent, columns);
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
