#pragma once

#include "isa/instruction.h"
#include "isa/numerics.h"

namespace superstep::isa {

/// The least and the greatest are -1/2 and 1/2 after rounding, 0 is never given: the middle of one
/// of 2^kBits equal parts of that range (graphcore/ipu_assembly_support, f32sufromui and
/// f16v2sufromui: the bounds and the least magnitudes).
template <unsigned kBits>
constexpr double symmetric_uniform(U32 value) {
  return (static_cast<double>(value) + 0.5) / static_cast<double>(U64{1} << kBits) - 0.5;
}

/// The sum of twelve 5-bit numbers, of mean 0 and variance 1023/1024 (graphcore/poplibs
/// lib/poprand/codelets/RandomUtils.hpp, grand; whether the machine does the same is not public).
constexpr float sum_of_twelve(U64 bits) {
  int sum = -12 * 31 / 2;
  for (unsigned i = 0; i < 12; ++i) sum += static_cast<int>(bits >> (5 * i) & 31U);
  return static_cast<float>(sum) / 32.0F;
}

/// Whether `rmask` keeps an element: always with bit 16 of the probability, otherwise when 16
/// random bits are less than it (graphcore/ipu_assembly_support, f16v4rmask).
constexpr bool is_kept(U32 probability, U64 random) {
  return (probability >> 16 & 1U) != 0 || (random & 0xffffU) < (probability & 0xffffU);
}

struct Urand32 {
  static constexpr Spec spec{.syntax = "urand32 $d",
                             .encoding = "500000d0",
                             .pipe = Pipe::kAux,
                             .summary = "32 random bits.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d'>>;
  template <class Env>
  static U32 execute(Env& env) {
    return low(env.random());
  }
};

struct Urand64 {
  static constexpr Spec spec{.syntax = "urand64 $d",
                             .encoding = "500001d0",
                             .pipe = Pipe::kAux,
                             .summary = "64 random bits.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', U64>>;
  template <class Env>
  static U64 execute(Env& env) {
    return env.random();
  }
};

/// The lower lane takes the first step of the generator.
template <class Env>
F32x2 two_nearly_normal(Env& env) {
  const float lower = sum_of_twelve(env.random());
  return {{lower, sum_of_twelve(env.random())}};
}

struct F16v2grand {
  static constexpr Spec spec{.syntax = "f16v2grand $d",
                             .encoding = "500002d0",
                             .pipe = Pipe::kAux,
                             .summary = "Two random f16, nearly normally distributed.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x2>>;
  template <class Env>
  static F32x2 execute(Env& env) {
    return two_nearly_normal(env);
  }
};

struct F32v2grand {
  static constexpr Spec spec{.syntax = "f32v2grand $d",
                             .encoding = "500003d0",
                             .pipe = Pipe::kAux,
                             .summary = "Two random f32, nearly normally distributed.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F32x2>>;
  template <class Env>
  static F32x2 execute(Env& env) {
    return two_nearly_normal(env);
  }
};

struct F32sufromui {
  static constexpr Spec spec{.syntax = "f32sufromui $d, $a",
                             .encoding = "52a049d0",
                             .pipe = Pipe::kAux,
                             .summary = "An unsigned integer as an f32 between -1/2 and 1/2.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', float>, InA<'a'>>;
  static float execute(U32 a) { return from_double(symmetric_uniform<32>(a)); }
};

struct F32v2sufromui {
  static constexpr Spec spec{.syntax = "f32v2sufromui $d, $a",
                             .encoding = "52a04Bd0",
                             .pipe = Pipe::kAux,
                             .summary = "Two unsigned integers as f32 between -1/2 and 1/2.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F32x2>, InA<'a', U64>>;
  static F32x2 execute(U64 a) {
    return {
        {from_double(symmetric_uniform<32>(low(a))), from_double(symmetric_uniform<32>(high(a)))}};
  }
};

struct F16v2sufromui {
  static constexpr Spec spec{.syntax = "f16v2sufromui $d, $a",
                             .encoding = "52a04Ad0",
                             .pipe = Pipe::kAux,
                             .summary = "Two unsigned 16-bit integers as f16 between -1/2 and 1/2.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 a) {
    return {{from_double(symmetric_uniform<16>(a.lane[0])),
             from_double(symmetric_uniform<16>(a.lane[1]))}};
  }
};

struct F16v4sufromui {
  static constexpr Spec spec{
      .syntax = "f16v4sufromui $d, $a",
      .encoding = "52a04Ed0",
      .pipe = Pipe::kAux,
      .summary = "Four unsigned 16-bit integers as f16 between -1/2 and 1/2.",
      .where = Where::kWorker,
      .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F16x4>>;
  static F32x4 execute(F16x4 a) {
    F32x4 out;
    for (unsigned i = 0; i < 4; ++i) out.lane[i] = from_double(symmetric_uniform<16>(a.lane[i]));
    return out;
  }
};

struct F16v4rmask {
  static constexpr Spec spec{.syntax = "f16v4rmask $d, $a, $b",
                             .encoding = "58a0b5dA",
                             .pipe = Pipe::kAux,
                             .summary = "Four f16, each kept with probability $b / 65536, or 0.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F16x4>, InA<'b'>>;
  template <class Env>
  static F16x4 execute(Env& env, F16x4 a, U32 b) {
    const U64 random = env.random();
    for (unsigned i = 0; i < 4; ++i) {
      if (!is_kept(b, random >> (16 * i))) a.lane[i] = 0;
    }
    return a;
  }
};

struct F32v2rmask {
  static constexpr Spec spec{.syntax = "f32v2rmask $d, $a, $b",
                             .encoding = "58a0b5dB",
                             .pipe = Pipe::kAux,
                             .summary = "Two f32, each kept with probability $b / 65536, or 0.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kPublished};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b'>>;
  template <class Env>
  static U64 execute(Env& env, U64 a, U32 b) {
    const U64 random = env.random();
    return pair_of(is_kept(b, random) ? low(a) : 0, is_kept(b, random >> 32) ? high(a) : 0);
  }
};

using RandomInstructions =
    List<Urand32, Urand64, F16v2grand, F32v2grand, F32sufromui, F32v2sufromui, F16v2sufromui,
         F16v4sufromui, F16v4rmask, F32v2rmask>;

}  // namespace superstep::isa
