#pragma once

#include "isa/instruction.h"
#include "isa/instructions/binary.h"

namespace superstep::isa {

namespace bitwise {

template <class T>
constexpr T both(T a, T b) {
  return a & b;
}
template <class T>
constexpr T first_only(T a, T b) {
  return a & ~b;
}
template <class T>
constexpr T either(T a, T b) {
  return a | b;
}
template <class T>
constexpr T one_only(T a, T b) {
  return a ^ b;
}
template <class T>
constexpr T equal(T a, T b) {
  return ~(a ^ b);
}
template <class T>
constexpr T complement(T a) {
  return ~a;
}

}  // namespace bitwise

struct AndImmediate : OnMainImmediate<bitwise::both<U32>> {
  static constexpr Spec spec = main_spec("and $d, $a, i", "42ad8iii", "Bitwise and.");
};
struct And : OnMain<bitwise::both<U32>> {
  static constexpr Spec spec = main_spec("and $d, $a, $b", "44a0b0d3", "Bitwise and.");
};
struct AndAImmediate : OnAuxImmediate<bitwise::both<U32>> {
  static constexpr Spec spec = aux_spec("and $d, $a, i", "52ad8iii", "Bitwise and.");
};
struct AndATailed : OnAuxImmediate<bitwise::both<U32>, 20> {
  static constexpr Spec spec = aux_spec("and $d, $a, i<<20", "52adCiii",
                                        "Bitwise and with an immediate in the upper 12 bits.");
};
struct AndA : OnAux<bitwise::both<U32>> {
  static constexpr Spec spec = aux_spec("and $d, $a, $b", "58a0b6d0", "Bitwise and.");
};
struct And64 : OnPairs<bitwise::both<U64>> {
  static constexpr Spec spec =
      aux_spec("and64 $d, $a, $b", "58a0b6d2", "Bitwise and of register pairs.");
};

struct AndcImmediate : OnMainImmediate<bitwise::first_only<U32>> {
  static constexpr Spec spec =
      main_spec("andc $d, $a, i", "42adBiii", "Bitwise and with the complement of the second.");
};
struct Andc : OnMain<bitwise::first_only<U32>> {
  static constexpr Spec spec =
      main_spec("andc $d, $a, $b", "44a0b1d0", "Bitwise and with the complement of the second.");
};
struct AndcAImmediate : OnAuxImmediate<bitwise::first_only<U32>> {
  static constexpr Spec spec =
      aux_spec("andc $d, $a, i", "52adBiii", "Bitwise and with the complement of the second.",
               Source::kInferred);
};
struct AndcATailed : OnAuxImmediate<bitwise::first_only<U32>, 20> {
  static constexpr Spec spec = aux_spec(
      "andc $d, $a, i<<20", "52adFiii",
      "Bitwise and with the complement of the second with an immediate in the upper 12 bits.");
};
struct AndcA : OnAux<bitwise::first_only<U32>> {
  static constexpr Spec spec =
      aux_spec("andc $d, $a, $b", "58a0b6d1", "Bitwise and with the complement of the second.");
};
struct Andc64 : OnPairs<bitwise::first_only<U64>> {
  static constexpr Spec spec =
      aux_spec("andc64 $d, $a, $b", "58a0b6d3",
               "Bitwise and with the complement of the second of register pairs.");
};

struct OrImmediate : OnMainImmediate<bitwise::either<U32>> {
  static constexpr Spec spec = main_spec("or $d, $a, i", "42ad9iii", "Bitwise or.");
};
struct OrTailed : OnMainImmediate<bitwise::either<U32>, 20> {
  static constexpr Spec spec = main_spec("or $d, $a, i<<20", "42adCiii",
                                         "Bitwise or with an immediate in the upper 12 bits.");
};
struct Or : OnMain<bitwise::either<U32>> {
  static constexpr Spec spec = main_spec("or $d, $a, $b", "44a0b3d1", "Bitwise or.");
};
struct OrAImmediate : OnAuxImmediate<bitwise::either<U32>> {
  static constexpr Spec spec = aux_spec("or $d, $a, i", "52ad9iii", "Bitwise or.");
};
struct OrATailed : OnAuxImmediate<bitwise::either<U32>, 20> {
  static constexpr Spec spec = aux_spec("or $d, $a, i<<20", "52adDiii",
                                        "Bitwise or with an immediate in the upper 12 bits.");
};
struct OrA : OnAux<bitwise::either<U32>> {
  static constexpr Spec spec = aux_spec("or $d, $a, $b", "58a0bEd0", "Bitwise or.");
};
struct Or64 : OnPairs<bitwise::either<U64>> {
  static constexpr Spec spec =
      aux_spec("or64 $d, $a, $b", "58a0bEd1", "Bitwise or of register pairs.");
};

struct Xor : OnMain<bitwise::one_only<U32>> {
  static constexpr Spec spec = main_spec("xor $d, $a, $b", "44a0b7d1", "Bitwise exclusive or.");
};
struct Xnor : OnMain<bitwise::equal<U32>> {
  static constexpr Spec spec =
      main_spec("xnor $d, $a, $b", "44a0b7d0", "Complement of the bitwise exclusive or.");
};

struct NotA : OfAux<bitwise::complement<U32>> {
  static constexpr Spec spec = aux_spec("not $d, $a", "52a078d0", "Complement.");
};
struct Not64 : OfPair<bitwise::complement<U64>> {
  static constexpr Spec spec =
      aux_spec("not64 $d, $a", "52a079d0", "Complement of a register pair.");
};

using BitwiseInstructions =
    List<AndImmediate, And, AndAImmediate, AndATailed, AndA, And64, AndcImmediate, Andc,
         AndcAImmediate, AndcATailed, AndcA, Andc64, OrImmediate, OrTailed, Or, OrAImmediate,
         OrATailed, OrA, Or64, Xor, Xnor, NotA, Not64>;

}  // namespace superstep::isa
