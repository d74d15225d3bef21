#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace superstep {

/// One generated page of docs/.
struct ReferencePage {
  std::string_view file;  ///< `isa.md`
  std::string (*text)();
};

/// Every page that follows from the tables of the code: instructions, ops, machine keys, trace,
/// report and commands. That of ops compiles each of them.
[[nodiscard]] std::vector<ReferencePage> reference_pages();

}  // namespace superstep
