#pragma once

#include "isa/elementary.h"
#include "isa/instruction.h"
#include "isa/numerics.h"

namespace superstep::isa {

struct F32div {
  static constexpr Spec spec{.syntax = "f32div $d, $a, $b",
                             .encoding = "58a0b5d0",
                             .pipe = Pipe::kAux,
                             .summary = "Divides f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32div};
  using Operands = List<OutA<'d', float>, InA<'a', float>, InA<'b', float>>;
  static float execute(float a, float b) { return canonical(a / b); }
};

struct F32clamp {
  static constexpr Spec spec{
      .syntax = "f32clamp $d, $a, $b",
      .encoding = "58a0b4dC",
      .pipe = Pipe::kAux,
      .summary = "Lesser of the upper bound and the greater of $a and the lower bound; NaN of NaN.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', float>, InA<'a', float>, InA<'b', F32x2>>;
  static float execute(float a, F32x2 b) { return canonical(clamped(a, b.lane[0], b.lane[1])); }
};

struct F32v2clamp {
  static constexpr Spec spec{.syntax = "f32v2clamp $d, $a, $b",
                             .encoding = "58a0b4dF",
                             .pipe = Pipe::kAux,
                             .summary = "Clamps two f32 between the two of $b.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', F32x2>, InA<'a', F32x2>, InA<'b', F32x2>>;
  static F32x2 execute(F32x2 a, F32x2 b) {
    return lanes(a, a, [&](float x, float) { return clamped(x, b.lane[0], b.lane[1]); });
  }
};

struct F32sqrt {
  static constexpr Spec spec{.syntax = "f32sqrt $d, $a",
                             .encoding = "52a061d0",
                             .pipe = Pipe::kAux,
                             .summary = "Square root of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32sqrt};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(static_cast<float>(std::sqrt(a))); }
};

struct F32exp {
  static constexpr Spec spec{.syntax = "f32exp $d, $a",
                             .encoding = "52a031d0",
                             .pipe = Pipe::kAux,
                             .summary = "e to the power of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32exp};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(exponential(a))); }
};

struct F32ln {
  static constexpr Spec spec{.syntax = "f32ln $d, $a",
                             .encoding = "52a011d0",
                             .pipe = Pipe::kAux,
                             .summary = "Natural logarithm of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32ln};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(logarithm(a))); }
};

struct F32exp2 {
  static constexpr Spec spec{.syntax = "f32exp2 $d, $a",
                             .encoding = "52a021d0",
                             .pipe = Pipe::kAux,
                             .summary = "2 to the power of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32exp};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(exponential_2(a))); }
};

struct F32log2 {
  static constexpr Spec spec{.syntax = "f32log2 $d, $a",
                             .encoding = "52a001d0",
                             .pipe = Pipe::kAux,
                             .summary = "Logarithm to base 2 of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32ln};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(logarithm_2(a))); }
};

struct F32tanh {
  static constexpr Spec spec{.syntax = "f32tanh $d, $a",
                             .encoding = "52a051d0",
                             .pipe = Pipe::kAux,
                             .summary = "Hyperbolic tangent of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32tanh};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(hyperbolic_tangent(a))); }
};

struct F32sigm {
  static constexpr Spec spec{.syntax = "f32sigm $d, $a",
                             .encoding = "52a059d0",
                             .pipe = Pipe::kAux,
                             .summary = "Logistic function of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32sigm};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(logistic_function(a))); }
};

struct F32oox {
  static constexpr Spec spec{.syntax = "f32oox $d, $a",
                             .encoding = "52a00Bd0",
                             .pipe = Pipe::kAux,
                             .summary = "Reciprocal of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32oox};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(1.0F / a); }
};

struct F32oorx {
  static constexpr Spec spec{.syntax = "f32oorx $d, $a",
                             .encoding = "52a00Ad0",
                             .pipe = Pipe::kAux,
                             .summary = "Reciprocal of the square root of an f32.",
                             .where = Where::kWorker,
                             .slots = &MachineConfig::Costs::f32oorx};
  using Operands = List<OutA<'d', float>, InA<'a', float>>;
  static float execute(float a) { return canonical(from_double(reciprocal_root(a))); }
};

struct F32int {
  static constexpr Spec spec{
      .syntax = "f32int $d, $a, i",
      .encoding = "51ad000i",
      .pipe = Pipe::kAux,
      .summary =
          "Rounds an f32 to an integer: 0 nearest even, 1 up, 2 down, 3 to zero, 4 nearest away.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d', float>, InA<'a', float>, Imm<'i'>>;
  static float execute(float a, U32 i) { return canonical(rounded(a, i)); }
};

struct F32class {
  static constexpr Spec spec{.syntax = "f32class $d, $a",
                             .encoding = "52a029d0",
                             .pipe = Pipe::kAux,
                             .summary =
                                 "The class of an f32: 1 and 2 NaN, 3 and 4 infinite, 5 and "
                                 "6 zero, 7 and 8 subnormal, 9 and 10 normal.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a', float>>;
  static U32 execute(float a) { return class_of(a); }
};

struct F32v2class {
  static constexpr Spec spec{.syntax = "f32v2class $d, $a",
                             .encoding = "52a02Fd0",
                             .pipe = Pipe::kAux,
                             .summary = "The classes of two f32, a byte each.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a', F32x2>>;
  static U32 execute(F32x2 a) { return class_of(a.lane[0]) | class_of(a.lane[1]) << 8; }
};

struct F32toi32 {
  static constexpr Spec spec{
      .syntax = "f32toi32 $d, $a",
      .encoding = "52a040d0",
      .pipe = Pipe::kAux,
      .summary = "Nearest (ties to even) signed integer of an f32, saturating; 0 for NaN.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a', float>>;
  static U32 execute(float a) { return signed_of(a); }
};

struct F32toui32 {
  static constexpr Spec spec{
      .syntax = "f32toui32 $d, $a",
      .encoding = "52a050d0",
      .pipe = Pipe::kAux,
      .summary = "Nearest (ties to even) unsigned integer of an f32, saturating; 0 for NaN.",
      .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a', float>>;
  static U32 execute(float a) { return unsigned_of(a); }
};

struct F32fromi32 {
  static constexpr Spec spec{.syntax = "f32fromi32 $d, $a",
                             .encoding = "52a070d0",
                             .pipe = Pipe::kAux,
                             .summary = "Nearest f32 of a signed integer.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', float>, InA<'a'>>;
  static float execute(U32 a) { return static_cast<float>(static_cast<std::int32_t>(a)); }
};

struct F32fromui32 {
  static constexpr Spec spec{.syntax = "f32fromui32 $d, $a",
                             .encoding = "52a000d0",
                             .pipe = Pipe::kAux,
                             .summary = "Nearest f32 of an unsigned integer.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', float>, InA<'a'>>;
  static float execute(U32 a) { return static_cast<float>(a); }
};

using FloatInstructions = List<F32div, F32clamp, F32v2clamp, F32sqrt, F32exp, F32ln, F32exp2,
                               F32log2, F32tanh, F32sigm, F32oox, F32oorx, F32int, F32class,
                               F32v2class, F32toi32, F32toui32, F32fromi32, F32fromui32>;

}  // namespace superstep::isa
