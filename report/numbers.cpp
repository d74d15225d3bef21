#include "report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace superstep {

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

TimeColumn::TimeColumn(double longest_ns) {
  for (const char* larger : {"us", "ms", "s"}) {
    if (std::abs(longest_ns) * per_ns_ < 1000) break;
    unit_ = larger;
    per_ns_ /= 1000;
    decimals_ = 3;
  }
}

std::string TimeColumn::text(double ns) const {
  const double time = ns * per_ns_, least = std::pow(10, -decimals_);
  if (time != 0 && std::abs(time) < least / 2)
    return fmt::format("{}<{:.{}f}", time < 0 ? "-" : "", least, decimals_);
  return fmt::format("{:.{}f}", time, decimals_);
}

BytesColumn::BytesColumn(std::uint64_t most) {
  for (const char* larger : {"KiB", "MiB", "GiB"}) {
    if (static_cast<double>(most) * per_byte_ < 10 * 1024) break;
    unit_ = larger;
    per_byte_ /= 1024;
  }
}

std::string BytesColumn::text(std::uint64_t bytes) const {
  if (per_byte_ == 1) return grouped(bytes);
  const double number = static_cast<double>(bytes) * per_byte_;
  return number > 0 && number < 0.05 ? "<0.1" : fmt::format("{:.1f}", number);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10 * 1024) return grouped(bytes) + " B";
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 10 * 1024) return fmt::format("{:.1f} KiB", kib);
  if (kib < 10 * 1024 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.1f} GiB", kib / 1024 / 1024);
}

}  // namespace superstep
