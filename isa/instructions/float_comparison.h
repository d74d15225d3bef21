#pragma once

#include <functional>

#include "isa/instruction.h"
#include "isa/instructions/one_for_all.h"
#include "isa/numerics.h"

namespace superstep::isa {

/// A mask as wide as what is compared.
template <class Vector>
using Mask = decltype(compare_lanes(Vector{}, Vector{}, std::less<float>()));

/// A comparison of what is less or greater: false of NaN, and an invalid operation, whatever the
/// compiler makes of comparisons.
template <class Compare>
struct Ordered {
  bool operator()(float a, float b) const {
    if (a != a || b != b) [[unlikely]] {
      raise_invalid();
      return false;
    }
    return Compare()(a, b);
  }
};

template <class Vector, class Compare>
struct ComparisonOn {
  using Operands = List<OutA<'d', Mask<Vector>>, InA<'a', Vector>, InA<'b', Vector>>;
  static Mask<Vector> execute(Vector x, Vector y) { return compare_lanes(x, y, Compare()); }
};
template <class Compare>
struct ComparisonOn<float, Compare> {
  using Operands = List<OutA<'d'>, InA<'a', float>, InA<'b', float>>;
  static U32 execute(float a, float b) { return mask_if(Compare()(a, b)); }
};
template <class Vector, class Compare, unsigned kLane = 0>
struct ComparisonOnBroadcast {
  using One = OneForAll<Vector, kLane>;
  using Operands =
      List<OutA<'d', Mask<Vector>>, Broadcast<'a', typename One::Value>, InA<'b', Vector>>;
  static Mask<Vector> execute(typename One::Value x, Vector y) {
    return compare_lanes(One::of(x), y, Compare());
  }
};

struct F32cmpeq : ComparisonOn<float, std::equal_to<float>> {
  static constexpr Spec spec =
      aux_spec("f32cmpeq $d, $a, $b", "58a0b0dC", "All ones where the comparison of f32 holds.");
};
struct F32v2cmpeq : ComparisonOn<F32x2, std::equal_to<float>> {
  static constexpr Spec spec =
      aux_spec("f32v2cmpeq $d, $a, $b", "58a0b0dF",
               "All ones in each lane where the comparison of f32 holds.", Source::kInferred);
};
struct F32v2cmpeqBroadcast : ComparisonOnBroadcast<F32x2, std::equal_to<float>> {
  static constexpr Spec spec = aux_spec("f32v2cmpeq $d, $a:B, $b", "58a8b0dF",
                                        "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpeq : ComparisonOn<F16x2, std::equal_to<float>> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpeq $d, $a, $b", "58a0b0dD",
               "All ones in each lane where the comparison of f16 holds.", Source::kInferred);
};
struct F16v2cmpeqLower : ComparisonOnBroadcast<F16x2, std::equal_to<float>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpeq $d, $a:BL, $b", "58a8b0dD",
               "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpeqUpper : ComparisonOnBroadcast<F16x2, std::equal_to<float>, 1> {
  static constexpr Spec spec = aux_spec("f16v2cmpeq $d, $a:BU, $b", "58aCb0dD",
                                        "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpeq : ComparisonOn<F16x4, std::equal_to<float>> {
  static constexpr Spec spec = aux_spec("f16v4cmpeq $d, $a, $b", "58a0b0dE",
                                        "All ones in each lane where the comparison of f16 holds.");
};
struct F16v4cmpeqLower : ComparisonOnBroadcast<F16x4, std::equal_to<float>, 0> {
  static constexpr Spec spec = aux_spec("f16v4cmpeq $d, $a:BL, $b", "58a8b0dE",
                                        "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpeqUpper : ComparisonOnBroadcast<F16x4, std::equal_to<float>, 1> {
  static constexpr Spec spec = aux_spec("f16v4cmpeq $d, $a:BU, $b", "58aCb0dE",
                                        "All ones in each lane where the upper f16 compares so.");
};

struct F32cmpne : ComparisonOn<float, std::not_equal_to<float>> {
  static constexpr Spec spec =
      aux_spec("f32cmpne $d, $a, $b", "58a0b2d0", "All ones where the comparison of f32 holds.");
};
struct F32v2cmpne : ComparisonOn<F32x2, std::not_equal_to<float>> {
  static constexpr Spec spec =
      aux_spec("f32v2cmpne $d, $a, $b", "58a0b2d3",
               "All ones in each lane where the comparison of f32 holds.", Source::kInferred);
};
struct F32v2cmpneBroadcast : ComparisonOnBroadcast<F32x2, std::not_equal_to<float>> {
  static constexpr Spec spec = aux_spec("f32v2cmpne $d, $a:B, $b", "58a8b2d3",
                                        "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpne : ComparisonOn<F16x2, std::not_equal_to<float>> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpne $d, $a, $b", "58a0b2d1",
               "All ones in each lane where the comparison of f16 holds.", Source::kInferred);
};
struct F16v2cmpneLower : ComparisonOnBroadcast<F16x2, std::not_equal_to<float>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpne $d, $a:BL, $b", "58a8b2d1",
               "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpneUpper : ComparisonOnBroadcast<F16x2, std::not_equal_to<float>, 1> {
  static constexpr Spec spec = aux_spec("f16v2cmpne $d, $a:BU, $b", "58aCb2d1",
                                        "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpne : ComparisonOn<F16x4, std::not_equal_to<float>> {
  static constexpr Spec spec = aux_spec("f16v4cmpne $d, $a, $b", "58a0b2d2",
                                        "All ones in each lane where the comparison of f16 holds.");
};
struct F16v4cmpneLower : ComparisonOnBroadcast<F16x4, std::not_equal_to<float>, 0> {
  static constexpr Spec spec = aux_spec("f16v4cmpne $d, $a:BL, $b", "58a8b2d2",
                                        "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpneUpper : ComparisonOnBroadcast<F16x4, std::not_equal_to<float>, 1> {
  static constexpr Spec spec = aux_spec("f16v4cmpne $d, $a:BU, $b", "58aCb2d2",
                                        "All ones in each lane where the upper f16 compares so.");
};

struct F32cmplt : ComparisonOn<float, Ordered<std::less<float>>> {
  static constexpr Spec spec =
      aux_spec("f32cmplt $d, $a, $b", "58a0b1dC", "All ones where the comparison of f32 holds.");
};
struct F32v2cmplt : ComparisonOn<F32x2, Ordered<std::less<float>>> {
  static constexpr Spec spec =
      aux_spec("f32v2cmplt $d, $a, $b", "58a0b1dF",
               "All ones in each lane where the comparison of f32 holds.", Source::kInferred);
};
struct F32v2cmpltBroadcast : ComparisonOnBroadcast<F32x2, Ordered<std::less<float>>> {
  static constexpr Spec spec = aux_spec("f32v2cmplt $d, $a:B, $b", "58a8b1dF",
                                        "All ones in each lane where the f32 compares so.");
};
struct F16v2cmplt : ComparisonOn<F16x2, Ordered<std::less<float>>> {
  static constexpr Spec spec =
      aux_spec("f16v2cmplt $d, $a, $b", "58a0b1dD",
               "All ones in each lane where the comparison of f16 holds.", Source::kInferred);
};
struct F16v2cmpltLower : ComparisonOnBroadcast<F16x2, Ordered<std::less<float>>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2cmplt $d, $a:BL, $b", "58a8b1dD",
               "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpltUpper : ComparisonOnBroadcast<F16x2, Ordered<std::less<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v2cmplt $d, $a:BU, $b", "58aCb1dD",
                                        "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmplt : ComparisonOn<F16x4, Ordered<std::less<float>>> {
  static constexpr Spec spec = aux_spec("f16v4cmplt $d, $a, $b", "58a0b1dE",
                                        "All ones in each lane where the comparison of f16 holds.");
};
struct F16v4cmpltLower : ComparisonOnBroadcast<F16x4, Ordered<std::less<float>>, 0> {
  static constexpr Spec spec = aux_spec("f16v4cmplt $d, $a:BL, $b", "58a8b1dE",
                                        "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpltUpper : ComparisonOnBroadcast<F16x4, Ordered<std::less<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v4cmplt $d, $a:BU, $b", "58aCb1dE",
                                        "All ones in each lane where the upper f16 compares so.");
};

struct F32cmple : ComparisonOn<float, Ordered<std::less_equal<float>>> {
  static constexpr Spec spec =
      aux_spec("f32cmple $d, $a, $b", "58a0b1d8", "All ones where the comparison of f32 holds.");
};
struct F32v2cmple : ComparisonOn<F32x2, Ordered<std::less_equal<float>>> {
  static constexpr Spec spec =
      aux_spec("f32v2cmple $d, $a, $b", "58a0b1dB",
               "All ones in each lane where the comparison of f32 holds.", Source::kInferred);
};
struct F32v2cmpleBroadcast : ComparisonOnBroadcast<F32x2, Ordered<std::less_equal<float>>> {
  static constexpr Spec spec = aux_spec("f32v2cmple $d, $a:B, $b", "58a8b1dB",
                                        "All ones in each lane where the f32 compares so.");
};
struct F16v2cmple : ComparisonOn<F16x2, Ordered<std::less_equal<float>>> {
  static constexpr Spec spec =
      aux_spec("f16v2cmple $d, $a, $b", "58a0b1d9",
               "All ones in each lane where the comparison of f16 holds.", Source::kInferred);
};
struct F16v2cmpleLower : ComparisonOnBroadcast<F16x2, Ordered<std::less_equal<float>>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2cmple $d, $a:BL, $b", "58a8b1d9",
               "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpleUpper : ComparisonOnBroadcast<F16x2, Ordered<std::less_equal<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v2cmple $d, $a:BU, $b", "58aCb1d9",
                                        "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmple : ComparisonOn<F16x4, Ordered<std::less_equal<float>>> {
  static constexpr Spec spec = aux_spec("f16v4cmple $d, $a, $b", "58a0b1dA",
                                        "All ones in each lane where the comparison of f16 holds.");
};
struct F16v4cmpleLower : ComparisonOnBroadcast<F16x4, Ordered<std::less_equal<float>>, 0> {
  static constexpr Spec spec = aux_spec("f16v4cmple $d, $a:BL, $b", "58a8b1dA",
                                        "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpleUpper : ComparisonOnBroadcast<F16x4, Ordered<std::less_equal<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v4cmple $d, $a:BU, $b", "58aCb1dA",
                                        "All ones in each lane where the upper f16 compares so.");
};

struct F32cmpgt : ComparisonOn<float, Ordered<std::greater<float>>> {
  static constexpr Spec spec =
      aux_spec("f32cmpgt $d, $a, $b", "58a0b1d4", "All ones where the comparison of f32 holds.");
};
struct F32v2cmpgt : ComparisonOn<F32x2, Ordered<std::greater<float>>> {
  static constexpr Spec spec =
      aux_spec("f32v2cmpgt $d, $a, $b", "58a0b1d7",
               "All ones in each lane where the comparison of f32 holds.", Source::kInferred);
};
struct F32v2cmpgtBroadcast : ComparisonOnBroadcast<F32x2, Ordered<std::greater<float>>> {
  static constexpr Spec spec = aux_spec("f32v2cmpgt $d, $a:B, $b", "58a8b1d7",
                                        "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpgt : ComparisonOn<F16x2, Ordered<std::greater<float>>> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpgt $d, $a, $b", "58a0b1d5",
               "All ones in each lane where the comparison of f16 holds.", Source::kInferred);
};
struct F16v2cmpgtLower : ComparisonOnBroadcast<F16x2, Ordered<std::greater<float>>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpgt $d, $a:BL, $b", "58a8b1d5",
               "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpgtUpper : ComparisonOnBroadcast<F16x2, Ordered<std::greater<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v2cmpgt $d, $a:BU, $b", "58aCb1d5",
                                        "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpgt : ComparisonOn<F16x4, Ordered<std::greater<float>>> {
  static constexpr Spec spec = aux_spec("f16v4cmpgt $d, $a, $b", "58a0b1d6",
                                        "All ones in each lane where the comparison of f16 holds.");
};
struct F16v4cmpgtLower : ComparisonOnBroadcast<F16x4, Ordered<std::greater<float>>, 0> {
  static constexpr Spec spec = aux_spec("f16v4cmpgt $d, $a:BL, $b", "58a8b1d6",
                                        "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpgtUpper : ComparisonOnBroadcast<F16x4, Ordered<std::greater<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v4cmpgt $d, $a:BU, $b", "58aCb1d6",
                                        "All ones in each lane where the upper f16 compares so.");
};

