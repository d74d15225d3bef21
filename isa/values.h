#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace superstep::isa {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// Four consecutive registers.
struct U128 {
  std::array<U64, 2> half;

  [[nodiscard]] constexpr U32 word(unsigned number) const {
    return static_cast<U32>(half[number / 2] >> (number % 2 * 32));
  }
};

/// Two f32 in a register pair.
struct F32x2 {
  std::array<float, 2> lane;
};

/// Four f32 in a register quad.
struct F32x4 {
  std::array<float, 4> lane;
};

/// Two f16, as bits, in a register; lane 0 is the low half.
struct F16x2 {
  std::array<std::uint16_t, 2> lane;
};

/// Four f16, as bits, in a register pair.
struct F16x4 {
  std::array<std::uint16_t, 4> lane;
};

/// An f32 that becomes one f16, twice in a register.
struct F32Twice {
  float value;
};

constexpr U32 low(U64 value) { return static_cast<U32>(value); }
constexpr U32 high(U64 value) { return static_cast<U32>(value >> 32); }
constexpr U64 pair_of(U32 low, U32 high) { return U64{high} << 32 | low; }

}  // namespace superstep::isa
