#pragma once

#include <bit>

#include "isa/instruction.h"

namespace superstep::isa {

struct AddImmediate {
  static constexpr Spec spec{
      .syntax = "add $d, $a, i", .encoding = "22adiiii", .pipe = Pipe::kMain, .summary = "Adds."};
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) {
    const U32 b = static_cast<U32>(i);
    return a + b;
  }
};

struct AddUnsigned {
  static constexpr Spec spec{
      .syntax = "add $d, $a, i", .encoding = "20adiiii", .pipe = Pipe::kMain, .summary = "Adds."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a + b; }
};

struct Add {
  static constexpr Spec spec{
      .syntax = "add $d, $a, $b", .encoding = "44a0b0d1", .pipe = Pipe::kMain, .summary = "Adds."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a + b; }
};

struct MulImmediate {
  static constexpr Spec spec{.syntax = "mul $d, $a, i",
                             .encoding = "36adiiii",
                             .pipe = Pipe::kMain,
                             .summary = "Multiplies, low 32 bits."};
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) {
    const U32 b = static_cast<U32>(i);
    return a * b;
  }
};

struct Mul {
  static constexpr Spec spec{.syntax = "mul $d, $a, $b",
                             .encoding = "44a0b3d0",
                             .pipe = Pipe::kMain,
                             .summary = "Multiplies, low 32 bits."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a * b; }
};

struct CmpeqImmediate {
  static constexpr Spec spec{.syntax = "cmpeq $d, $a, i",
                             .encoding = "28adiiii",
                             .pipe = Pipe::kMain,
                             .summary = "1 when equal, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) {
    const U32 b = static_cast<U32>(i);
    return a == b ? 1 : 0;
  }
};

