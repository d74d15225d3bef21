#pragma once

#include <string_view>
#include <vector>

namespace superstep::poplibs {

/// Why the cycles of some vertices are not what PopLibs estimates.
struct CycleException {
  /// Of types like `popops::Fill<float>`; `*` stands for any text.
  std::string_view types;
  /// One sentence, from the instructions of the codelet.
  std::string_view reason;
};

/// The first one that fits a type explains it.
const std::vector<CycleException>& cycle_exceptions();

/// Whether `text` is `pattern`, in which `*` stands for any text.
bool fits(std::string_view text, std::string_view pattern);

}  // namespace superstep::poplibs
