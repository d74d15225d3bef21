#pragma once

#include "isa/elementary.h"
#include "isa/instruction.h"
#include "isa/numerics.h"

namespace superstep::isa {

struct F16v2clamp {
  static constexpr Spec spec{.syntax = "f16v2clamp $d, $a, $b",
                             .encoding = "58a0b4dD",
                             .pipe = Pipe::kAux,
                             .summary = "Clamps f16 between the two of $b.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>, InA<'b', F16x2>>;
  static F32x2 execute(F16x2 a, F16x2 b) {
    const float least = float_of_half(b.lane[0]), most = float_of_half(b.lane[1]);
    return lanes(a, a, [&](float x, float) { return clamped(x, least, most); });
  }
};

struct F16v2class {
  static constexpr Spec spec{
      .syntax = "f16v2class $d, $a",
      .encoding = "52a02Ad0",
      .pipe = Pipe::kAux,
      .summary = "The classes of f16, a byte each, numbered like those of `f32class`.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a', F16x2>>;
  static U32 execute(F16x2 a) {
    U32 out = 0;
    for (unsigned i = 0; i < a.lane.size(); ++i) out |= class_of_half(a.lane[i]) << (8 * i);
    return out;
  }
};

struct F16v4clamp {
  static constexpr Spec spec{.syntax = "f16v4clamp $d, $a, $b",
                             .encoding = "58a0b4dE",
                             .pipe = Pipe::kAux,
                             .summary = "Clamps f16 between the two of $b.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F16x4>, InA<'b', F16x2>>;
  static F32x4 execute(F16x4 a, F16x2 b) {
    const float least = float_of_half(b.lane[0]), most = float_of_half(b.lane[1]);
    return lanes(a, a, [&](float x, float) { return clamped(x, least, most); });
  }
};

struct F16v4class {
  static constexpr Spec spec{
      .syntax = "f16v4class $d, $a",
      .encoding = "52a02Ed0",
      .pipe = Pipe::kAux,
      .summary = "The classes of f16, a byte each, numbered like those of `f32class`.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a', F16x4>>;
  static U32 execute(F16x4 a) {
    U32 out = 0;
    for (unsigned i = 0; i < a.lane.size(); ++i) out |= class_of_half(a.lane[i]) << (8 * i);
    return out;
  }
};

struct F16v2exp {
  static constexpr Spec spec{.syntax = "f16v2exp $d, $a",
                             .encoding = "52a032d0",
                             .pipe = Pipe::kAux,
                             .summary = "e to the power of two f16.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f16v2exp};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 x) {
    return lanes(x, x, [](float a, float) { return once_rounded(exponential(a)); });
  }
};

struct F16v2ln {
  static constexpr Spec spec{.syntax = "f16v2ln $d, $a",
                             .encoding = "52a012d0",
                             .pipe = Pipe::kAux,
                             .summary = "Natural logarithm of two f16.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f16v2ln};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 x) {
    return lanes(x, x, [](float a, float) { return once_rounded(logarithm(a)); });
  }
};

struct F16v2exp2 {
  static constexpr Spec spec{.syntax = "f16v2exp2 $d, $a",
                             .encoding = "52a022d0",
                             .pipe = Pipe::kAux,
                             .summary = "2 to the power of two f16.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f16v2exp};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 x) {
    return lanes(x, x, [](float a, float) { return once_rounded(exponential_2(a)); });
  }
};

struct F16v2log2 {
  static constexpr Spec spec{.syntax = "f16v2log2 $d, $a",
                             .encoding = "52a002d0",
                             .pipe = Pipe::kAux,
                             .summary = "Logarithm to base 2 of two f16.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f16v2ln};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 x) {
    return lanes(x, x, [](float a, float) { return once_rounded(logarithm_2(a)); });
  }
};

struct F16v2tanh {
  static constexpr Spec spec{.syntax = "f16v2tanh $d, $a",
                             .encoding = "52a052d0",
                             .pipe = Pipe::kAux,
                             .summary = "Hyperbolic tangent of two f16.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f16v2tanh};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 x) {
    return lanes(x, x, [](float a, float) { return once_rounded(hyperbolic_tangent(a)); });
  }
};

struct F16v2sigm {
  static constexpr Spec spec{.syntax = "f16v2sigm $d, $a",
                             .encoding = "52a05Ad0",
                             .pipe = Pipe::kAux,
                             .summary = "Logistic function of two f16.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f16v2sigm};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 x) {
    return lanes(x, x, [](float a, float) { return once_rounded(logistic_function(a)); });
  }
};

struct F16tof32 {
  static constexpr Spec spec{.syntax = "f16tof32 $d, $a",
                             .encoding = "52a004d0",
                             .pipe = Pipe::kAux,
                             .summary = "The f32 of the lower f16.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', float>, InA<'a', F16x2>>;
  static float execute(F16x2 a) { return float_of_half(a.lane[0]); }
};

struct F16v2tof32 {
  static constexpr Spec spec{.syntax = "f16v2tof32 $d, $a",
                             .encoding = "52a014d0",
                             .pipe = Pipe::kAux,
                             .summary = "The f32 of two f16.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F16x2>>;
  static F32x2 execute(F16x2 a) { return {{float_of_half(a.lane[0]), float_of_half(a.lane[1])}}; }
};

struct F32tof16 {
  static constexpr Spec spec{.syntax = "f32tof16 $d, $a",
                             .encoding = "52a035d0",
                             .pipe = Pipe::kAux,
                             .summary = "The nearest f16 of an f32, in both halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x2>, InA<'a', float>>;
  static F32Twice execute(float a) { return {a}; }
};

struct F32v2tof16 {
  static constexpr Spec spec{.syntax = "f32v2tof16 $d, $a",
                             .encoding = "52a067d0",
                             .pipe = Pipe::kAux,
                             .summary = "The nearest f16 of two f32.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F32x2>>;
  static F32x2 execute(F32x2 a) { return a; }
};

struct F32v4tof16 {
  static constexpr Spec spec{.syntax = "f32v4tof16 $d, $a",
                             .encoding = "52a065d0",
                             .pipe = Pipe::kAux,
                             .summary = "The nearest f16 of four f32.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x4>, InA<'a', F32x4>>;
  static F32x4 execute(F32x4 a) { return a; }
};

struct F16v2sum {
  static constexpr Spec spec{.syntax = "f16v2sum $d, $a",
                             .encoding = "52a042d0",
                             .pipe = Pipe::kAux,
                             .summary = "The f32 sum of two f16.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', float>, InA<'a', F16x2>>;
  static float execute(F16x2 a) {
    return canonical(float_of_half(a.lane[0]) + float_of_half(a.lane[1]));
  }
};

struct F16v4sum {
  static constexpr Spec spec{.syntax = "f16v4sum $d, $a",
                             .encoding = "52a046d0",
                             .pipe = Pipe::kAux,
                             .summary = "The f32 sums of the lower and the upper two of four f16.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F16x4>>;
  static F32x2 execute(F16x4 a) {
    return {{canonical(float_of_half(a.lane[0]) + float_of_half(a.lane[1])),
             canonical(float_of_half(a.lane[2]) + float_of_half(a.lane[3]))}};
  }
};

struct F16v2maxc {
  static constexpr Spec spec{.syntax = "f16v2maxc $d, $a",
                             .encoding = "52a06Ad0",
                             .pipe = Pipe::kAux,
                             .summary = "The greatest of neighbouring f16.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x2>>;
  static F16x2 execute(F16x2 a) {
    const std::uint16_t most = greater_half(a.lane[0], a.lane[1]);
    return {{most, most}};
  }
};

struct F16v4maxc {
  static constexpr Spec spec{.syntax = "f16v4maxc $d, $a",
                             .encoding = "52a06Ed0",
                             .pipe = Pipe::kAux,
                             .summary = "The greatest of neighbouring f16.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F16x2>, InA<'a', F16x4>>;
  static F16x2 execute(F16x4 a) {
    return {{greater_half(a.lane[0], a.lane[1]), greater_half(a.lane[2], a.lane[3])}};
  }
};

using HalfInstructions =
    List<F16v2clamp, F16v2class, F16v4clamp, F16v4class, F16v2exp, F16v2ln, F16v2exp2, F16v2log2,
         F16v2tanh, F16v2sigm, F16tof32, F16v2tof32, F32tof16, F32v2tof16, F32v4tof16, F16v2sum,
         F16v4sum, F16v2maxc, F16v4maxc>;

}  // namespace superstep::isa
