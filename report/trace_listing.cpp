#include "report/trace_listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/format_version.h"
#include "report/text_table.h"
#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"
#include "sim/trace/trace_file.h"

namespace superstep {
namespace {

class Lister {
 public:
  explicit Lister(const Hdf5File& file) : file_(file) {}

  std::vector<ListedDataset> datasets() && {
    list_group("", 0);
    return std::move(datasets_);
  }

 private:
  void list_group(const std::string& group, unsigned depth) {
    // Groups of foreign files may hold themselves.
    constexpr unsigned kMostDepth = 16;
    if (depth == kMostDepth) return;
    const std::string name = group.empty() ? "/" : group;
    for (const std::string& dataset : file_.datasets(name)) list(group + "/" + dataset);
    for (const std::string& inner : file_.groups(name)) list_group(group + "/" + inner, depth + 1);
  }

  void list(const std::string& path) {
    ListedDataset& listed = datasets_.emplace_back();
    listed.path = path;
    listed.type = file_.type_text(path);
    listed.shape = file_.dims(path);
    listed.axes = file_.text_attribute(path, "axes");
    listed.unit = file_.text_attribute(path, "units");
    listed.meaning = file_.text_attribute(path, "long_name");
    const auto [known, is_new] = paths_.emplace(file_.identity(path), path);
    if (!is_new) listed.same_as = known->second;
  }

  const Hdf5File& file_;
  std::vector<ListedDataset> datasets_;
  std::map<std::uint64_t, std::string> paths_;  ///< the first of each dataset
};

std::string why_missing(const RootRow& root, TraceLevel level, unsigned minor) {
  const std::optional<TraceLevel> has = trace_level(root.level);
  if (has && level > *has) return fmt::format("level {}", name_of(level));
  if (minor > minor_of(root.format_version)) return fmt::format("since format 1.{}", minor);
  return {};
}

std::vector<MissingPart> missing_of(const Hdf5File& file, const RootRow& root) {
  std::vector<MissingPart> missing;
  if (!root.complete) missing.push_back({std::string(kReport.group), "while the run is not over"});
  const auto is_to_come = [&](std::string_view path) { return !root.complete && is_of_end(path); };
  for (const TraceColumn& column : trace_columns()) {
    if (file.exists(column.path) || is_to_come(column.path)) continue;
    missing.push_back({column.path, why_missing(root, column.level, column.minor)});
  }
  for (const TraceAttribute& attribute : trace_attributes()) {
    const std::string object(attribute.object), name(attribute.name);
    if (is_to_come(object) || (file.exists(object) && file.attribute(object, name))) continue;
    missing.push_back({fmt::format("{}@{}", object, name),
                       why_missing(root, TraceLevel::kSummary, attribute.minor)});
  }
  return missing;
}

std::string group_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// `u8[11, 4]`, `text`.
std::string shape_text(const ListedDataset& dataset) {
  return fmt::format("{}[{}]", dataset.type, fmt::join(dataset.shape, ", "));
}

/// A line of a listing: its cells, and what it means.
struct ListedRow {
  std::vector<std::string> cells;
  std::string meaning = {};
};

/// Rows with what each means: beside its cells where there is room, else below them; where there is
/// no room for the cells either, all is below the name.
std::string rows_text(const std::vector<ListedRow>& listed, std::size_t columns) {
  constexpr std::size_t kLeastBeside = 40, kBelow = 4;
  using enum TextTable::Align;
  TextTable table({kLeft, kLeft, kLeft, kLeft});
  for (const ListedRow& row : listed) table.add(row.cells);
  table.fit(columns);
  const bool fits = table.width() <= columns;
  const std::size_t beside = table.width() + kBetweenColumns;
  const bool is_beside = beside + kLeastBeside <= columns;
  std::string text;
  std::istringstream lines(table.text());
  for (const ListedRow& row : listed) {
    std::string line, below = row.meaning;
    std::getline(lines, line);
    if (!fits) {
      std::vector<std::string> cells(row.cells.begin() + 1, row.cells.end());
      std::erase(cells, "");
      if (!cells.empty()) below = fmt::format("{}: {}", fmt::join(cells, ", "), below);
      const std::size_t begin = row.cells[0].find_first_not_of(' ');
      line = row.cells[0].substr(0, begin) + filled(row.cells[0], kBelow, columns, begin);
      line.pop_back();
    }
    text += line;
    if (below.empty()) {
      text += '\n';
      continue;
    }
    const std::size_t indent = is_beside ? beside : kBelow;
    text += is_beside ? std::string(beside - display_width(line), ' ')
                      : "\n" + std::string(kBelow, ' ');
    text += filled(one_line(below), indent, columns, indent);
  }
  return text;
}

}  // namespace

TraceListing list_trace(const std::filesystem::path& path) {
  TraceListing listing;
  const Hdf5File file = open_trace(path);
  guard_trace(path, [&] {
    const RootRow root = read_attributes(file, kRootAttributes);
    listing.format_version = root.format_version;
    listing.level = root.level;
    listing.complete = root.complete;
    listing.datasets = Lister(file).datasets();
    listing.missing = missing_of(file, root);
  });
  return listing;
}

std::string listing_text(const TraceListing& listing) {
  const std::size_t columns = output_columns();
  std::string text = wrapped({"format " + listing.format_version, "level " + listing.level,
                              listing.complete ? "complete" : "not complete"},
                             0, columns);
  std::vector<ListedRow> rows;
  std::string group;
  for (const ListedDataset& dataset : listing.datasets) {
    if (const std::string of = group_of(dataset.path); of != group) {
      group = of;
      rows.push_back({{group.empty() ? "/" : group}});
    }
    const std::string indent(2, ' ');
    rows.push_back({{indent + dataset.path.substr(dataset.path.rfind('/') + 1), shape_text(dataset),
                     dataset.axes, dataset.unit == "1" ? "" : dataset.unit},
                    dataset.same_as.empty() ? dataset.meaning : "= " + dataset.same_as});
  }
  text += rows_text(rows, columns);
  // Parts that are missing for one reason, together.
  std::vector<std::string> reasons;
  for (const MissingPart& part : listing.missing) {
    if (std::ranges::find(reasons, part.reason) == reasons.end()) reasons.push_back(part.reason);
  }
  for (const std::string& reason : reasons) {
    std::vector<std::string> names;
    for (const MissingPart& part : listing.missing) {
      if (part.reason == reason) names.push_back(part.name);
    }
    text += fmt::format("Not there{}:\n{}", reason.empty() ? "" : ", " + reason,
                        wrapped(names, 2, columns));
  }
  return text;
}

nlohmann::ordered_json listing_document(const TraceListing& listing) {
  nlohmann::ordered_json document = {{"format_version", listing.format_version},
                                     {"level", listing.level},
                                     {"complete", listing.complete},
                                     {"datasets", nlohmann::ordered_json::array()},
                                     {"missing", nlohmann::ordered_json::array()}};
  for (const ListedDataset& dataset : listing.datasets) {
    document["datasets"].push_back({{"path", dataset.path},
                                    {"type", dataset.type},
                                    {"shape", dataset.shape},
                                    {"axes", dataset.axes},
                                    {"unit", dataset.unit},
                                    {"meaning", dataset.meaning},
                                    {"same_as", dataset.same_as}});
  }
  for (const MissingPart& part : listing.missing) {
    document["missing"].push_back({{"name", part.name}, {"reason", part.reason}});
  }
  return document;
}

}  // namespace superstep
