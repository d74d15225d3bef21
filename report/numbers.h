#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "base/units.h"

namespace superstep {

/// 1234567 as 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t n);
[[nodiscard]] inline std::string grouped(Cycles n) { return grouped(n.value()); }

/// `1 call`, `1,234 calls`.
[[nodiscard]] inline std::string counted(std::uint64_t n, const std::string& what) {
  return grouped(n) + ' ' + what + (n == 1 ? "" : "s");
}

/// `part` by `whole`; 0 where that is 0.
[[nodiscard]] inline double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
[[nodiscard]] inline double ratio(Cycles part, Cycles whole) {
  return ratio(part.value(), whole.value());
}

/// `sum` by `count`, rounded to a whole number.
[[nodiscard]] inline std::uint64_t rounded_mean(std::uint64_t sum, std::uint64_t count) {
  return static_cast<std::uint64_t>(std::llround(ratio(sum, count)));
}

/// How long cycles of a clock take.
[[nodiscard]] inline double nanoseconds(double cycles, std::uint64_t clock_hz) {
  return cycles * 1e9 / static_cast<double>(clock_hz);
}

/// Times of one column, all in the unit that suits the longest.
class TimeColumn {
 public:
  explicit TimeColumn(double longest_ns);

  /// ns, us, ms or s.
  [[nodiscard]] const char* unit() const { return unit_; }
  /// Without the unit: `5.412`, `-5.412`, `<0.001` for the shortest.
  [[nodiscard]] std::string text(double ns) const;

 private:
  const char* unit_ = "ns";
  double per_ns_ = 1;
  int decimals_ = 0;
};

/// Bytes of one column, all in the unit that suits the most.
class BytesColumn {
 public:
  explicit BytesColumn(std::uint64_t most);

  /// B, KiB, MiB or GiB.
  [[nodiscard]] const char* unit() const { return unit_; }
  /// Without the unit: `96`, `1.5`, `<0.1` for the fewest.
  [[nodiscard]] std::string text(std::uint64_t bytes) const;

 private:
  const char* unit_ = "B";
  double per_byte_ = 1;
};

/// A number of bytes with a unit that fits: `96 B`, `1.5 KiB`.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace superstep
