#pragma once

#include <compare>
#include <cstdint>

namespace superstep {

/// A count of one unit. Construction is explicit and nothing converts out: `value()` names the
/// place where a unit is left behind.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::uint64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) { return value_ += other.value_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value_ -= other.value_, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::uint64_t n) {
    return Quantity(a.value_ * n);
  }
  friend constexpr Quantity operator*(std::uint64_t n, Quantity a) { return a * n; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  std::uint64_t value_ = 0;
};

/// Cycles of the tile clock.
using Cycles = Quantity<struct CycleUnit>;
using Bytes = Quantity<struct ByteUnit>;

constexpr Cycles operator""_cycles(unsigned long long n) { return Cycles(n); }
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(n); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(n * 1024); }

/// One of the chips that are simulated together.
enum class ChipId : std::uint32_t {};

/// Logical tile number of one chip, 0 .. tiles-1.
enum class TileId : std::uint32_t {};

constexpr std::uint32_t index(TileId tile) { return static_cast<std::uint32_t>(tile); }

}  // namespace superstep
