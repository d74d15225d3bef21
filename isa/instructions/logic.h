#pragma once

#include "isa/instruction.h"

namespace superstep::isa {

// Bits of auxiliary registers.

struct AndA {
  static constexpr Spec spec{.syntax = "and $d, $a, $b",
                             .encoding = "58a0b6d0",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on auxiliary registers.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a & b; }
};

struct AndAImmediate {
  static constexpr Spec spec{.syntax = "and $d, $a, i",
                             .encoding = "52ad8iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a & b; }
};

struct AndATailed {
  static constexpr Spec spec{.syntax = "and $d, $a, i<<20",
                             .encoding = "52adCiii",
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
                             .encoding = "58a0b6d2",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on register pairs.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return a & b; }
};

struct AndcA {
  static constexpr Spec spec{.syntax = "andc $d, $a, $b",
                             .encoding = "58a0b6d1",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on auxiliary registers.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a & ~b; }
};

struct AndcAImmediate {
  static constexpr Spec spec{.syntax = "andc $d, $a, i",
                             .encoding = "52adBiii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kInferred};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a & ~b; }
};

struct AndcATailed {
  static constexpr Spec spec{.syntax = "andc $d, $a, i<<20",
                             .encoding = "52adFiii",
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
                             .encoding = "58a0b6d3",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on register pairs.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return a & ~b; }
};

struct OrA {
  static constexpr Spec spec{.syntax = "or $d, $a, $b",
                             .encoding = "58a0bEd0",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on auxiliary registers.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a | b; }
};

struct OrAImmediate {
  static constexpr Spec spec{.syntax = "or $d, $a, i",
                             .encoding = "52ad9iii",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise with an immediate.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a | b; }
};

struct OrATailed {
  static constexpr Spec spec{.syntax = "or $d, $a, i<<20",
                             .encoding = "52adDiii",
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
                             .encoding = "58a0bEd1",
                             .pipe = Pipe::kAux,
                             .summary = "Bitwise on register pairs.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return a | b; }
};

struct NotA {
  static constexpr Spec spec{.syntax = "not $d, $a",
                             .encoding = "52a078d0",
                             .pipe = Pipe::kAux,
                             .summary = "Complement.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>>;
  static U32 execute(U32 a) { return ~a; }
};

struct Not64 {
  static constexpr Spec spec{.syntax = "not64 $d, $a",
                             .encoding = "52a079d0",
                             .pipe = Pipe::kAux,
                             .summary = "Complement of a pair.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>>;
  static U64 execute(U64 a) { return ~a; }
};

struct Roll16A {
  static constexpr Spec spec{.syntax = "roll16 $d, $a, $b",
                             .encoding = "58a0b6d4",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 16 | b << 16; }
};

struct Sort4x16loA {
  static constexpr Spec spec{.syntax = "sort4x16lo $d, $a, $b",
                             .encoding = "58a0b6dC",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes halves.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return (a & 0xffffU) | b << 16; }
};

struct Sort4x16hiA {
  static constexpr Spec spec{.syntax = "sort4x16hi $d, $a, $b",
                             .encoding = "58a0b6d8",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes halves.",
                             .where = Where::kWorker,
                             .encoding_source = Source::kInferred};
  using Operands = List<OutA<'d'>, InA<'a'>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 16 | (b & 0xffff0000U); }
};

struct Roll32 {
  static constexpr Spec spec{.syntax = "roll32 $d, $a, $b",
                             .encoding = "58a0b6d7",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes words.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return pair_of(high(a), low(b)); }
};

struct Sort4x32lo {
  static constexpr Spec spec{.syntax = "sort4x32lo $d, $a, $b",
                             .encoding = "58a0b6dF",
                             .pipe = Pipe::kAux,
                             .summary = "Permutes words.",
                             .where = Where::kWorker};
  using Operands = List<OutA<'d', U64>, InA<'a', U64>, InA<'b', U64>>;
  static U64 execute(U64 a, U64 b) { return pair_of(low(a), low(b)); }
};

struct Sort4x32hi {
  static constexpr Spec spec{.syntax = "sort4x32hi $d, $a, $b",
                             .encoding = "58a0b6dB",
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
