#pragma once

#include <string>
#include <vector>

namespace superstep {

/// One generated page of docs/.
struct ReferencePage {
  std::string file;  ///< `isa.md`
  std::string text;
};

/// Every page that follows from the tables of the code: instructions, ops, machine keys, trace,
/// report and commands.
[[nodiscard]] std::vector<ReferencePage> reference_pages();

}  // namespace superstep
