#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace superstep {

inline constexpr const char* kNoPoplibs =
    "PopLibs is not checked: set POPLIBS_DIR to a checkout of github.com/graphcore/poplibs, or put "
    "one at ~/.cache/superstep/poplibs";

/// The PopLibs checkout that POPLIBS_DIR names, or the one in the cache folder.
inline std::optional<std::filesystem::path> poplibs_checkout() {
  std::filesystem::path root;
  if (const char* folder = std::getenv("POPLIBS_DIR"); folder != nullptr && *folder != '\0') {
    root = folder;
  } else if (const char* home = std::getenv("HOME"); home != nullptr) {
    root = std::filesystem::path(home) / ".cache/superstep/poplibs";
  }
  if (!std::filesystem::is_directory(root / "lib/popops/codelets/asm")) return std::nullopt;
  return root;
}

/// Its assembly files, sorted.
inline std::vector<std::filesystem::path> poplibs_assembly(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "lib")) {
    if (entry.path().extension() == ".S") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Where a file of it looks for headers.
inline std::vector<std::string> poplibs_include_folders(const std::filesystem::path& root,
                                                        const std::filesystem::path& file) {
  const std::filesystem::path library =
      root / "lib" / *std::filesystem::relative(file, root / "lib").begin();
  return {(root / "include").string(), (library / "codelets").string(),
          (library / "codelets/asm").string()};
}

}  // namespace superstep
