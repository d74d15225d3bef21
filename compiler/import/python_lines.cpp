#include "compiler/import/python_lines.h"

#include <filesystem>
#include <system_error>

namespace superstep::import {
namespace {

bool is_of_a_package(std::string_view file) {
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos;
}

/// The path from `folder`, empty for a file that is not below it.
std::filesystem::path below(const std::filesystem::path& folder,
                            const std::filesystem::path& file) {
  const std::filesystem::path path = file.lexically_relative(folder);
  return path.empty() || *path.begin() == ".." ? std::filesystem::path() : path;
}

}  // namespace

SourceLocation PythonLines::of(const SyntaxLocation& location) {
  const Found found = find(location, 0);
  const SourceLocation* at = found.own != nullptr ? found.own : found.any;
  return at == nullptr ? SourceLocation{} : SourceLocation{shown(at->file), at->line, 0};
}

PythonLines::Found PythonLines::find(const SyntaxLocation& location, int followed) {
  Found found;
  for (const SyntaxFrame& frame : location) {
    Found here;
    if (!frame.alias.empty()) {
      here = find(frame.alias, followed);
    } else if (frame.name.empty()) {
      here = {is_of_a_package(frame.place.file) ? nullptr : &frame.place, &frame.place};
    }
    if (found.any == nullptr) found.any = here.any;
    found.own = here.own;
    if (found.own != nullptr) break;
  }
  return found;
}

PythonLines::Found PythonLines::find(std::string_view alias, int followed) {
  const SyntaxLocation* at = location_of(alias, module_, followed);
  if (at == nullptr) return {};
  // An alias that names itself finds nothing there.
  const auto [known, is_new] = found_.try_emplace(alias);
  if (is_new) {
    const Found found = find(*at, followed + 1);
    found_[alias] = found;
    return found;
  }
  return known->second;
}

const std::string& PythonLines::shown(const std::string& file) {
  const auto [known, is_new] = shown_.try_emplace(file, file);
  const std::filesystem::path path(file);
  if (!is_new || !path.is_absolute()) return known->second;
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::current_path(ignored);
  const std::filesystem::path folder = (here / file_).lexically_normal().parent_path();
  for (const std::filesystem::path& from : {folder, here}) {
    const std::filesystem::path relative = below(from, path.lexically_normal());
    if (from.empty() || relative.empty()) continue;
    known->second = relative.generic_string();
    return known->second;
  }
  known->second = path.filename().string();
  return known->second;
}

}  // namespace superstep::import
