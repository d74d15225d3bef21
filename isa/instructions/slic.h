#pragma once

#include "isa/instruction.h"
#include "isa/instructions/amp_pipeline.h"
#include "isa/numerics.h"
#include "isa/registers.h"

namespace superstep::isa {

/// A slim convolution: sums of two channels go through stages, an input of each, and leave at the
/// last one. Channels 2s and 2s + 1 of the even accumulators are stage s from the end; `kStages` of
/// 3 or 4. `products` holds what the input gives for each channel
/// (graphcore/ipu_assembly_support, f16v4sisoslic and f16v4hihoslic: example sequences).
inline F32x2 slic_step(float* sums, U32 stages, const std::array<float, 8>& products,
                       F32x2 partials) {
  const F32x2 results{{sums[0], sums[1]}};
  const U32 last = 2 * (stages - 1);
  for (U32 c = 0; c < last; ++c) sums[c] = canonical(products[c] + sums[c + 2]);
  for (U32 i = 0; i < 2; ++i) {
    sums[last + i] = canonical(products[last + i] + partials.lane[i]);
  }
  return results;
}

/// The set of 8 channels from `first` on takes the four inputs of an f16 instruction.
template <class Env>
F32x2 slic_f16(Env& env, U32 first, F16x4 x, F32x2 partials, U32 flags) {
  const std::array<float, 4> input = floats_of_halves(x.lane);
  const float* const w = env.f16_weights(flags & kSlicSlice) + first;
  const U32 stages = (flags & kSlic1x3) != 0 ? 3 : 4;
  std::array<float, 8> products{};
  for (U32 c = 0; c < 2 * stages; ++c) {
    products[c] =
        (input[0] * w[c] + input[1] * w[c + 16]) + (input[2] * w[c + 32] + input[3] * w[c + 48]);
  }
  return slic_step(env.even_accumulators() + first, stages, products, partials);
}

/// The first of the two inputs of an f32 instruction moves the sums on, the second adds to them.
template <class Env>
F32x2 slic_f32(Env& env, U32 first, float x, F32x2 partials, U32 flags) {
  const bool second = (flags & kSlicSecondInput) != 0;
  const float* const w = env.f32_weights(2 * (flags & kSlicSlice) + (second ? 1 : 0)) + first;
  const U32 stages = (flags & kSlic1x3) != 0 ? 3 : 4;
  std::array<float, 8> products{};
  for (U32 c = 0; c < 2 * stages; ++c) products[c] = x * w[c];
  float* const sums = env.even_accumulators() + first;
  if (!second) return slic_step(sums, stages, products, partials);
  for (U32 c = 0; c < 2 * stages; ++c) accumulate(sums[c], products[c]);
  for (U32 i = 0; i < 2; ++i) accumulate(sums[2 * (stages - 1) + i], partials.lane[i]);
  return {{0.0F, 0.0F}};
}

struct F16v4sihoamp {
  static constexpr Spec spec{.syntax = "f16v4sihoamp $d, $a, $q, i",
                             .encoding = "5Bqda5[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 4: four f16 inputs to 8 channels; two f32 partials "
                                 "enter and two f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x4>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x4 x, F32x2 partials, U32 i) {
    return amp_f16<8>(env, x, partials, i);
  }
};

struct F16v4sisoslic {
  static constexpr Spec spec{.syntax = "f16v4sisoslic $d, $a, $q, i",
                             .encoding = "5Bqda6[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Slim convolution of four f16 inputs: two f32 partials enter and "
                                 "two f32 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F16x4>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x4 x, F32x2 partials, U32 i) {
    return slic_f16(env, 0, x, partials, i);
  }
};

struct F16v4hihoslic {
  static constexpr Spec spec{.syntax = "f16v4hihoslic $d, $a, $q, i",
                             .encoding = "5Bqda0[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Slim convolution of four f16 inputs: two f16 partials enter and "
                                 "two f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x4>, InA<'q', F16x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x4 x, F16x2 partials, U32 i) {
    return slic_f16(env, 0, x, floats_of(partials), i);
  }
};

struct F16v4sihoslic {
  static constexpr Spec spec{.syntax = "f16v4sihoslic $d, $a, $q, i",
                             .encoding = "5Bqda4[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Slim convolution of four f16 inputs: two f32 partials enter and "
                                 "two f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x4>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x4 x, F32x2 partials, U32 i) {
    return slic_f16(env, 0, x, partials, i);
  }
};

struct F16v4hihov4slic {
  static constexpr Spec spec{.syntax = "f16v4hihov4slic $d, $a, $q, i",
                             .encoding = "5Bqda6[01ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Slim convolution of four f16 inputs in both sets of channels: "
                                 "four f16 partials enter and four f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F16x4>, InA<'q', F16x4>, Imm<'i'>>;
  template <class Env>
  static F32x4 execute(Env& env, F16x4 x, F16x4 partials, U32 i) {
    const std::array<float, 4> p = floats_of_halves(partials.lane);
    const F32x2 lower = slic_f16(env, 0, x, F32x2{{p[0], p[1]}}, i);
    const F32x2 upper = slic_f16(env, 8, x, F32x2{{p[2], p[3]}}, i);
    return {{lower.lane[0], lower.lane[1], upper.lane[0], upper.lane[1]}};
  }
};

struct F32sisoslic {
  static constexpr Spec spec{.syntax = "f32sisoslic $d, $a, $q, i",
                             .encoding = "5BqdaE[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Slim convolution, one of the two f32 inputs of a step: two f32 "
                                 "partials enter and two results leave at the first.",
                             .where = Where::kWorker,
                             .on_amp = true,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F32x2>, InA<'a', float>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, float x, F32x2 partials, U32 i) {
    return slic_f32(env, 0, x, partials, i);
  }
};

struct F32sisov2slic {
  static constexpr Spec spec{
      .syntax = "f32sisov2slic $d, $a, $q, i",
      .encoding = "5BqdaE[01ii]i",
      .pipe = Pipe::kAux,
      .summary =
          "Slim convolution in both sets of channels: the lower two results leave at the "
          "first of the two f32 inputs of a step, the upper two at the second, and so do "
          "the partials enter.",
      .where = Where::kWorker,
      .on_amp = true,
      .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F32x2>, InA<'a', float>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, float x, F32x2 partials, U32 i) {
    const bool second = (i & kSlicSecondInput) != 0;
    const U32 last = (i & kSlic1x3) != 0 ? 12 : 14;
    const F32x2 none{{0.0F, 0.0F}};
    F32x2 results = slic_f32(env, 0, x, second ? none : partials, i);
    const F32x2 upper = slic_f32(env, 8, x, none, i);
    // The upper results wait in the odd accumulators for the second input.
    if (!second) {
      env.odd_accumulators()[last] = upper.lane[0];
      env.odd_accumulators()[last + 1] = upper.lane[1];
    } else {
      results.lane = {env.odd_accumulators()[last], env.odd_accumulators()[last + 1]};
      for (U32 k = 0; k < 2; ++k) accumulate(env.even_accumulators()[last + k], partials.lane[k]);
    }
    return results;
  }
};

using SlicInstructions = List<F16v4sihoamp, F16v4sisoslic, F16v4hihoslic, F16v4sihoslic,
                              F16v4hihov4slic, F32sisoslic, F32sisov2slic>;

}  // namespace superstep::isa
