#pragma once

#include "isa/instruction.h"
#include "isa/instructions/slic.h"
#include "isa/numerics.h"
#include "isa/registers.h"
#include "isa/rounding.h"

namespace superstep::isa {

// The f8 instructions of IPU21. The format is bit 1 of $FP_NFMT for values and bit 0 for common
// weights, 1.4.3 where it is set; the results of all are multiplied by 2 to the power of the signed
// lower six bits of $FP_SCL (graphcore/poplibs lib/popops/codelets/inlineAssemblerCast.hpp and
// lib/poplin/codelets/inlineAssemblerConv.hpp).

template <class Env>
Quarter value_format(Env& env) {
  return (env.csr(kFpNfmt) & 2U) != 0 ? Quarter::kF143 : Quarter::kF152;
}
template <class Env>
Quarter weight_format(Env& env) {
  return (env.csr(kFpNfmt) & 1U) != 0 ? Quarter::kF143 : Quarter::kF152;
}
template <class Env>
float quarter_scale(Env& env) {
  const int scale = static_cast<int>(env.csr(kFpScl) & 0x3fU);
  return std::ldexp(1.0F, scale < 32 ? scale : scale - 64);
}

template <std::size_t kCount, class Env>
std::array<float, kCount> floats_of_quarters(U64 bits, Quarter format) {
  std::array<float, kCount> out;
  for (std::size_t i = 0; i < kCount; ++i) {
    out[i] = float_of_quarter(static_cast<std::uint8_t>(bits >> (8 * i)), format);
  }
  return out;
}

/// The f8 nearest to each scaled f16, from the lowest byte on.
template <std::size_t kCount, class Env>
U64 quarters_of_halves(Env& env, const std::array<std::uint16_t, kCount>& halves) {
  const Quarter format = value_format(env);
  const float scale = quarter_scale(env);
  const Rounding rounding(env.csr(kFpCtl));
  std::array<U64, 2> random{};
  if (rounding.stochastic) {
    for (std::size_t i = 0; i < (kCount + 3) / 4; ++i) random[i] = env.random();
  }
  U64 out = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto bits = static_cast<U32>(random[i / 4] >> (16 * (i % 4)));
    out |= U64{rounded_quarter(float_of_half(halves[i]) * scale, format, rounding, bits)}
           << (8 * i);
  }
  return out;
}

struct F8v2tof16 {
  static constexpr Spec spec{.syntax = "f8v2tof16 $d, $a",
                             .encoding = "52a06Cd0",
                             .pipe = Pipe::kAux,
                             .summary = "The lower two of four f8 as f16.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x2>, InA<'a'>>;
  template <class Env>
  static F32x2 execute(Env& env, U32 a) {
    const auto values = floats_of_quarters<2, Env>(a, value_format(env));
    const float scale = quarter_scale(env);
    return {{values[0] * scale, values[1] * scale}};
  }
};

struct F8v4tof16 {
  static constexpr Spec spec{.syntax = "f8v4tof16 $d, $a",
                             .encoding = "52a068d0",
                             .pipe = Pipe::kAux,
                             .summary = "Four f8 as f16.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a'>>;
  template <class Env>
  static F32x4 execute(Env& env, U32 a) {
    F32x4 out{floats_of_quarters<4, Env>(a, value_format(env))};
    const float scale = quarter_scale(env);
    for (float& lane : out.lane) lane *= scale;
    return out;
  }
};

struct F16v2tof8 {
  static constexpr Spec spec{.syntax = "f16v2tof8 $d, $a",
                             .encoding = "52a06Dd0",
                             .pipe = Pipe::kAux,
                             .summary = "Two f16 as f8 in the lower half.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d'>, InA<'a', F16x2>>;
  template <class Env>
  static U32 execute(Env& env, F16x2 a) {
    return low(quarters_of_halves(env, a.lane));
  }
};

struct F16v8tof8 {
  static constexpr Spec spec{.syntax = "f16v8tof8 $d, $a",
                             .encoding = "52a066d0",
                             .pipe = Pipe::kAux,
                             .summary = "Eight f16 as f8.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', U64>, InA<'a', U128>>;
  template <class Env>
  static U64 execute(Env& env, U128 a) {
    return quarters_of_halves(env, std::bit_cast<std::array<std::uint16_t, 8>>(a));
  }
};

/// What eight f8 inputs and the weights (channel, slice) of f8 give for a channel, scaled.
template <class Env>
float quarter_product(Env& env, const std::array<float, 8>& x, U32 channel, U32 slice) {
  const auto w =
      floats_of_quarters<8, Env>(env.raw_weight(4 * channel + slice), weight_format(env));
  const float lower = (x[0] * w[0] + x[1] * w[1]) + (x[2] * w[2] + x[3] * w[3]);
  const float upper = (x[4] * w[4] + x[5] * w[5]) + (x[6] * w[6] + x[7] * w[7]);
  return (lower + upper) * quarter_scale(env);
}

struct F8v8hihov4amp {
  static constexpr Spec spec{.syntax = "f8v8hihov4amp $d, $a, $q, i",
                             .encoding = "5Bqda9[01ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 4: eight f8 inputs to 16 channels; four f16 partials "
                                 "enter and four f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a', U64>, InA<'q', F16x4>, Imm<'i'>>;
  template <class Env>
  static F32x4 execute(Env& env, U64 inputs, F16x4 partials, U32 i) {
    const U32 phase = i & 3U;
    if (phase == 0) begin_amp_block<16>(env);
    const F32x4 results = turn_over_both(env, 2 * phase, F32x4{floats_of_halves(partials.lane)});
    const auto x = floats_of_quarters<8, Env>(inputs, value_format(env));
    for (U32 c = 0; c < 16; ++c) {
      accumulate(env.even_accumulators()[c], quarter_product(env, x, c, phase));
    }
    return results;
  }
};

struct F8v8hihov4slic {
  static constexpr Spec spec{.syntax = "f8v8hihov4slic $d, $a, $q, i",
                             .encoding = "5BqdaA[01ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Slim convolution of eight f8 inputs in both sets of channels: "
                                 "four f16 partials enter and four f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a', U64>, InA<'q', F16x4>, Imm<'i'>>;
  template <class Env>
  static F32x4 execute(Env& env, U64 inputs, F16x4 partials, U32 i) {
    const auto x = floats_of_quarters<8, Env>(inputs, value_format(env));
    const std::array<float, 4> p = floats_of_halves(partials.lane);
    F32x4 out;
    for (U32 set = 0; set < 2; ++set) {
      const U32 stages = (i & kSlic1x3) != 0 ? 3 : 4;
      std::array<float, 8> products{};
      for (U32 c = 0; c < 2 * stages; ++c) {
        products[c] = quarter_product(env, x, 8 * set + c, i & kSlicSlice);
      }
      const F32x2 pair = slic_step(env.even_accumulators() + 8 * set, stages, products,
                                   F32x2{{p[2 * set], p[2 * set + 1]}});
      out.lane[2 * set] = pair.lane[0];
      out.lane[2 * set + 1] = pair.lane[1];
    }
    return out;
  }
};

using QuarterInstructions =
    List<F8v2tof16, F8v4tof16, F16v2tof8, F16v8tof8, F8v8hihov4amp, F8v8hihov4slic>;

}  // namespace superstep::isa
