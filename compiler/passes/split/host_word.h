#pragma once

#include <bit>
#include <cstdint>

#include "compiler/passes/split/words.h"

namespace superstep::split {

/// A word of the host, to try arithmetic on many numbers without a graph.
struct HostWord {
  std::uint32_t value;
};
struct HostBit {
  bool value;
};
inline HostBit operator&(HostBit a, HostBit b) { return {a.value && b.value}; }
inline HostBit operator|(HostBit a, HostBit b) { return {a.value || b.value}; }
inline HostBit operator!(HostBit a) { return {!a.value}; }

inline HostWord operator+(HostWord a, HostWord b) { return {a.value + b.value}; }
inline HostWord operator-(HostWord a, HostWord b) { return {a.value - b.value}; }
inline HostWord operator*(HostWord a, HostWord b) { return {a.value * b.value}; }
inline HostWord operator/(HostWord a, HostWord b) {
  return {b.value == 0 ? ~0U : a.value / b.value};
}
inline HostWord operator&(HostWord a, HostWord b) { return {a.value & b.value}; }
inline HostWord operator|(HostWord a, HostWord b) { return {a.value | b.value}; }
inline HostWord operator^(HostWord a, HostWord b) { return {a.value ^ b.value}; }
inline HostWord shl(HostWord a, HostWord n) { return {n.value < 32 ? a.value << n.value : 0}; }
inline HostWord shr(HostWord a, HostWord n) { return {n.value < 32 ? a.value >> n.value : 0}; }
inline HostBit below(HostWord a, HostWord b) { return {a.value < b.value}; }
inline HostBit equal(HostWord a, HostWord b) { return {a.value == b.value}; }
inline HostWord select(HostBit condition, HostWord a, HostWord b) {
  return condition.value ? a : b;
}
inline HostWord one_where(HostBit condition) { return {condition.value ? 1U : 0U}; }
inline HostWord clz(HostWord a) { return {static_cast<std::uint32_t>(std::countl_zero(a.value))}; }
inline HostWord constant(HostWord, std::uint32_t value) { return {value}; }

[[nodiscard]] inline Wide<HostWord> wide(std::uint64_t value) {
  return constant(HostWord{}, value);
}
[[nodiscard]] inline std::uint64_t number(Wide<HostWord> a) {
  return a.low.value | std::uint64_t{a.high.value} << 32;
}

}  // namespace superstep::split
