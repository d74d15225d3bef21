// Where the numbers of a machine come from.

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "isa/machine_config.h"

namespace superstep {

std::string scaled_source(double factor, std::string_view source) {
  return fmt::format("user: {} x {}", factor, source);
}

std::optional<std::string_view> scaled_source(std::string_view source) {
  constexpr std::string_view kUser = "user: ", kTimes = " x ";
  if (!source.starts_with(kUser)) return std::nullopt;
  source.remove_prefix(kUser.size());
  double factor = 0;
  const auto [rest, error] = std::from_chars(source.data(), source.data() + source.size(), factor);
  if (error != std::errc{}) return std::nullopt;
  source.remove_prefix(static_cast<std::size_t>(rest - source.data()));
  if (!source.starts_with(kTimes)) return std::nullopt;
  return source.substr(kTimes.size());
}

const std::vector<std::string>& source_kinds() {
  static const std::vector<std::string> kKinds = {"measured",     "published", "derived",
                                                  "extrapolated", "assumed",   "user"};
  return kKinds;
}

}  // namespace superstep
