#include "isa/quantity_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

namespace superstep {
namespace {

struct Scale {
  std::string_view suffix;
  double factor;
};

std::vector<Scale> scales(Unit unit) {
  switch (unit) {
    case Unit::kCount:
    case Unit::kName:
      return {};
    case Unit::kBytes:
    case Unit::kAddress:
      return {{"B", 1},         {"KiB", 1024}, {"MiB", 1 << 20},
              {"GiB", 1 << 30}, {"kB", 1e3},   {"MB", 1e6}};
    case Unit::kHertz:
      return {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    case Unit::kNanoseconds:
      return {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
    case Unit::kBytesPerSecond:
      return {{"B/s", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"GiB/s", 1 << 30}};
    case Unit::kCycles:
      return {{"cycles", 1}, {"cycle", 1}};
  }
  return {};
}

}  // namespace

std::string example_of(Unit unit) {
  switch (unit) {
    case Unit::kCount:
    case Unit::kName:
      return "6";
    case Unit::kBytes:
      return "\"624 KiB\"";
    case Unit::kAddress:
      return "0x4c000";
    case Unit::kHertz:
      return "\"1.85 GHz\"";
    case Unit::kNanoseconds:
      return "\"300 ns\"";
    case Unit::kBytesPerSecond:
      return "\"27.2 GB/s\"";
    case Unit::kCycles:
      return "\"68 cycles\"";
  }
  return {};
}

std::string quantity_text(Unit unit, std::uint64_t value) {
  const auto in = [&](std::uint64_t factor, const char* suffix) {
    return fmt::format("\"{} {}\"", value / factor, suffix);
  };
  switch (unit) {
    case Unit::kCount:
    case Unit::kName:
      return fmt::format("{}", value);
    case Unit::kAddress:
      return fmt::format("{:#x}", value);
    case Unit::kBytes:
      return value != 0 && value % 1024 == 0 ? in(1024, "KiB") : in(1, "B");
    case Unit::kHertz:
      return value % 1'000'000 == 0 ? in(1'000'000, "MHz") : in(1, "Hz");
    case Unit::kNanoseconds:
      return in(1, "ns");
    case Unit::kBytesPerSecond:
      return value % 1'000'000 == 0 ? in(1'000'000, "MB/s") : in(1, "B/s");
    case Unit::kCycles:
      return in(1, value == 1 ? "cycle" : "cycles");
  }
  return {};
}

std::variant<double, std::string> parse_quantity(Unit unit, std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return fmt::format("\"{}\" does not begin with a number", text);
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  std::string allowed;
  for (const Scale& scale : scales(unit)) {
    if (suffix == scale.suffix) {
      // 4.1 x 1e9 in doubles is no whole number, but the whole number beside it has 4.1 for its
      // quotient, as nearest double.
      const double value = number * scale.factor;
      const double whole = std::round(value);
      return whole / scale.factor == number ? whole : value;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(scale.suffix);
  }
  if (allowed.empty()) return fmt::format("\"{}\" must be a plain number", text);
  const bool vague = suffix == "KB" || suffix == "K";
  return fmt::format("unknown unit '{}'; {}", suffix,
                     vague ? "write KiB (1024) or kB (1000)" : "allowed: " + allowed);
}

}  // namespace superstep
