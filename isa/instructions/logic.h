#pragma once

#include "isa/instruction.h"

namespace superstep::isa {

// Bits of auxiliary registers.

struct AndA {
  static constexpr Spec spec{.syntax = "and $d, $a, $b",
                             .encoding = "59a0b0d0",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on auxiliary registers.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a & b; }
};

struct AndAImmediate {
  static constexpr Spec spec{.syntax = "and $d, $a, i",
                             .encoding = "31ad0iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a & b; }
};

struct AndATailed {
  static constexpr Spec spec{.syntax = "and $d, $a, i<<20",
                             .encoding = "31ad8iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate in the upper 12 bits.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 i) {
    const U32 b = i << 20;
    return a & b;
  }
};

struct And64 {
  static constexpr Spec spec{.syntax = "and64 $d, $a, $b",
                             .encoding = "59a0b1d0",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on register pairs.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return a & b; }
};

struct AndcA {
  static constexpr Spec spec{.syntax = "andc $d, $a, $b",
                             .encoding = "59a0b0d1",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on auxiliary registers.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a & ~b; }
};

struct AndcAImmediate {
  static constexpr Spec spec{.syntax = "andc $d, $a, i",
                             .encoding = "31ad1iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a & ~b; }
};

struct AndcATailed {
  static constexpr Spec spec{.syntax = "andc $d, $a, i<<20",
                             .encoding = "31ad9iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate in the upper 12 bits.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 i) {
    const U32 b = i << 20;
    return a & ~b;
  }
};

struct Andc64 {
  static constexpr Spec spec{.syntax = "andc64 $d, $a, $b",
                             .encoding = "59a0b1d1",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on register pairs.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return a & ~b; }
};

struct OrA {
  static constexpr Spec spec{.syntax = "or $d, $a, $b",
                             .encoding = "59a0b0d2",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on auxiliary registers.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a | b; }
};

struct OrAImmediate {
  static constexpr Spec spec{.syntax = "or $d, $a, i",
                             .encoding = "31ad2iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a | b; }
};

struct OrATailed {
  static constexpr Spec spec{.syntax = "or $d, $a, i<<20",
                             .encoding = "31adAiii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate in the upper 12 bits.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 i) {
    const U32 b = i << 20;
    return a | b;
  }
};

struct Or64 {
  static constexpr Spec spec{.syntax = "or64 $d, $a, $b",
                             .encoding = "59a0b1d2",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on register pairs.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return a | b; }
};

struct NotA {
  static constexpr Spec spec{.syntax = "not $d, $a",
                             .encoding = "59a002d0",
                             .pipe = Pipe::kAux,
                             .summary = "Complement.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>>;
  static U32 execute(U32 a) { return ~a; }
};

struct Not64 {
  static constexpr Spec spec{.syntax = "not64 $d, $a",
                             .encoding = "59a002d1",
                             .pipe = Pipe::kAux,
                             .summary = "Complement of a pair.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>>;
  static U64 execute(U64 a) { return ~a; }
};

struct Roll16A {
  static constexpr Spec spec{.syntax = "roll16 $d, $a, $b",
                             .encoding = "59a0b3d0",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 16 | b << 16; }
};

struct Sort4x16loA {
  static constexpr Spec spec{.syntax = "sort4x16lo $d, $a, $b",
                             .encoding = "59a0b3d1",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return (a & 0xffffU) | b << 16; }
};

struct Sort4x16hiA {
  static constexpr Spec spec{.syntax = "sort4x16hi $d, $a, $b",
                             .encoding = "59a0b3d2",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 16 | (b & 0xffff0000U); }
};

struct Roll32 {
  static constexpr Spec spec{.syntax = "roll32 $d, $a, $b",
                             .encoding = "59a0b4d0",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes words.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return pair_of(high(a), low(b)); }
};

struct Sort4x32lo {
  static constexpr Spec spec{.syntax = "sort4x32lo $d, $a, $b",
                             .encoding = "59a0b4d1",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes words.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return pair_of(low(a), low(b)); }
};

struct Sort4x32hi {
  static constexpr Spec spec{.syntax = "sort4x32hi $d, $a, $b",
                             .encoding = "59a0b4d2",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes words.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return pair_of(high(a), high(b)); }
};

using LogicInstructions = List<AndA, AndAImmediate, AndATailed, And64, AndcA, AndcAImmediate,
                               AndcATailed, Andc64, OrA, OrAImmediate, OrATailed, Or64, NotA, Not64,
                               Roll16A, Sort4x16loA, Sort4x16hiA, Roll32, Sort4x32lo, Sort4x32hi>;

}  // namespace superstep::isa
