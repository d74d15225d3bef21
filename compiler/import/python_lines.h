#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/import/syntax.h"

namespace superstep::import {

/// Finds the Python line that an op was traced from.
class PythonLines {
 public:
  /// `file` is that of the module.
  PythonLines(const SyntaxModule& module, const std::string& file) : module_(module), file_(file) {}

  /// That of the innermost frame of the user's own code, or of any code where none is the user's;
  /// empty when no frame names a file.
  [[nodiscard]] SourceLocation of(const SyntaxLocation& location);

 private:
  struct Found {
    const SourceLocation* own = nullptr;  ///< not of an installed package
    const SourceLocation* any = nullptr;
  };
  /// `followed` aliases led there.
  Found find(const SyntaxLocation& location, int followed);
  Found find(std::string_view alias, int followed);
  /// The file as it is shown, without the host's folders.
  const std::string& shown(const std::string& file);

  const SyntaxModule& module_;
  const std::string& file_;
  std::unordered_map<std::string_view, Found> found_;  ///< by alias
  std::map<std::string, std::string, std::less<>> shown_;
};

}  // namespace superstep::import
