#pragma once

#include "isa/instruction.h"
#include "isa/instructions/amp_pipeline.h"
#include "isa/numerics.h"

namespace superstep::isa {

struct F32mac {
  static constexpr Spec spec{.syntax = "f32mac $a, $b",
                             .encoding = "5Aa0b180",
                             .pipe = Pipe::kAux,
                             .summary = "Multiplies f32 and adds to an accumulator.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', float>, InA<'b', float>>;
  template <class Env>
  static void execute(Env& env, float a, float b) {
    accumulate(env.accumulator(0), a * b);
  }
};

struct F32v2mac {
  static constexpr Spec spec{.syntax = "f32v2mac $a, $b",
                             .encoding = "5Aa0b080",
                             .pipe = Pipe::kAux,
                             .summary = "Multiplies two f32 and adds to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F32x2>, InA<'b', F32x2>>;
  template <class Env>
  static void execute(Env& env, F32x2 a, F32x2 b) {
    for (unsigned i = 0; i < 2; ++i) accumulate(env.accumulator(2 * i), a.lane[i] * b.lane[i]);
  }
};

struct F16v2cmac {
  static constexpr Spec spec{.syntax = "f16v2cmac $a, $b",
                             .encoding = "5Aa0b300",
                             .pipe = Pipe::kAux,
                             .summary = "Adds the two products of f16 to an accumulator.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F16x2>, InA<'b', F16x2>>;
  template <class Env>
  static void execute(Env& env, F16x2 a, F16x2 b) {
    accumulate(env.accumulator(0), product(a.lane[0], b.lane[0]) + product(a.lane[1], b.lane[1]));
  }
};

struct F16v4cmac {
  static constexpr Spec spec{.syntax = "f16v4cmac $a, $b",
                             .encoding = "5Aa0b200",
                             .pipe = Pipe::kAux,
                             .summary = "Adds pairs of products of f16 to two accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F16x4>, InA<'b', F16x4>>;
  template <class Env>
  static void execute(Env& env, F16x4 a, F16x4 b) {
    for (unsigned i = 0; i < 2; ++i) {
      accumulate(env.accumulator(2 * i), product(a.lane[2 * i], b.lane[2 * i]) +
                                             product(a.lane[2 * i + 1], b.lane[2 * i + 1]));
    }
  }
};

struct F32v4acc {
  static constexpr Spec spec{.syntax = "f32v4acc $a",
                             .encoding = "59a08200",
                             .pipe = Pipe::kAux,
                             .summary = "Adds four f32 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F32x4>>;
  template <class Env>
  static void execute(Env& env, F32x4 a) {
    for (unsigned i = 0; i < 4; ++i) accumulate(env.accumulator(2 * i), a.lane[i]);
  }
};

struct F32v4sqacc {
  static constexpr Spec spec{.syntax = "f32v4sqacc $a",
                             .encoding = "59a08A00",
                             .pipe = Pipe::kAux,
                             .summary = "Adds the squares of four f32 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F32x4>>;
  template <class Env>
  static void execute(Env& env, F32x4 a) {
    for (unsigned i = 0; i < 4; ++i) accumulate(env.accumulator(2 * i), a.lane[i] * a.lane[i]);
  }
};

struct F32v4absacc {
  static constexpr Spec spec{.syntax = "f32v4absacc $a",
                             .encoding = "59a08600",
                             .pipe = Pipe::kAux,
                             .summary = "Adds the absolute values of four f32 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F32x4>>;
  template <class Env>
  static void execute(Env& env, F32x4 a) {
    for (unsigned i = 0; i < 4; ++i) accumulate(env.accumulator(2 * i), std::fabs(a.lane[i]));
  }
};

struct F16v4acc {
  static constexpr Spec spec{.syntax = "f16v4acc $a",
                             .encoding = "59a08000",
                             .pipe = Pipe::kAux,
                             .summary = "Adds four f16 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F16x4>>;
  template <class Env>
  static void execute(Env& env, F16x4 a) {
    for (unsigned i = 0; i < 4; ++i) {
      const float x = float_of_half(a.lane[i]);
      accumulate(env.accumulator(2 * i), x);
    }
  }
};

struct F16v8acc {
  static constexpr Spec spec{.syntax = "f16v8acc $a",
                             .encoding = "59a08100",
                             .pipe = Pipe::kAux,
                             .summary = "Adds eight f16 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', U128>>;
  template <class Env>
  static void execute(Env& env, U128 a) {
    for (unsigned i = 0; i < 8; ++i) {
      const float x = float_of_half(static_cast<std::uint16_t>(a.word(i / 2) >> (16 * (i % 2))));
      accumulate(env.accumulator(2 * i), x);
    }
  }
};

struct F16v8sqacc {
  static constexpr Spec spec{.syntax = "f16v8sqacc $a",
                             .encoding = "59a08900",
                             .pipe = Pipe::kAux,
                             .summary = "Adds the squares of eight f16 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', U128>>;
  template <class Env>
  static void execute(Env& env, U128 a) {
    for (unsigned i = 0; i < 8; ++i) {
      const float x = float_of_half(static_cast<std::uint16_t>(a.word(i / 2) >> (16 * (i % 2))));
      accumulate(env.accumulator(2 * i), x * x);
    }
  }
};

struct F16v4absacc {
  static constexpr Spec spec{.syntax = "f16v4absacc $a",
                             .encoding = "59a08400",
                             .pipe = Pipe::kAux,
                             .summary = "Adds the absolute values of four f16 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', F16x4>>;
  template <class Env>
  static void execute(Env& env, F16x4 a) {
    for (unsigned i = 0; i < 4; ++i) {
      const float x = float_of_half(a.lane[i]);
      accumulate(env.accumulator(2 * i), std::fabs(x));
    }
  }
};

struct F16v8absacc {
  static constexpr Spec spec{.syntax = "f16v8absacc $a",
                             .encoding = "59a08500",
                             .pipe = Pipe::kAux,
                             .summary = "Adds the absolute values of eight f16 to accumulators.",
                             .where = Where::kWorker};
  using Operands = List<InA<'a', U128>>;
  template <class Env>
  static void execute(Env& env, U128 a) {
    for (unsigned i = 0; i < 8; ++i) {
      const float x = float_of_half(static_cast<std::uint16_t>(a.word(i / 2) >> (16 * (i % 2))));
      accumulate(env.accumulator(2 * i), std::fabs(x));
    }
  }
};

struct F32v2gina {
  static constexpr Spec spec{
      .syntax = "f32v2gina $d, $a, i",
      .encoding = "59ad4iii",
      .pipe = Pipe::kAux,
      .summary = "Reads a pair of accumulators, shifts them down and enters a pair.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F32x2 a, U32 i) {
    return shift_accumulators(env, i, a);
  }
};

struct F16v2gina {
  static constexpr Spec spec{
      .syntax = "f16v2gina $d, $a, i",
      .encoding = "59ad5iii",
      .pipe = Pipe::kAux,
      .summary = "Reads a pair of accumulators as f16, shifts them down and enters a pair.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x2 a, U32 i) {
    return shift_accumulators(env, i, floats_of(a));
  }
};

struct F32v2axpy {
  static constexpr Spec spec{
      .syntax = "f32v2axpy $d, $a, $b",
      .encoding = "58b0a0dB",
      .pipe = Pipe::kAux,
      .summary = "$TAS times $a plus $b to accumulators; returns what they held.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F32x2>, InA<'b', F32x2>>;
  template <class Env>
  static F32x2 execute(Env& env, F32x2 a, F32x2 b) {
    // Both accumulators at once: a host that stores one after the other waits before it loads both.
    using Pair = float __attribute__((vector_size(8)));
    F32x2 held;
    std::memcpy(&held, env.even_accumulators(), sizeof(held));
    const Pair sums = std::bit_cast<float>(env.csr(264)) * std::bit_cast<Pair>(a.lane) +
                      std::bit_cast<Pair>(b.lane);
    std::memcpy(env.even_accumulators(), &sums, sizeof(sums));
    if (std::bit_cast<U64>(sums != sums) != 0) [[unlikely]] {
      for (unsigned i = 0; i < 2; ++i) env.accumulator(2 * i) = canonical(sums[i]);
    }
    return held;
  }
};

struct F32sisoamp {
  static constexpr Spec spec{.syntax = "f32sisoamp $d, $a, $q, i",
                             .encoding = "5BqdaF[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 8: one f32 input to 8 f32 channels; partials enter "
                                 "and results leave on even phases.",
                             .where = Where::kWorker,
                             .on_amp = true};
  static constexpr AmpBlock block{.channels = 8, .phases = 8};
  using Operands = List<OutA<'d', F32x2>, InA<'a', float>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, float x, F32x2 partials, U32 i) {
    return amp_f32<block.channels>(env, x, partials, i);
  }
};

struct F32sisov2amp {
  static constexpr Spec spec{.syntax = "f32sisov2amp $d, $a, $q, i",
                             .encoding = "5BqdaF[01ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 8: one f32 input to 16 f32 channels; two partials "
                                 "enter and two results leave.",
                             .where = Where::kWorker,
                             .on_amp = true};
  static constexpr AmpBlock block{.channels = 16, .phases = 8};
  using Operands = List<OutA<'d', F32x2>, InA<'a', float>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, float x, F32x2 partials, U32 i) {
    return amp_f32<block.channels>(env, x, partials, i);
  }
};

struct F16v4sisoamp {
  static constexpr Spec spec{.syntax = "f16v4sisoamp $d, $a, $q, i",
                             .encoding = "5Bqda7[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 4: four f16 inputs to 8 f32 channels; two partials "
                                 "enter and two results leave.",
                             .where = Where::kWorker,
                             .on_amp = true};
  static constexpr AmpBlock block{.channels = 8, .phases = 4};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F16x4>, InA<'q', F32x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x4 x, F32x2 partials, U32 i) {
    return amp_f16<block.channels>(env, x, partials, i);
  }
};

struct F16v4hihoamp {
  static constexpr Spec spec{.syntax = "f16v4hihoamp $d, $a, $q, i",
                             .encoding = "5Bqda1[00ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 4: four f16 inputs to 8 channels; two f16 partials "
                                 "enter and two f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true};
  static constexpr AmpBlock block{.channels = 8, .phases = 4};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x4>, InA<'q', F16x2>, Imm<'i'>>;
  template <class Env>
  static F32x2 execute(Env& env, F16x4 x, F16x2 partials, U32 i) {
    return amp_f16<block.channels>(env, x, floats_of(partials), i);
  }
};

struct F16v4hihov4amp {
  static constexpr Spec spec{.syntax = "f16v4hihov4amp $d, $a, $q, i",
                             .encoding = "5Bqda7[01ii]i",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "Phase i of 4: four f16 inputs to 16 channels; four f16 partials "
                                 "enter and four f16 results leave.",
                             .where = Where::kWorker,
                             .on_amp = true};
  static constexpr AmpBlock block{.channels = 16, .phases = 4};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F16x4>, InA<'q', F16x4>, Imm<'i'>>;
  template <class Env>
  static F32x4 execute(Env& env, F16x4 x, F16x4 partials, U32 i) {
    return amp_f16_wide(env, x, F32x4{floats_of_halves(partials.lane)}, i);
  }
};

using AmpInstructions =
    List<F32mac, F32v2mac, F16v2cmac, F16v4cmac, F32v4acc, F32v4sqacc, F32v4absacc, F16v4acc,
         F16v8acc, F16v8sqacc, F16v4absacc, F16v8absacc, F32v2gina, F16v2gina, F32v2axpy,
         F32sisoamp, F32sisov2amp, F16v4sisoamp, F16v4hihoamp, F16v4hihov4amp>;

}  // namespace superstep::isa