struct Cmpeq {
  static constexpr Spec spec{.syntax = "cmpeq $d, $a, $b",
                             .encoding = "44a0b1d2",
                             .pipe = Pipe::kMain,
                             .summary = "1 when equal, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a == b ? 1 : 0; }
};

struct Cmpne {
  static constexpr Spec spec{.syntax = "cmpne $d, $a, $b",
                             .encoding = "44a0b1d3",
                             .pipe = Pipe::kMain,
                             .summary = "1 when different, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a != b ? 1 : 0; }
};

struct CmpsltImmediate {
  static constexpr Spec spec{.syntax = "cmpslt $d, $a, i",
                             .encoding = "29adiiii",
                             .pipe = Pipe::kMain,
                             .summary = "1 when less as signed numbers, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) {
    const U32 b = static_cast<U32>(i);
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? 1 : 0;
  }
};

struct Cmpslt {
  static constexpr Spec spec{.syntax = "cmpslt $d, $a, $b",
                             .encoding = "44a0b2d0",
                             .pipe = Pipe::kMain,
                             .summary = "1 when less as signed numbers, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? 1 : 0;
  }
};

struct CmpultImmediate {
  static constexpr Spec spec{.syntax = "cmpult $d, $a, i",
                             .encoding = "2Aadiiii",
                             .pipe = Pipe::kMain,
                             .summary = "1 when less as unsigned numbers, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a < b ? 1 : 0; }
};

struct Cmpult {
  static constexpr Spec spec{.syntax = "cmpult $d, $a, $b",
                             .encoding = "44a0b2d1",
                             .pipe = Pipe::kMain,
                             .summary = "1 when less as unsigned numbers, else 0."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a < b ? 1 : 0; }
};

struct MinImmediate {
  static constexpr Spec spec{.syntax = "min $d, $a, i",
                             .encoding = "33adiiii",
                             .pipe = Pipe::kMain,
                             .summary = "The lesser signed number."};
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) {
    const U32 b = static_cast<U32>(i);
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
  }
};

struct Min {
  static constexpr Spec spec{.syntax = "min $d, $a, $b",
                             .encoding = "44a0b2d3",
                             .pipe = Pipe::kMain,
                             .summary = "The lesser signed number."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
  }
};

struct MaxImmediate {
  static constexpr Spec spec{.syntax = "max $d, $a, i",
                             .encoding = "30adiiii",
                             .pipe = Pipe::kMain,
                             .summary = "The greater signed number."};
  using Operands = List<OutM<'d'>, InM<'a'>, SignedImm<'i'>>;
  static U32 execute(U32 a, std::int32_t i) {
    const U32 b = static_cast<U32>(i);
    return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? a : b;
  }
};

struct Max {
  static constexpr Spec spec{.syntax = "max $d, $a, $b",
                             .encoding = "44a0b2d2",
                             .pipe = Pipe::kMain,
                             .summary = "The greater signed number."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? a : b;
  }
};

struct SubImmediate {
  static constexpr Spec spec{.syntax = "sub $d, i, $a",
                             .encoding = "39adiiii",
                             .pipe = Pipe::kMain,
                             .summary = "Subtracts the register from the immediate."};
  using Operands = List<OutM<'d'>, SignedImm<'i'>, InM<'a'>>;
  static U32 execute(std::int32_t i, U32 a) { return static_cast<U32>(i) - a; }
};

struct Sub {
  static constexpr Spec spec{.syntax = "sub $d, $a, $b",
                             .encoding = "44b0a6d2",
                             .pipe = Pipe::kMain,
                             .summary = "Subtracts $b from $a."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a - b; }
};

struct AndImmediate {
  static constexpr Spec spec{.syntax = "and $d, $a, i",
                             .encoding = "42ad8iii",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise and."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a & b; }
};

struct And {
  static constexpr Spec spec{.syntax = "and $d, $a, $b",
                             .encoding = "44a0b0d3",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise and."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a & b; }
};

struct AndcImmediate {
  static constexpr Spec spec{.syntax = "andc $d, $a, i",
                             .encoding = "42adBiii",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise and with the complement of the second."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a & ~b; }
};

struct Andc {
  static constexpr Spec spec{.syntax = "andc $d, $a, $b",
                             .encoding = "44a0b1d0",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise and with the complement of the second."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a & ~b; }
};

struct OrImmediate {
  static constexpr Spec spec{.syntax = "or $d, $a, i",
                             .encoding = "42ad9iii",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise or."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a | b; }
};

struct Or {
  static constexpr Spec spec{.syntax = "or $d, $a, $b",
                             .encoding = "44a0b3d1",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise or."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a | b; }
};

struct Xor {
  static constexpr Spec spec{.syntax = "xor $d, $a, $b",
                             .encoding = "44a0b7d1",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise exclusive or."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a ^ b; }
};

struct Xnor {
  static constexpr Spec spec{.syntax = "xnor $d, $a, $b",
                             .encoding = "44a0b7d0",
                             .pipe = Pipe::kMain,
                             .summary = "Complement of the bitwise exclusive or."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return ~(a ^ b); }
};

struct OrTailed {
  static constexpr Spec spec{.syntax = "or $d, $a, i<<20",
                             .encoding = "42adCiii",
                             .pipe = Pipe::kMain,
                             .summary = "Bitwise or with an immediate in the upper 12 bits."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return a | b << 20; }
};

struct ShlImmediate {
  static constexpr Spec spec{.syntax = "shl $d, $a, i",
                             .encoding = "42adAiii",
                             .pipe = Pipe::kMain,
                             .summary = "Shifts left."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return b < 32 ? a << b : 0; }
};

struct Shl {
  static constexpr Spec spec{.syntax = "shl $d, $a, $b",
                             .encoding = "44a0b4d1",
                             .pipe = Pipe::kMain,
                             .summary = "Shifts left."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return b < 32 ? a << b : 0; }
};

struct ShrImmediate {
  static constexpr Spec spec{.syntax = "shr $d, $a, i",
                             .encoding = "42adDiii",
                             .pipe = Pipe::kMain,
                             .summary = "Shifts right, zeros enter."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) { return b < 32 ? a >> b : 0; }
};

struct Shr {
  static constexpr Spec spec{.syntax = "shr $d, $a, $b",
                             .encoding = "44a0b4d2",
                             .pipe = Pipe::kMain,
                             .summary = "Shifts right, zeros enter."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return b < 32 ? a >> b : 0; }
};

struct ShrsImmediate {
  static constexpr Spec spec{.syntax = "shrs $d, $a, i",
                             .encoding = "42adEiii",
                             .pipe = Pipe::kMain,
                             .summary = "Shifts right, copies of the sign enter."};
  using Operands = List<OutM<'d'>, InM<'a'>, Imm<'i'>>;
  static U32 execute(U32 a, U32 b) {
    return static_cast<U32>(static_cast<std::int32_t>(a) >> (b < 31 ? b : 31));
  }
};

struct Shrs {
  static constexpr Spec spec{.syntax = "shrs $d, $a, $b",
                             .encoding = "44a0b4d3",
                             .pipe = Pipe::kMain,
                             .summary = "Shifts right, copies of the sign enter."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return static_cast<U32>(static_cast<std::int32_t>(a) >> (b < 31 ? b : 31));
  }
};

struct Abs {
  static constexpr Spec spec{.syntax = "abs $d, $a",
                             .encoding = "42a070d0",
                             .pipe = Pipe::kMain,
                             .summary = "Absolute value."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) { return static_cast<std::int32_t>(a) < 0 ? 0 - a : a; }
};

struct Clz {
  static constexpr Spec spec{.syntax = "clz $d, $a",
                             .encoding = "42a020d0",
                             .pipe = Pipe::kMain,
                             .summary = "Number of leading zero bits."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) { return static_cast<U32>(std::countl_zero(a)); }
};

struct Cms {
  static constexpr Spec spec{.syntax = "cms $d, $a",
                             .encoding = "42a010d0",
                             .pipe = Pipe::kMain,
                             .summary = "Number of bits after the sign that equal it."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) { return static_cast<U32>(std::countl_zero((a ^ a << 1) | 1U)); }
};

struct Popc {
  static constexpr Spec spec{.syntax = "popc $d, $a",
                             .encoding = "42a030d0",
                             .pipe = Pipe::kMain,
                             .summary = "Number of set bits."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) { return static_cast<U32>(std::popcount(a)); }
};

struct Swap8 {
  static constexpr Spec spec{.syntax = "swap8 $d, $a",
                             .encoding = "42a050d0",
                             .pipe = Pipe::kMain,
                             .summary = "Swaps the bytes of each half."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) { return (a & 0x00ff00ffU) << 8 | (a >> 8 & 0x00ff00ffU); }
};

struct Sort8 {
  static constexpr Spec spec{.syntax = "sort8 $d, $a",
                             .encoding = "42a040d0",
                             .pipe = Pipe::kMain,
                             .summary = "Even bytes below odd bytes."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) {
    return (a & 0xff0000ffU) | (a & 0x0000ff00U) << 8 | (a >> 8 & 0x0000ff00U);
  }
};

struct Bitrev8 {
  static constexpr Spec spec{.syntax = "bitrev8 $d, $a",
                             .encoding = "42a000d0",
                             .pipe = Pipe::kMain,
                             .summary = "Reverses the bits of each byte."};
  using Operands = List<OutM<'d'>, InM<'a'>>;
  static U32 execute(U32 a) {
    a = (a & 0x55555555U) << 1 | (a >> 1 & 0x55555555U);
    a = (a & 0x33333333U) << 2 | (a >> 2 & 0x33333333U);
    return (a & 0x0f0f0f0fU) << 4 | (a >> 4 & 0x0f0f0f0fU);
  }
};

struct Movz {
  static constexpr Spec spec{.syntax = "movz $d, $a, $b",
                             .encoding = "47abdB00",
                             .pipe = Pipe::kMain,
                             .summary = "Copies $b when $a is 0.",
                             .encoding_source = Source::kAssumed};
  using Operands = List<InOutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 d, U32 a, U32 b) { return a == 0 ? b : d; }
};

struct Movnz {
  static constexpr Spec spec{.syntax = "movnz $d, $a, $b",
                             .encoding = "47abdA00",
                             .pipe = Pipe::kMain,
                             .summary = "Copies $b when $a is not 0."};
  using Operands = List<InOutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 d, U32 a, U32 b) { return a != 0 ? b : d; }
};

struct Roll16 {
  static constexpr Spec spec{.syntax = "roll16 $d, $a, $b",
                             .encoding = "44a0b3d2",
                             .pipe = Pipe::kMain,
                             .summary = "Upper half of $a below the lower half of $b."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 16 | b << 16; }
};

struct Sort4x16lo {
  static constexpr Spec spec{.syntax = "sort4x16lo $d, $a, $b",
                             .encoding = "44a0b5d3",
                             .pipe = Pipe::kMain,
                             .summary = "Lower halves."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return (a & 0xffffU) | b << 16; }
};

struct Sort4x16hi {
  static constexpr Spec spec{.syntax = "sort4x16hi $d, $a, $b",
                             .encoding = "44a0b5d2",
                             .pipe = Pipe::kMain,
                             .summary = "Upper halves."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 16 | (b & 0xffff0000U); }
};

struct Shuf8x8lo {
  static constexpr Spec spec{.syntax = "shuf8x8lo $d, $a, $b",
                             .encoding = "44a0b5d1",
                             .pipe = Pipe::kMain,
                             .summary = "Interleaves the lower bytes.",
                             .encoding_source = Source::kInferred};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return (a & 0xffU) | (b & 0xffU) << 8 | (a & 0xff00U) << 8 | (b & 0xff00U) << 16;
  }
};

struct Shuf8x8hi {
  static constexpr Spec spec{.syntax = "shuf8x8hi $d, $a, $b",
                             .encoding = "44a0b5d0",
                             .pipe = Pipe::kMain,
                             .summary = "Interleaves the upper bytes."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return (a >> 16 & 0xffU) | (b >> 8 & 0xff00U) | (a >> 8 & 0xff0000U) | (b & 0xff000000U);
  }
};

struct Sort8x8lo {
  static constexpr Spec spec{.syntax = "sort8x8lo $d, $a, $b",
                             .encoding = "44a0b6d1",
                             .pipe = Pipe::kMain,
                             .summary = "Even bytes.",
                             .encoding_source = Source::kInferred};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return (a & 0xffU) | (a >> 8 & 0xff00U) | (b & 0xffU) << 16 | (b & 0xff0000U) << 8;
  }
};

struct Sort8x8hi {
  static constexpr Spec spec{.syntax = "sort8x8hi $d, $a, $b",
                             .encoding = "44a0b6d0",
                             .pipe = Pipe::kMain,
                             .summary = "Odd bytes."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) {
    return (a >> 8 & 0xffU) | (a >> 16 & 0xff00U) | (b & 0xff00U) << 8 | (b & 0xff000000U);
  }
};

struct Roll8r {
  static constexpr Spec spec{.syntax = "roll8r $d, $a, $b",
                             .encoding = "44a0b4d0",
                             .pipe = Pipe::kMain,
                             .summary = "The pair moved right by a byte."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a >> 8 | b << 24; }
};

struct Roll8l {
  static constexpr Spec spec{.syntax = "roll8l $d, $a, $b",
                             .encoding = "44a0b3d3",
                             .pipe = Pipe::kMain,
                             .summary = "The pair moved left by a byte."};
  using Operands = List<OutM<'d'>, InM<'a'>, InM<'b'>>;
  static U32 execute(U32 a, U32 b) { return a << 8 | b >> 24; }
};

struct Setzi {
  static constexpr Spec spec{.syntax = "setzi $d, i",
                             .encoding = "19diiiii",
                             .pipe = Pipe::kMain,
                             .summary = "Sets to a 20-bit immediate."};
  using Operands = List<OutM<'d'>, Imm<'i'>>;
  static U32 execute(U32 i) { return i; }
};

struct SetziA {
  static constexpr Spec spec{.syntax = "setzi $d, i",
                             .encoding = "1Adiiiii",
                             .pipe = Pipe::kAux,
                             .summary = "Sets to a 20-bit immediate."};
  using Operands = List<OutA<'d'>, Imm<'i'>>;
  static U32 execute(U32 i) { return i; }
};

struct Atom {
  static constexpr Spec spec{.syntax = "atom $d, $a",
                             .encoding = "5D0d00a0",
                             .pipe = Pipe::kMain,
                             .summary = "Copies an auxiliary register to a main one.",
                             .where = Where::kWorker};
  using Operands = List<OutM<'d'>, InA<'a'>>;
  static U32 execute(U32 a) { return a; }
};

struct Tapack {
  static constexpr Spec spec{.syntax = "tapack $d, $a, $b, $c",
                             .encoding = "4Dacb0d1",
                             .pipe = Pipe::kMain,
                             .summary = "Packs three 21-bit addresses into a pair.",
                             .where = Where::kWorker};
  using Operands = List<OutM<'d', U64>, InM<'a'>, InM<'b'>, InM<'c'>>;
  static U64 execute(U32 a, U32 b, U32 c) {
    return pair_of((a & 0x1fffffU) | c << 21, (b & 0x1fffffU) | (c >> 11 & 0x3ffU) << 21);
  }
};

using IntegerInstructions =
    List<AddImmediate, AddUnsigned, Add, MulImmediate, Mul, CmpeqImmediate, Cmpeq, Cmpne,
         CmpsltImmediate, Cmpslt, CmpultImmediate, Cmpult, MinImmediate, Min, MaxImmediate, Max,
         SubImmediate, Sub, AndImmediate, And, AndcImmediate, Andc, OrImmediate, Or, Xor, Xnor,
         OrTailed, ShlImmediate, Shl, ShrImmediate, Shr, ShrsImmediate, Shrs, Abs, Clz, Cms, Popc,
         Swap8, Sort8, Bitrev8, Movz, Movnz, Roll16, Sort4x16lo, Sort4x16hi, Shuf8x8lo, Shuf8x8hi,
         Sort8x8lo, Sort8x8hi, Roll8r, Roll8l, Setzi, SetziA, Atom, Tapack>;

}  // namespace superstep::isa
