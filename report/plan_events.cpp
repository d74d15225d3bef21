#include "report/plan_events.h"

#include <sstream>

namespace superstep {

namespace {

/// The words of a text in lines of so many columns, of which those after the first begin with
/// `indent` blanks.
std::string filled(const std::string& text, std::size_t indent, std::size_t columns) {
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line.assign(indent, ' ');
    } else if (!line.empty()) {
      line += ' ';
    }
    line += word;
  }
  return out + line + "\n";
}

}  // namespace

std::string plan_events_text(std::span<const CompileEvent> events, std::size_t columns) {
  constexpr std::size_t kIndent = 10;
  std::string out;
  for (const CompileEvent& event : events) {
    const std::string where = event.source.module.text();
    std::string text = fmt::format("Note: {}{} {}", event.operation,
                                   where.empty() ? "" : ", " + where + ",", event.reason);
    if (!event.advice.empty()) text += "; " + event.advice;
    out += filled(text, kIndent, columns);
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
