#pragma once

#include "isa/instruction.h"
#include "isa/instructions/binary.h"

namespace superstep::isa {

// Bytes, half words and words of two sources, $a the lower one. Of four or eight values, `shuf`
// interleaves the sources and `sort` takes the even ones, then the odd ones; `lo` and `hi` are the
// halves of the result. `roll` moves the two sources by one value.

namespace permutation {

constexpr U32 roll16(U32 a, U32 b) { return a >> 16 | b << 16; }
constexpr U32 roll8r(U32 a, U32 b) { return a >> 8 | b << 24; }
/// The upper word of the two: what puts a byte of memory behind three results in graphcore/poplibs
/// lib/popfloat/codelets/asm/CastHalfToGF8.S.
constexpr U32 roll8l(U32 a, U32 b) { return b << 8 | a >> 24; }
constexpr U32 sort4x16lo(U32 a, U32 b) { return (a & 0xffffU) | b << 16; }
constexpr U32 sort4x16hi(U32 a, U32 b) { return a >> 16 | (b & 0xffff0000U); }
constexpr U32 shuf8x8lo(U32 a, U32 b) {
  return (a & 0xffU) | (b & 0xffU) << 8 | (a & 0xff00U) << 8 | (b & 0xff00U) << 16;
}
constexpr U32 shuf8x8hi(U32 a, U32 b) { return shuf8x8lo(a >> 16, b >> 16); }
constexpr U32 sort8x8lo(U32 a, U32 b) {
  return (a & 0xffU) | (a >> 8 & 0xff00U) | (b & 0xffU) << 16 | (b & 0xff0000U) << 8;
}
constexpr U32 sort8x8hi(U32 a, U32 b) { return sort8x8lo(a >> 8, b >> 8); }
constexpr U64 roll32(U64 a, U64 b) { return pair_of(high(a), low(b)); }
constexpr U64 sort4x32lo(U64 a, U64 b) { return pair_of(low(a), low(b)); }
constexpr U64 sort4x32hi(U64 a, U64 b) { return pair_of(high(a), high(b)); }
constexpr U32 swap8(U32 a) { return (a & 0x00ff00ffU) << 8 | (a >> 8 & 0x00ff00ffU); }
constexpr U32 sort8(U32 a) {
  return (a & 0xff0000ffU) | (a & 0x0000ff00U) << 8 | (a >> 8 & 0x0000ff00U);
}

}  // namespace permutation

struct Roll16 : OnMain<permutation::roll16> {
  static constexpr Spec spec =
      main_spec("roll16 $d, $a, $b", "44a0b3d2", "Upper half of $a below the lower half of $b.");
};
struct Roll8l : OnMain<permutation::roll8l> {
  static constexpr Spec spec =
      main_spec("roll8l $d, $a, $b", "44a0b3d3", "The pair moved left by a byte.");
};
struct Roll8r : OnMain<permutation::roll8r> {
  static constexpr Spec spec =
      main_spec("roll8r $d, $a, $b", "44a0b4d0", "The pair moved right by a byte.");
};
struct Shuf8x8lo : OnMain<permutation::shuf8x8lo> {
  static constexpr Spec spec = main_spec("shuf8x8lo $d, $a, $b", "44a0b5d1",
                                         "Interleaves the lower bytes.", Source::kInferred);
};
struct Shuf8x8hi : OnMain<permutation::shuf8x8hi> {
  static constexpr Spec spec =
      main_spec("shuf8x8hi $d, $a, $b", "44a0b5d0", "Interleaves the upper bytes.");
};
struct Sort4x16lo : OnMain<permutation::sort4x16lo> {
  static constexpr Spec spec = main_spec("sort4x16lo $d, $a, $b", "44a0b5d3", "Lower halves.");
};
struct Sort4x16hi : OnMain<permutation::sort4x16hi> {
  static constexpr Spec spec = main_spec("sort4x16hi $d, $a, $b", "44a0b5d2", "Upper halves.");
};
struct Sort8x8lo : OnMain<permutation::sort8x8lo> {
  static constexpr Spec spec =
      main_spec("sort8x8lo $d, $a, $b", "44a0b6d1", "Even bytes.", Source::kInferred);
};
struct Sort8x8hi : OnMain<permutation::sort8x8hi> {
  static constexpr Spec spec = main_spec("sort8x8hi $d, $a, $b", "44a0b6d0", "Odd bytes.");
};

struct Roll16A : OnAux<permutation::roll16> {
  static constexpr Spec spec =
      aux_spec("roll16 $d, $a, $b", "58a0b6d4", "Upper half of $a below the lower half of $b.");
};
struct Roll8lA : OnAux<permutation::roll8l> {
  static constexpr Spec spec =
      aux_spec("roll8l $d, $a, $b", "58a0b6d5", "The pair moved left by a byte.");
};
struct Roll8rA : OnAux<permutation::roll8r> {
  static constexpr Spec spec =
      aux_spec("roll8r $d, $a, $b", "58a0b6d6", "The pair moved right by a byte.");
};
struct Shuf8x8loA : OnAux<permutation::shuf8x8lo> {
  static constexpr Spec spec =
      aux_spec("shuf8x8lo $d, $a, $b", "58a0b8d1", "Interleaves the lower bytes.");
};
struct Shuf8x8hiA : OnAux<permutation::shuf8x8hi> {
  static constexpr Spec spec =
      aux_spec("shuf8x8hi $d, $a, $b", "58a0b8d0", "Interleaves the upper bytes.");
};
struct Sort4x16loA : OnAux<permutation::sort4x16lo> {
  static constexpr Spec spec = aux_spec("sort4x16lo $d, $a, $b", "58a0b6dC", "Lower halves.");
};
struct Sort4x16hiA : OnAux<permutation::sort4x16hi> {
  static constexpr Spec spec =
      aux_spec("sort4x16hi $d, $a, $b", "58a0b6d8", "Upper halves.", Source::kInferred);
};
struct Sort8x8loA : OnAux<permutation::sort8x8lo> {
  static constexpr Spec spec = aux_spec("sort8x8lo $d, $a, $b", "58a0b8d3", "Even bytes.");
};
struct Sort8x8hiA : OnAux<permutation::sort8x8hi> {
  static constexpr Spec spec = aux_spec("sort8x8hi $d, $a, $b", "58a0b8d2", "Odd bytes.");
};

struct Roll32 : OnPairs<permutation::roll32> {
  static constexpr Spec spec =
      aux_spec("roll32 $d, $a, $b", "58a0b6d7", "Upper word of $a below the lower word of $b.");
};
struct Sort4x32lo : OnPairs<permutation::sort4x32lo> {
  static constexpr Spec spec = aux_spec("sort4x32lo $d, $a, $b", "58a0b6dF", "Lower words.");
};
struct Sort4x32hi : OnPairs<permutation::sort4x32hi> {
  static constexpr Spec spec = aux_spec("sort4x32hi $d, $a, $b", "58a0b6dB", "Upper words.");
};

struct Sort4x16hiLower {
  static constexpr Spec spec = aux_spec("sort4x16hi $d, $a:BL, $b", "58a8b6d8",
                                        "The lower half of $a below the upper half of $b.");
  using Operands = List<OutA<'d'>, Broadcast<'a', U32>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return permutation::sort4x16hi(a << 16, b); }
};
struct Sort4x16loUpper {
  static constexpr Spec spec = aux_spec("sort4x16lo $d, $a:BU, $b", "58aCb6dC",
                                        "The upper half of $a below the lower half of $b.");
  using Operands = List<OutA<'d'>, Broadcast<'a', U32>, InA<'b'>>;
  static U32 execute(U32 a, U32 b) { return permutation::sort4x16lo(a >> 16, b); }
};

