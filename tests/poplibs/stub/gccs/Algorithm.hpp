#pragma once

#include <bit>
#include <numeric>

namespace gccs {

template <class T, class U>
constexpr auto ceildiv(T value, U divisor) {
  return (value + divisor - 1) / divisor;
}
template <class T, class U>
constexpr auto alignNext(T value, U multiple) {
  return ceildiv(value, multiple) * multiple;
}
template <class T, class U>
constexpr auto alignPrev(T value, U multiple) {
  return value / multiple * multiple;
}
/// The least n with 2^n >= value.
constexpr unsigned ceilLog2(unsigned long long value) {
  return value <= 1 ? 0 : unsigned(std::bit_width(value - 1));
}
constexpr unsigned floorLog2(unsigned long long value) {
  return unsigned(std::bit_width(value)) - 1;
}

}  // namespace gccs
