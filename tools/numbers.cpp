#include "tools/numbers.h"

#include <fmt/format.h>

namespace superstep {

std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string time_text(Cycles cycles, std::uint64_t clock_hz) {
  if (clock_hz == 0) return {};
  const double us = static_cast<double>(cycles.value()) * 1e6 / static_cast<double>(clock_hz);
  if (us < 1e4) return fmt::format("{:.1f} us", us);
  if (us < 1e7) return fmt::format("{:.1f} ms", us / 1e3);
  return fmt::format("{:.1f} s", us / 1e6);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10 * 1024) return grouped(bytes) + " B";
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 10 * 1024) return fmt::format("{:.1f} KiB", kib);
  if (kib < 10 * 1024 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.1f} GiB", kib / 1024 / 1024);
}

}  // namespace superstep
