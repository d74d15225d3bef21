#include "tools/machine_lines.h"

#include <algorithm>
#include <filesystem>

#include "isa/builtin_machines.h"
#include "base/files.h"

namespace superstep {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// The text of a builtin machine; empty when there is none of this name.
std::string_view builtin_text(std::string_view name) {
  if (name.starts_with("builtin:")) name.remove_prefix(8);
  for (const BuiltinMachine& file : builtin_machine_files())
    if (file.name == name) return file.text;
  return {};
}

}  // namespace

std::map<std::string, MachineLine> machine_lines(std::string_view text) {
  std::map<std::string, MachineLine> lines;
  std::string section, above, section_source;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) {
      above = trimmed(line.substr(1));
    } else if (line.starts_with('[')) {
      section = line.substr(1, line.find(']') - 1);
      section_source = above;
      above.clear();
    } else if (const std::size_t equals = line.find('='); equals != std::string_view::npos) {
      const std::size_t hash = std::min(line.find('#'), line.size());
      std::string key = trimmed(line.substr(0, equals));
      if (!section.empty()) key = section + "." + key;
      const std::string source =
          hash == line.size() ? section_source : trimmed(line.substr(hash + 1));
      lines[key] = {trimmed(line.substr(equals + 1, hash - equals - 1)), source};
    } else {
      above.clear();
    }
  }
  return lines;
}

std::map<std::string, std::string> machine_sources(const std::string& machine,
                                                   const std::vector<std::string>& overrides) {
  std::map<std::string, std::string> sources;
  std::string name = machine;
  // The machine was loaded before, so that the chain of `extends` is known to end.
  while (!name.empty()) {
    const std::string_view builtin = builtin_text(name);
    const std::string text = builtin.empty() ? read_text_file(name) : std::string(builtin);
    const std::string from =
        builtin.empty() || name.starts_with("builtin:") ? name : "builtin:" + name;
    std::string next;
    for (const auto& [key, line] : machine_lines(text)) {
      if (key == "extends") {
        next = line.value;
        std::erase(next, '"');
        if (builtin_text(next).empty())
          next = (std::filesystem::path(name).parent_path() / next).string();
      }
      sources.emplace(key, line.source.empty() ? from : from + ": " + line.source);
    }
    name = next;
  }
  for (const std::string& override : overrides)
    sources[trimmed(override.substr(0, override.find('=')))] = "command line";
  return sources;
}

}  // namespace superstep
