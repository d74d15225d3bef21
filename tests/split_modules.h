#pragma once

#include <string>
#include <vector>

namespace superstep {

/// The modules of a file that `stablehlo-translate -split-input-file` would see.
inline std::vector<std::string> split_modules(const std::string& text) {
  const std::string mark = "// -----";
  std::vector<std::string> modules;
  std::size_t begin = 0;
  for (std::size_t end = text.find(mark); end != std::string::npos; end = text.find(mark, begin)) {
    modules.push_back(text.substr(begin, end - begin));
    begin = end + mark.size();
  }
  modules.push_back(text.substr(begin));
  return modules;
}

}  // namespace superstep
