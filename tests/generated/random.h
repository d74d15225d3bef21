#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace superstep {

/// Numbers that follow from a seed alone, on every host (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// 0 … n - 1; n > 0.
  std::size_t below(std::size_t n) { return bits() % n; }
  /// low … high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool chance(unsigned percent) { return below(100) < percent; }
  /// 0 … 1, never 1.
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  template <class Range>
  const auto& pick(const Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
  }

 private:
  std::uint64_t state_;
};

}  // namespace superstep
