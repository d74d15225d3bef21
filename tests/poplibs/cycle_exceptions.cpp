#include "tests/poplibs/cycle_exceptions.h"

namespace superstep::poplibs {

const std::vector<CycleException>& cycle_exceptions() {
  static const std::vector<CycleException> kAll = {
      {"popops::HasNaNOrInf2D<*",
       "the vertex runs on one worker, but its estimator multiplies the slots by six"},
  };
  return kAll;
}

bool fits(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (fits(text.substr(skipped), pattern)) return true;
  }
  return false;
}

}  // namespace superstep::poplibs
