#pragma once

#include <algorithm>
#include <bit>

#include "isa/instruction.h"
#include "isa/instructions/binary.h"

namespace superstep::isa {

namespace integer {

constexpr std::int32_t signed_of(U32 value) { return static_cast<std::int32_t>(value); }

constexpr U32 sum(U32 a, U32 b) { return a + b; }
constexpr U32 difference(U32 a, U32 b) { return a - b; }
constexpr U32 product(U32 a, U32 b) { return a * b; }
constexpr U32 equal(U32 a, U32 b) { return a == b ? 1 : 0; }
constexpr U32 different(U32 a, U32 b) { return a != b ? 1 : 0; }
constexpr U32 less(U32 a, U32 b) { return signed_of(a) < signed_of(b) ? 1 : 0; }
constexpr U32 less_unsigned(U32 a, U32 b) { return a < b ? 1 : 0; }
constexpr U32 lesser(U32 a, U32 b) { return signed_of(a) < signed_of(b) ? a : b; }
constexpr U32 greater(U32 a, U32 b) { return signed_of(a) > signed_of(b) ? a : b; }
constexpr U32 left(U32 a, U32 b) { return b < 32 ? a << b : 0; }
constexpr U32 right(U32 a, U32 b) { return b < 32 ? a >> b : 0; }
constexpr U32 right_signed(U32 a, U32 b) {
  return static_cast<U32>(signed_of(a) >> std::min(b, 31U));
}
constexpr U32 magnitude(U32 a) { return signed_of(a) < 0 ? 0 - a : a; }
constexpr U32 leading_zeros(U32 a) { return static_cast<U32>(std::countl_zero(a)); }
constexpr U32 sign_copies(U32 a) { return static_cast<U32>(std::countl_zero((a ^ a << 1) | 1U)); }
constexpr U32 set_bits(U32 a) { return static_cast<U32>(std::popcount(a)); }
constexpr U32 bytes_reversed(U32 a) {
  a = (a & 0x55555555U) << 1 | (a >> 1 & 0x55555555U);
  a = (a & 0x33333333U) << 2 | (a >> 2 & 0x33333333U);
  return (a & 0x0f0f0f0fU) << 4 | (a >> 4 & 0x0f0f0f0fU);
}

}  // namespace integer

struct AddImmediate : OnMainSigned<integer::sum> {
  static constexpr Spec spec = main_spec("add $d, $a, i", "22adiiii", "Adds.");
};
struct AddUnsigned : OnMainImmediate<integer::sum> {
  static constexpr Spec spec = main_spec("add $d, $a, i", "20adiiii", "Adds.");
};
struct Add : OnMain<integer::sum> {
  static constexpr Spec spec = main_spec("add $d, $a, $b", "44a0b0d1", "Adds.");
};

struct SubImmediate {
  static constexpr Spec spec =
      main_spec("sub $d, i, $a", "39adiiii", "Subtracts the register from the immediate.");
  using Operands = List<OutM<'d'>, SignedImm<'i'>, InM<'a'>>;
  static U32 execute(std::int32_t i, U32 a) { return static_cast<U32>(i) - a; }
};
struct SubUnsigned {
  static constexpr Spec spec =
      main_spec("sub $d, i, $a", "37adiiii", "Subtracts the register from the immediate.");
  using Operands = List<OutM<'d'>, Imm<'i'>, InM<'a'>>;
  static U32 execute(U32 i, U32 a) { return i - a; }
};
struct Sub : OnMain<integer::difference> {
  static constexpr Spec spec = main_spec("sub $d, $a, $b", "44b0a6d2", "Subtracts $b from $a.");
};

struct MulImmediate : OnMainSigned<integer::product> {
  static constexpr Spec spec = main_spec("mul $d, $a, i", "36adiiii", "Multiplies, low 32 bits.");
};
struct Mul : OnMain<integer::product> {
  static constexpr Spec spec = main_spec("mul $d, $a, $b", "44a0b3d0", "Multiplies, low 32 bits.");
};

struct CmpeqImmediate : OnMainSigned<integer::equal> {
  static constexpr Spec spec = main_spec("cmpeq $d, $a, i", "28adiiii", "1 when equal, else 0.");
};
struct CmpeqUnsigned : OnMainImmediate<integer::equal> {
  static constexpr Spec spec = main_spec("cmpeq $d, $a, i", "26adiiii", "1 when equal, else 0.");
};
struct Cmpeq : OnMain<integer::equal> {
  static constexpr Spec spec = main_spec("cmpeq $d, $a, $b", "44a0b1d2", "1 when equal, else 0.");
};

struct Cmpne : OnMain<integer::different> {
  static constexpr Spec spec =
      main_spec("cmpne $d, $a, $b", "44a0b1d3", "1 when different, else 0.");
};

struct CmpsltImmediate : OnMainSigned<integer::less> {
  static constexpr Spec spec =
      main_spec("cmpslt $d, $a, i", "29adiiii", "1 when less as signed numbers, else 0.");
};
struct Cmpslt : OnMain<integer::less> {
  static constexpr Spec spec =
      main_spec("cmpslt $d, $a, $b", "44a0b2d0", "1 when less as signed numbers, else 0.");
};

struct CmpultImmediate : OnMainImmediate<integer::less_unsigned> {
  static constexpr Spec spec =
      main_spec("cmpult $d, $a, i", "2Aadiiii", "1 when less as unsigned numbers, else 0.");
};
struct Cmpult : OnMain<integer::less_unsigned> {
  static constexpr Spec spec =
      main_spec("cmpult $d, $a, $b", "44a0b2d1", "1 when less as unsigned numbers, else 0.");
};

struct MinImmediate : OnMainSigned<integer::lesser> {
  static constexpr Spec spec = main_spec("min $d, $a, i", "33adiiii", "The lesser signed number.");
};
struct MinUnsigned : OnMainImmediate<integer::lesser> {
  static constexpr Spec spec = main_spec("min $d, $a, i", "31adiiii", "The lesser signed number.");
};
struct Min : OnMain<integer::lesser> {
  static constexpr Spec spec = main_spec("min $d, $a, $b", "44a0b2d3", "The lesser signed number.");
};

struct MaxImmediate : OnMainSigned<integer::greater> {
  static constexpr Spec spec = main_spec("max $d, $a, i", "30adiiii", "The greater signed number.");
};
struct MaxUnsigned : OnMainImmediate<integer::greater> {
  static constexpr Spec spec = main_spec("max $d, $a, i", "2Eadiiii", "The greater signed number.");
};
struct Max : OnMain<integer::greater> {
  static constexpr Spec spec =
      main_spec("max $d, $a, $b", "44a0b2d2", "The greater signed number.");
};

struct ShlImmediate : OnMainImmediate<integer::left> {
  static constexpr Spec spec = main_spec("shl $d, $a, i", "42adAiii", "Shifts left.");
};
struct Shl : OnMain<integer::left> {
  static constexpr Spec spec = main_spec("shl $d, $a, $b", "44a0b4d1", "Shifts left.");
};

struct ShrImmediate : OnMainImmediate<integer::right> {
  static constexpr Spec spec = main_spec("shr $d, $a, i", "42adDiii", "Shifts right, zeros enter.");
};
struct Shr : OnMain<integer::right> {
  static constexpr Spec spec =
      main_spec("shr $d, $a, $b", "44a0b4d2", "Shifts right, zeros enter.");
};

struct ShrsImmediate : OnMainImmediate<integer::right_signed> {
  static constexpr Spec spec =
      main_spec("shrs $d, $a, i", "42adEiii", "Shifts right, copies of the sign enter.");
};
struct Shrs : OnMain<integer::right_signed> {
  static constexpr Spec spec =
      main_spec("shrs $d, $a, $b", "44a0b4d3", "Shifts right, copies of the sign enter.");
};

struct Abs : OfMain<integer::magnitude> {
  static constexpr Spec spec = main_spec("abs $d, $a", "42a070d0", "Absolute value.");
};
struct Clz : OfMain<integer::leading_zeros> {
  static constexpr Spec spec = main_spec("clz $d, $a", "42a020d0", "Number of leading zero bits.");
};
struct Cms : OfMain<integer::sign_copies> {
  static constexpr Spec spec =
      main_spec("cms $d, $a", "42a010d0", "Number of bits after the sign that equal it.");
};
struct Popc : OfMain<integer::set_bits> {
  static constexpr Spec spec = main_spec("popc $d, $a", "42a030d0", "Number of set bits.");
};
struct Bitrev8 : OfMain<integer::bytes_reversed> {
  static constexpr Spec spec =
      main_spec("bitrev8 $d, $a", "42a000d0", "Reverses the bits of each byte.");
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
    List<AddImmediate, AddUnsigned, Add, SubImmediate, SubUnsigned, Sub, MulImmediate, Mul,
         CmpeqImmediate, CmpeqUnsigned, Cmpeq, Cmpne, CmpsltImmediate, Cmpslt, CmpultImmediate,
         Cmpult, MinImmediate, MinUnsigned, Min, MaxImmediate, MaxUnsigned, Max, ShlImmediate, Shl,
         ShrImmediate, Shr, ShrsImmediate, Shrs, Abs, Clz, Cms, Popc, Bitrev8, Movz, Movnz, Setzi,
         SetziA, Atom, Tapack>;

}  // namespace superstep::isa