struct F32cmpge : ComparisonOn<float, Ordered<std::greater_equal<float>>> {
  static constexpr Spec spec =
      aux_spec("f32cmpge $d, $a, $b", "58a0b1d0", "All ones where the comparison of f32 holds.");
};
struct F32v2cmpge : ComparisonOn<F32x2, Ordered<std::greater_equal<float>>> {
  static constexpr Spec spec =
      aux_spec("f32v2cmpge $d, $a, $b", "58a0b1d3",
               "All ones in each lane where the comparison of f32 holds.", Source::kInferred);
};
struct F32v2cmpgeBroadcast : ComparisonOnBroadcast<F32x2, Ordered<std::greater_equal<float>>> {
  static constexpr Spec spec = aux_spec("f32v2cmpge $d, $a:B, $b", "58a8b1d3",
                                        "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpge : ComparisonOn<F16x2, Ordered<std::greater_equal<float>>> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpge $d, $a, $b", "58a0b1d1",
               "All ones in each lane where the comparison of f16 holds.", Source::kInferred);
};
struct F16v2cmpgeLower : ComparisonOnBroadcast<F16x2, Ordered<std::greater_equal<float>>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2cmpge $d, $a:BL, $b", "58a8b1d1",
               "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpgeUpper : ComparisonOnBroadcast<F16x2, Ordered<std::greater_equal<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v2cmpge $d, $a:BU, $b", "58aCb1d1",
                                        "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpge : ComparisonOn<F16x4, Ordered<std::greater_equal<float>>> {
  static constexpr Spec spec = aux_spec("f16v4cmpge $d, $a, $b", "58a0b1d2",
                                        "All ones in each lane where the comparison of f16 holds.");
};
struct F16v4cmpgeLower : ComparisonOnBroadcast<F16x4, Ordered<std::greater_equal<float>>, 0> {
  static constexpr Spec spec = aux_spec("f16v4cmpge $d, $a:BL, $b", "58a8b1d2",
                                        "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpgeUpper : ComparisonOnBroadcast<F16x4, Ordered<std::greater_equal<float>>, 1> {
  static constexpr Spec spec = aux_spec("f16v4cmpge $d, $a:BU, $b", "58aCb1d2",
                                        "All ones in each lane where the upper f16 compares so.");
};

using ComparisonInstructions =
    List<F32cmpeq, F32v2cmpeq, F32v2cmpeqBroadcast, F16v2cmpeq, F16v2cmpeqLower, F16v2cmpeqUpper,
         F16v4cmpeq, F16v4cmpeqLower, F16v4cmpeqUpper, F32cmpne, F32v2cmpne, F32v2cmpneBroadcast,
         F16v2cmpne, F16v2cmpneLower, F16v2cmpneUpper, F16v4cmpne, F16v4cmpneLower, F16v4cmpneUpper,
         F32cmplt, F32v2cmplt, F32v2cmpltBroadcast, F16v2cmplt, F16v2cmpltLower, F16v2cmpltUpper,
         F16v4cmplt, F16v4cmpltLower, F16v4cmpltUpper, F32cmple, F32v2cmple, F32v2cmpleBroadcast,
         F16v2cmple, F16v2cmpleLower, F16v2cmpleUpper, F16v4cmple, F16v4cmpleLower, F16v4cmpleUpper,
         F32cmpgt, F32v2cmpgt, F32v2cmpgtBroadcast, F16v2cmpgt, F16v2cmpgtLower, F16v2cmpgtUpper,
         F16v4cmpgt, F16v4cmpgtLower, F16v4cmpgtUpper, F32cmpge, F32v2cmpge, F32v2cmpgeBroadcast,
         F16v2cmpge, F16v2cmpgeLower, F16v2cmpgeUpper, F16v4cmpge, F16v4cmpgeLower,
         F16v4cmpgeUpper>;

}  // namespace superstep::isa
