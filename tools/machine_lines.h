#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace superstep {

/// One `key = value  # source` of a machine file.
struct MachineLine {
  std::string value, source;
};

/// The keys that the text of a machine file sets itself, `section.key`, with their comments; a
/// comment above a section holds for its keys that have none. Reads the layout that our files have,
/// one key a line: what it does not find has no comment.
[[nodiscard]] std::map<std::string, MachineLine> machine_lines(std::string_view text);

/// For each key of a machine: the file or override that set it, and the comment there.
[[nodiscard]] std::map<std::string, std::string> machine_sources(
    const std::string& machine, const std::vector<std::string>& overrides);

}  // namespace superstep
