#include "tools/windows.h"

#include <fmt/format.h>

#include <charconv>

#include "base/number_ranges.h"
#include "tools/options.h"

namespace superstep {

SuperstepWindow supersteps_of(std::string_view option, std::string_view text) {
  const auto refuse = [&] {
    usage_error(fmt::format("{} takes A:B, supersteps A to B - 1, not '{}'", option, text));
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse();
  SuperstepWindow window;
  const auto read = [&](std::string_view part, std::uint64_t& out) {
    if (part.empty()) return;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out);
    if (error != std::errc{} || end != part.data() + part.size()) refuse();
  };
  read(text.substr(0, colon), window.first);
  read(text.substr(colon + 1), window.end);
  if (window.first >= window.end) refuse();
  return window;
}

std::vector<std::uint32_t> tiles_of(std::string_view option, std::string_view text,
                                    std::string_view others) {
  constexpr std::uint32_t kMost = 65535;
  auto tiles = numbers_in(text, kMost);
  if (!tiles) {
    usage_error(fmt::format("{} takes tiles as in 0,17,100-107{}, not '{}'", option, others, text));
  }
  return *std::move(tiles);
}

}  // namespace superstep
