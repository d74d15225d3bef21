#pragma once

#include "isa/instruction.h"
#include "isa/instructions/amp_pipeline.h"
#include "isa/numerics.h"
#include "isa/registers.h"

namespace superstep::isa {

struct F16v4gacc {
  static constexpr Spec spec{.syntax = "f16v4gacc $d",
                             .encoding = "500004d0",
                             .pipe = Pipe::kAux,
                             .summary = "Reads four accumulators as f16.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>>;
  template <class Env>
  static F32x4 execute(Env& env) {
    return first_accumulators(env);
  }
};

struct F16v4mix {
  static constexpr Spec spec{.syntax = "f16v4mix $d, $a, $b",
                             .encoding = "58a0b0dA",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Lower f16 of $TAS times $a plus upper f16 times $b to "
                                 "accumulators; returns what they held as f16.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F16x4>, InA<'b', F16x4>>;
  template <class Env>
  static F32x4 execute(Env& env, F16x4 a, F16x4 b) {
    const F32x4 out = first_accumulators(env);
    const U32 scales = env.csr(kTas);
    const float first = float_of_half(static_cast<std::uint16_t>(scales));
    const float second = float_of_half(static_cast<std::uint16_t>(scales >> 16));
    const F32x4 x{floats_of_halves(a.lane)}, y{floats_of_halves(b.lane)};
    for (unsigned i = 0; i < 4; ++i) {
      env.accumulator(2 * i) = canonical(first * x.lane[i] + second * y.lane[i]);
    }
    return out;
  }
};

/// The order of the four products: graphcore-research/tessellate-ipu, ipu_amp.hpp.
struct F32v2aop {
  static constexpr Spec spec{.syntax = "f32v2aop $a, $b, i",
                             .encoding = "5Aa0bCii",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Adds the four products of two f32 and two f32 to "
                                 "accumulators.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<InA<'a', F32x2>, InA<'b', F32x2>, Imm<'i'>>;
  template <class Env>
  static void execute(Env& env, F32x2 a, F32x2 b, U32) {
    for (unsigned i = 0; i < 4; ++i) {
      accumulate(env.accumulator(2 * i), a.lane[i % 2] * b.lane[i / 2]);
    }
  }
};

struct F16v4stacc {
  static constexpr Spec spec{.syntax = "f16v4stacc $d, i",
                             .encoding = "510d09ii",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Reads a pair of accumulators as they are: 0 the first even pair, "
                                 "and copies those above to the odd ones; 1 the first odd pair, "
                                 "and shifts the odd ones down.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', U64>, Imm<'i'>>;
  template <class Env>
  static U64 execute(Env& env, U32 i) {
    if ((i & 1U) != 0) return shift_out_odd(env);
    const U64 out = accumulator_pair(env, 0);
    for (U32 n = 0; n < 12; n += 2) env.accumulator(n + 1) = env.accumulator(n + 4);
    env.accumulator(13) = 0.0F;
    env.accumulator(15) = 0.0F;
    return out;
  }
};

struct F16v4istacc {
  static constexpr Spec spec{
      .syntax = "f16v4istacc $d, $a, $b, i",
      .encoding = "5Bbda8[00ii]i",
      .pipe = Pipe::kAux,
      .summary =
          "Enters the lanes of $a and $b side by side as rows 0 and 1 (0) or "
          "2 and 3 (1) of the columns that `f16v4stacc` reads; reads the "
          "first odd pair of accumulators, and shifts the odd ones down.",
      .where = Where::kWorker,
      .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', U64>, InA<'a', F16x4>, InA<'b', F16x4>, Imm<'i'>>;
  template <class Env>
  static U64 execute(Env& env, F16x4 a, F16x4 b, U32 i) {
    const U64 out = shift_out_odd(env);
    for (U32 n = 0; n < 4; ++n) {
      env.accumulator(4 * n + 2 * (i & 1U)) =
          std::bit_cast<float>(U32{a.lane[n]} | U32{b.lane[n]} << 16);
    }
    return out;
  }
};

using AccumulatorInstructions = List<F16v4gacc, F16v4mix, F32v2aop, F16v4stacc, F16v4istacc>;

}  // namespace superstep::isa
