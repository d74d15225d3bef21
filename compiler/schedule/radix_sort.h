#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace superstep {

/// An order of the numbers below `count`, at first ascending.
class NumberOrder {
 public:
  explicit NumberOrder(std::size_t count) : order_(count), other_(count), keys_(count) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  /// Radix sort by 32-bit keys of each number, of which the first counts most; keeps the order of
  /// equals.
  void sort_by(const auto& key, const auto&... rest) {
    if constexpr (sizeof...(rest) > 0) sort_by(rest...);
    std::uint32_t varying = 0;
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      keys_[i] = static_cast<std::uint32_t>(key(i));
      varying |= keys_[i] ^ keys_[0];
    }
    for (std::uint32_t shift = 0; shift < 32; shift += kDigitBits) {
      if ((varying >> shift & kDigitMask) != 0) sort_by_digit(shift);
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& numbers() const { return order_; }

 private:
  static constexpr std::uint32_t kDigitBits = 11;
  static constexpr std::uint32_t kDigitMask = (1U << kDigitBits) - 1;

  void sort_by_digit(std::uint32_t shift) {
    std::array<std::uint32_t, kDigitMask + 1> next{};
    for (const std::uint32_t key : keys_) ++next[key >> shift & kDigitMask];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
    for (const std::uint32_t i : order_) other_[next[keys_[i] >> shift & kDigitMask]++] = i;
    order_.swap(other_);
  }

  std::vector<std::uint32_t> order_, other_, keys_;
};

}  // namespace superstep
