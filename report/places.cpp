#include "report/places.h"

#include <fmt/format.h>

#include <filesystem>

namespace superstep {
namespace {

std::string line_text(const SourceLocation& place) {
  if (place.line == 0) return {};
  return place.column == 0 ? fmt::format("{}", place.line)
                           : fmt::format("{}:{}", place.line, place.column);
}

}  // namespace

std::vector<std::string> with_place(std::vector<std::string> row, const OpLocation& place,
                                    PlaceForm form) {
  SourceLocation python = place.python;
  if (form != PlaceForm::kFull) {
    python.file = std::filesystem::path(python.file).filename().string();
  }
  const bool is_alone = form == PlaceForm::kOne && !python.file.empty();
  row.emplace_back(is_alone ? python.text() : line_text(place.module));
  if (!is_alone) row.push_back(python.text());
  return row;
}

std::vector<std::string> with_headings(std::vector<std::string> row, bool has_python,
                                       PlaceForm form) {
  const bool is_alone = form == PlaceForm::kOne && has_python;
  row.emplace_back(is_alone ? "Python" : "line");
  if (has_python && !is_alone) row.emplace_back("Python");
  return row;
}

std::string text_in(std::size_t columns, const std::function<TextTable(PlaceForm form)>& make) {
  for (const PlaceForm form : {PlaceForm::kFull, PlaceForm::kShort}) {
    const TextTable table = make(form);
    if (table.width() <= columns) return table.text();
  }
  TextTable table = make(PlaceForm::kOne);
  table.fit(columns);
  return table.text();
}

}  // namespace superstep
