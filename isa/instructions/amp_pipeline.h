#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "base/float16.h"
#include "isa/values.h"

namespace superstep::isa {

inline void accumulate(float& sum, float value) { sum = canonical(sum + value); }

inline float product(std::uint16_t a, std::uint16_t b) {
  return float_of_half(a) * float_of_half(b);
}

/// As many f32 as the host adds and multiplies at once; no channel count is less.
#ifdef __AVX__
inline constexpr U32 kLanes = 8;
#else
inline constexpr U32 kLanes = 4;
#endif
using Lanes = float __attribute__((vector_size(4 * kLanes)));

inline Lanes load_lanes(const float* from) {
  Lanes out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

/// The same of values that were stored by pairs: a host waits for stores that a wider load joins.
inline Lanes load_pairs(const float* from) {
#ifdef __AVX__
  const auto* const lower = reinterpret_cast<const __m64*>(from);
  __m128 halves[2];
  for (int i = 0; i < 2; ++i) {
    halves[i] = _mm_loadh_pi(_mm_loadl_pi(_mm_setzero_ps(), lower + 2 * i), lower + 2 * i + 1);
  }
  return _mm256_set_m128(halves[1], halves[0]);
#else
  std::array<U64, kLanes / 2> pairs;
  for (U32 i = 0; i < pairs.size(); ++i) std::memcpy(&pairs[i], from + 2 * i, sizeof(U64));
  return std::bit_cast<Lanes>(pairs);
#endif
}

inline void store_lanes(float* to, const Lanes& values) {
  std::memcpy(to, &values, sizeof(values));
}

inline bool any_nan(const Lanes& a, const Lanes& b) {
#ifdef __AVX__
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
#else
  const auto nan = std::bit_cast<std::array<U64, kLanes / 2> >((a != a) | (b != b));
  U64 any = 0;
  for (const U64 pair : nan) any |= pair;
  return any != 0;
#endif
}

/// Sums of channels that lie in memory one after the other; NaN becomes the canonical one at once.
class SumsInMemory {
 public:
  explicit SumsInMemory(float* first) : first_(first) {}

  [[nodiscard]] Lanes load(U32 channel) const { return load_lanes(first_ + channel); }
  [[nodiscard]] Lanes settled(U32 channel) const { return load(channel); }
  void store(U32 channel, const Lanes& values) { store_lanes(first_ + channel, values); }
  /// Two blocks of lanes from `channel` on, or one that is given twice, were summed up and stored.
  void summed(U32 channel, U32 channels, const Lanes& first, const Lanes& last) {
    if (!any_nan(first, last)) [[likely]]
      return;
    for (U32 c = channel; c < channel + channels; ++c) first_[c] = canonical(first_[c]);
  }

 private:
  float* first_;
};

/// Sums of channels that a host keeps in its registers. Until they leave, NaN is any one: a sum
/// that is NaN stays one. Each has been added to before it leaves.
template <U32 kChannels>
class SumsInLanes {
 public:
  explicit SumsInLanes(const float* from) {
    for (U32 c = 0; c < kChannels; c += kLanes) store(c, load_lanes(from + c));
  }

  [[nodiscard]] Lanes load(U32 channel) const { return lanes_[channel / kLanes]; }
  [[nodiscard]] Lanes settled(U32 channel) const {
    const Lanes sums = load(channel), nan = std::bit_cast<float>(kFloatNan) - Lanes{};
    return sums != sums ? nan : sums;
  }
  void store(U32 channel, const Lanes& values) { lanes_[channel / kLanes] = values; }
  void summed(U32 /*channel*/, U32 /*channels*/, const Lanes& /*first*/, const Lanes& /*last*/) {}

  [[nodiscard]] bool has_nan() const {
    return std::ranges::any_of(lanes_, [](const Lanes& sums) { return any_nan(sums, sums); });
  }
  void leave(float* to) const {
    for (U32 c = 0; c < kChannels; c += kLanes) store_lanes(to + c, settled(c));
  }

 private:
  std::array<Lanes, kChannels / kLanes> lanes_;
};

/// Adds `values(c)`, those of channels c … c + kLanes - 1, to sums.
template <U32 kChannels, class Sums, class Values>
[[gnu::always_inline]] inline void accumulate_channels(Sums&& sums, const Values& values) {
  constexpr U32 kBlock = std::min(kChannels, 2 * kLanes);
  static_assert(kChannels % kBlock == 0 && kBlock % kLanes == 0);
  for (U32 c = 0; c < kChannels; c += kBlock) {
    const U32 last = c + kBlock - kLanes;
    const Lanes first_sums = sums.load(c) + values(c);
    const Lanes last_sums = last == c ? first_sums : sums.load(last) + values(last);
    sums.store(c, first_sums);
    if (last != c) sums.store(last, last_sums);
    sums.summed(c, kBlock, first_sums, last_sums);
  }
}

/// What one input of an AMP instruction is multiplied for, and how many of them a block has.
struct AmpBlock {
  U32 channels, phases;
};

/// Accumulating matrix-vector products. The even accumulators (2c for channel c) hold the running
/// sums of the block of phases that is under way; the odd ones (2c + 1) hold the results of the
/// block before, which leave one phase after the other, and in their places the partials of the
/// block to come. The first phase of a block exchanges the two sets
/// (graphcore/ipu_assembly_support, f16v4sisoamp: example sequence).
template <U32 kChannels, class Env>
void begin_amp_block(Env& env) {
  static_assert(kChannels % kLanes == 0);
  for (U32 c = 0; c < kChannels; c += kLanes) {
    const Lanes even = env.even_sums().settled(c);
    env.even_sums().store(c, load_pairs(env.odd_accumulators() + c));
    store_lanes(env.odd_accumulators() + c, even);
  }
}

/// What leaves, and enters, at one phase: channels `first` and `first` + 1.
template <class Env>
F32x2 turn_over(Env& env, U32 first, const F32x2& partials) {
  float* const staged = env.odd_accumulators() + first;
  F32x2 results;
  std::memcpy(&results, staged, sizeof(results));
  std::memcpy(staged, &partials, sizeof(partials));
  return results;
}

/// Two channels of each set: those of the second set are 8 further.
template <class Env>
F32x4 turn_over_both(Env& env, U32 first, const F32x4& partials) {
  const F32x2 lower = turn_over(env, first, {{partials.lane[0], partials.lane[1]}});
  const F32x2 upper = turn_over(env, 8 + first, {{partials.lane[2], partials.lane[3]}});
  return {{lower.lane[0], lower.lane[1], upper.lane[0], upper.lane[1]}};
}

/// Phase `phase` of 8; weight (channel, n) holds those of inputs 2n and 2n + 1. With 16 channels
/// the odd phases are those of the second set (graphcore/poplibs
/// lib/poplin/codelets/asm/conv_partial_1x1_supervisor.S: order of the weights).
template <U32 kChannels, class Env>
[[gnu::always_inline]] inline F32x2 amp_f32(Env& env, float x, F32x2 partials, U32 phase) {
  phase &= 7;
  if (phase == 0) begin_amp_block<kChannels>(env);
  F32x2 results{{0.0F, 0.0F}};
  if constexpr (kChannels == 16) {
    results = turn_over(env, phase % 2 == 0 ? phase : 8 + phase - 1, partials);
  } else if (phase % 2 == 0) {
    results = turn_over(env, phase, partials);
  }
  const float* const weights = env.f32_weights(phase);
  accumulate_channels<kChannels>(env.even_sums(),
                                 [&](U32 c) { return x * load_lanes(weights + c); });
  return results;
}

/// Each of four f16 on all lanes.
inline std::array<Lanes, 4> spread(F16x4 x) {
#if defined(__AVX2__) && defined(__F16C__)
  const auto bits = std::bit_cast<long long>(x.lane);
  const __m256 all = _mm256_cvtph_ps(_mm_set1_epi64x(bits));
  return {_mm256_permute_ps(all, 0x00), _mm256_permute_ps(all, 0x55), _mm256_permute_ps(all, 0xaa),
          _mm256_permute_ps(all, 0xff)};
#else
  const std::array<float, 4> floats = floats_of_halves(x.lane);
  return {floats[0] - Lanes{}, floats[1] - Lanes{}, floats[2] - Lanes{}, floats[3] - Lanes{}};
#endif
}

template <U32 kChannels, class Env>
[[gnu::always_inline]] inline void amp_f16_products(Env& env, F16x4 x, U32 phase) {
  const std::array<Lanes, 4> input = spread(x);
  const float* const weights = env.f16_weights(phase);
  accumulate_channels<kChannels>(env.even_sums(), [&](U32 c) {
    const float* const w = weights + c;
    return (input[0] * load_lanes(w) + input[1] * load_lanes(w + 16)) +
           (input[2] * load_lanes(w + 32) + input[3] * load_lanes(w + 48));
  });
}

/// Phase `phase` of 4; weight (channel, phase) holds those of the four inputs.
template <U32 kChannels, class Env>
[[gnu::always_inline]] inline F32x2 amp_f16(Env& env, F16x4 x, F32x2 partials, U32 phase) {
  phase &= 3;
  if (phase == 0) begin_amp_block<kChannels>(env);
  const F32x2 results = turn_over(env, 2 * phase, partials);
  amp_f16_products<kChannels>(env, x, phase);
  return results;
}

/// The same with two channels of each set a phase.
template <class Env>
[[gnu::always_inline]] inline F32x4 amp_f16_wide(Env& env, F16x4 x, F32x4 partials, U32 phase) {
  phase &= 3;
  if (phase == 0) begin_amp_block<16>(env);
  const F32x4 results = turn_over_both(env, 2 * phase, partials);
  amp_f16_products<16>(env, x, phase);
  return results;
}

/// Accumulators 0, 2, 4 and 6.
template <class Env>
F32x4 first_accumulators(Env& env) {
  return {{env.accumulator(0), env.accumulator(2), env.accumulator(4), env.accumulator(6)}};
}

/// The bits of accumulators `first` and `first` + 2.
template <class Env>
U64 accumulator_pair(Env& env, U32 first) {
  return pair_of(std::bit_cast<U32>(env.accumulator(first)),
                 std::bit_cast<U32>(env.accumulator(first + 2)));
}

/// Reads two accumulators, moves those above down, enters two: even or odd (bit 0 of `which`) of
/// the lower or upper 16 (bit 1). By pairs, as which they were stored.
template <class Env>
F32x2 shift_accumulators(Env& env, U32 which, F32x2 enter) {
  float* const at = ((which & 1U) != 0 ? env.odd_accumulators() : env.even_accumulators()) +
                    std::size_t{8} * (which >> 1 & 1U);
  std::array<F32x2, 4> pairs;
  for (U32 i = 0; i < pairs.size(); ++i) std::memcpy(&pairs[i], at + 2 * i, sizeof(F32x2));
  for (U32 i = 1; i < pairs.size(); ++i) std::memcpy(at + 2 * (i - 1), &pairs[i], sizeof(F32x2));
  std::memcpy(at + 6, &enter, sizeof(enter));
  return pairs[0];
}

/// Reads the first odd pair of the lower 16 accumulators; those above move down.
template <class Env>
U64 shift_out_odd(Env& env) {
  return std::bit_cast<U64>(shift_accumulators(env, 1, {{0.0F, 0.0F}}));
}

}  // namespace superstep::isa
