#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>

namespace superstep {

/// Called with the name of each stage as it begins, and with how far a long one is.
using CompileProgress = std::function<void(std::string_view stage)>;

/// Says `lower, 20,000 of 900,000 ops`, about a hundred times in a stage that has many.
inline void show_share(const CompileProgress& progress, std::string_view stage, std::size_t done,
                       std::size_t all, std::string_view what) {
  constexpr std::size_t kFew = 16, kShares = 100;
  if (!progress || done % std::max(kFew, all / kShares) != 0) return;
  progress(fmt::format("{}, {} of {} {}", stage, done, all, what));
}

}  // namespace superstep