struct Swap8 : OfMain<permutation::swap8> {
  static constexpr Spec spec =
      main_spec("swap8 $d, $a", "42a050d0", "Swaps the bytes of each half.");
};
struct Swap8A : OfAux<permutation::swap8> {
  static constexpr Spec spec =
      aux_spec("swap8 $d, $a", "52a07Cd0", "Swaps the bytes of each half.");
};
struct Sort8 : OfMain<permutation::sort8> {
  static constexpr Spec spec = main_spec("sort8 $d, $a", "42a040d0", "Even bytes below odd bytes.");
};
struct Sort8A : OfAux<permutation::sort8> {
  static constexpr Spec spec = aux_spec("sort8 $d, $a", "52a07Bd0", "Even bytes below odd bytes.");
};

using PermuteInstructions =
    List<Roll16, Roll8l, Roll8r, Shuf8x8lo, Shuf8x8hi, Sort4x16lo, Sort4x16hi, Sort8x8lo, Sort8x8hi,
         Roll16A, Roll8lA, Roll8rA, Shuf8x8loA, Shuf8x8hiA, Sort4x16loA, Sort4x16hiA, Sort8x8loA,
         Sort8x8hiA, Roll32, Sort4x32lo, Sort4x32hi, Sort4x16hiLower, Sort4x16loUpper, Swap8,
         Swap8A, Sort8, Sort8A>;

}  // namespace superstep::isa
