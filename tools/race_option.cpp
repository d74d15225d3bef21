#include "tools/race_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace superstep {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"never", "first", "always"};

std::string_view name_of(RaceChecks which) { return kNames.at(static_cast<std::size_t>(which)); }

}  // namespace

RaceChecks race_checks_of(const Options& options, RaceChecks otherwise) {
  const std::string word = options.get("check-races").value_or(std::string(name_of(otherwise)));
  const auto found = std::ranges::find(kNames, word);
  if (found == kNames.end()) {
    usage_error(fmt::format("--check-races takes always, first or never, found '{}'", word));
  }
  return static_cast<RaceChecks>(found - kNames.begin());
}

std::string race_checks_help(RaceChecks otherwise) {
  return fmt::format(
      "trap when workers that run at the same time share a word that one of them writes: always, "
      "never, or first, the first time that a tile launches a codelet at some place ({})",
      name_of(otherwise));
}

}  // namespace superstep
