#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "base/float16.h"
#include "isa/values.h"

namespace superstep::isa {

/// Accumulating matrix-vector products. The even accumulators (2c for channel c) hold the running
/// sums of the block of phases that is under way; the odd ones (2c + 1) hold the results of the
/// block before, which leave one phase after the other, and in their places the partials of the
/// block to come. The first phase of a block exchanges the two sets
/// (graphcore/ipu_assembly_support, f16v4sisoamp: example sequence).
template <class Env>
void begin_amp_block(Env& env, U32 channels) {
  for (U32 c = 0; c < channels; ++c) std::swap(env.accumulator(2 * c), env.accumulator(2 * c + 1));
}

inline void accumulate(float& sum, float value) { sum = canonical(sum + value); }

inline float product(std::uint16_t a, std::uint16_t b) {
  return float_of_half(a) * float_of_half(b);
}

/// What leaves, and enters, at one phase: `count` channels from `first` on.
template <class Env, std::size_t kCount>
std::array<float, kCount> turn_over(Env& env, U32 first,
                                    const std::array<float, kCount>& partials) {
  std::array<float, kCount> results{};
  for (U32 i = 0; i < kCount; ++i) {
    results[i] = env.accumulator(2 * (first + i) + 1);
    env.accumulator(2 * (first + i) + 1) = partials[i];
  }
  return results;
}

/// Phase `phase` of 8; weight (channel, n) holds those of inputs 2n and 2n + 1.
template <U32 kChannels, class Env>
F32x2 amp_f32(Env& env, float x, F32x2 partials, U32 phase) {
  phase &= 7;
  if (phase == 0) begin_amp_block(env, kChannels);
  F32x2 results{{0.0F, 0.0F}};
  if constexpr (kChannels == 16) {
    results.lane = turn_over(env, 2 * phase, partials.lane);
  } else if (phase % 2 == 0) {
    results.lane = turn_over(env, phase, partials.lane);
  }
  const float* weights = env.f32_weights(phase);
  for (U32 c = 0; c < kChannels; ++c) accumulate(env.accumulator(2 * c), x * weights[c]);
  return results;
}

template <U32 kChannels, class Env>
void amp_f16_products(Env& env, F16x4 x, U32 phase) {
  const std::array<float, 4> input = floats_of_halves(x.lane);
  const float* weights = env.f16_weights(phase);
  for (U32 c = 0; c < kChannels; ++c) {
    const float sum = (input[0] * weights[c] + input[1] * weights[16 + c]) +
                      (input[2] * weights[32 + c] + input[3] * weights[48 + c]);
    accumulate(env.accumulator(2 * c), sum);
  }
}

/// Phase `phase` of 4; weight (channel, phase) holds those of the four inputs.
template <U32 kChannels, class Env>
F32x2 amp_f16(Env& env, F16x4 x, F32x2 partials, U32 phase) {
  phase &= 3;
  if (phase == 0) begin_amp_block(env, kChannels);
  const F32x2 results{turn_over(env, 2 * phase, partials.lane)};
  amp_f16_products<kChannels>(env, x, phase);
  return results;
}
template <class Env>
F32x4 amp_f16_wide(Env& env, F16x4 x, F32x4 partials, U32 phase) {
  phase &= 3;
  if (phase == 0) begin_amp_block(env, 16);
  const F32x4 results{turn_over(env, 4 * phase, partials.lane)};
  amp_f16_products<16>(env, x, phase);
  return results;
}

/// Reads two accumulators, moves those above down, enters two: even or odd (bit 0 of `which`) of
/// the lower or upper 16 (bit 1).
template <class Env>
F32x2 shift_accumulators(Env& env, U32 which, F32x2 enter) {
  const U32 first = (which & 1U) + (which >> 1 & 1U) * 16;
  const F32x2 out{{env.accumulator(first), env.accumulator(first + 2)}};
  for (U32 i = 0; i < 12; i += 2) env.accumulator(first + i) = env.accumulator(first + i + 4);
  env.accumulator(first + 12) = enter.lane[0];
  env.accumulator(first + 14) = enter.lane[1];
  return out;
}

}  // namespace superstep::isa
