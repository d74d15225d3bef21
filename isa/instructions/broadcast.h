#pragma once

#include <functional>

#include "isa/instruction.h"
#include "isa/numerics.h"

namespace superstep::isa {

/// What an instruction on f16 or f32 has whose first operand is one value for all lanes.
constexpr Spec broadcast_spec(std::string_view syntax, std::string_view encoding,
                              std::string_view summary, Source source = Source::kPublished) {
  return {.syntax = syntax,
          .encoding = encoding,
          .pipe = Pipe::kAux,
          .summary = summary,
          .where = Where::kWorker,
          .encoding_source = source};
}

template <class Halves, unsigned kLane>
constexpr Halves one_half_for_all(F16x2 x) {
  Halves out;
  out.lane.fill(x.lane[kLane]);
  return out;
}

/// The upper f16 of $a with each of $b.
template <class Halves, class Operation>
struct UpperArithmetic {
  using Operands = List<OutA<'d', Halves>, Broadcast<'a', F16x2>, InA<'b', Halves>>;
  static auto execute(F16x2 x, Halves y) {
    return lanes(one_half_for_all<Halves, 1>(x), y,
                 [](float a, float b) { return Operation()(a, b); });
  }
};
template <class Halves, class Operation, unsigned kLane>
struct HalfComparison {
  using Operands = List<OutA<'d', Halves>, Broadcast<'a', F16x2>, InA<'b', Halves>>;
  static Halves execute(F16x2 x, Halves y) {
    return compare_lanes(one_half_for_all<Halves, kLane>(x), y, Operation());
  }
};
template <class Operation>
struct BroadcastComparison {
  using Operands = List<OutA<'d', U64>, Broadcast<'a', float>, InA<'b', F32x2>>;
  static U64 execute(float x, F32x2 y) { return compare_lanes(F32x2{{x, x}}, y, Operation()); }
};

struct F16v2addUpper : UpperArithmetic<F16x2, std::plus<float>> {
  static constexpr Spec spec =
      broadcast_spec("f16v2add $d, $a:BU, $b", "58aCb0d1", "Adds the upper f16 and two f16.");
};
struct F16v4addUpper : UpperArithmetic<F16x4, std::plus<float>> {
  static constexpr Spec spec =
      broadcast_spec("f16v4add $d, $a:BU, $b", "58aCb0d2", "Adds the upper f16 and four f16.");
};
struct F16v2subUpper : UpperArithmetic<F16x2, std::minus<float>> {
  static constexpr Spec spec =
      broadcast_spec("f16v2sub $d, $a:BU, $b", "58aCb3d5", "Subtracts the upper f16 and two f16.");
};
struct F16v4subUpper : UpperArithmetic<F16x4, std::minus<float>> {
  static constexpr Spec spec =
      broadcast_spec("f16v4sub $d, $a:BU, $b", "58aCb3d6", "Subtracts the upper f16 and four f16.");
};
struct F16v2mulUpper : UpperArithmetic<F16x2, std::multiplies<float>> {
  static constexpr Spec spec =
      broadcast_spec("f16v2mul $d, $a:BU, $b", "58aCb3d1", "Multiplies the upper f16 and two f16.");
};
struct F16v4mulUpper : UpperArithmetic<F16x4, std::multiplies<float>> {
  static constexpr Spec spec = broadcast_spec("f16v4mul $d, $a:BU, $b", "58aCb3d2",
                                              "Multiplies the upper f16 and four f16.");
};
struct F16v2cmpeqLower : HalfComparison<F16x2, std::equal_to<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpeq $d, $a:BL, $b", "58a8b0dD",
                     "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpeqUpper : HalfComparison<F16x2, std::equal_to<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpeq $d, $a:BU, $b", "58aCb0dD",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpeqLower : HalfComparison<F16x4, std::equal_to<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpeq $d, $a:BL, $b", "58a8b0dE",
                     "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpeqUpper : HalfComparison<F16x4, std::equal_to<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpeq $d, $a:BU, $b", "58aCb0dE",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F32v2cmpeqBroadcast : BroadcastComparison<std::equal_to<float>> {
  static constexpr Spec spec = broadcast_spec("f32v2cmpeq $d, $a:B, $b", "58a8b0dF",
                                              "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpgeLower : HalfComparison<F16x2, std::greater_equal<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpge $d, $a:BL, $b", "58a8b1d1",
                     "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpgeUpper : HalfComparison<F16x2, std::greater_equal<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpge $d, $a:BU, $b", "58aCb1d1",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpgeLower : HalfComparison<F16x4, std::greater_equal<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpge $d, $a:BL, $b", "58a8b1d2",
                     "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpgeUpper : HalfComparison<F16x4, std::greater_equal<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpge $d, $a:BU, $b", "58aCb1d2",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F32v2cmpgeBroadcast : BroadcastComparison<std::greater_equal<float>> {
  static constexpr Spec spec = broadcast_spec("f32v2cmpge $d, $a:B, $b", "58a8b1d3",
                                              "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpgtLower : HalfComparison<F16x2, std::greater<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpgt $d, $a:BL, $b", "58a8b1d5",
                     "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpgtUpper : HalfComparison<F16x2, std::greater<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpgt $d, $a:BU, $b", "58aCb1d5",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpgtLower : HalfComparison<F16x4, std::greater<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpgt $d, $a:BL, $b", "58a8b1d6",
                     "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpgtUpper : HalfComparison<F16x4, std::greater<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpgt $d, $a:BU, $b", "58aCb1d6",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F32v2cmpgtBroadcast : BroadcastComparison<std::greater<float>> {
  static constexpr Spec spec = broadcast_spec("f32v2cmpgt $d, $a:B, $b", "58a8b1d7",
                                              "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpleLower : HalfComparison<F16x2, std::less_equal<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmple $d, $a:BL, $b", "58a8b1d9",
                     "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpleUpper : HalfComparison<F16x2, std::less_equal<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmple $d, $a:BU, $b", "58aCb1d9",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpleLower : HalfComparison<F16x4, std::less_equal<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmple $d, $a:BL, $b", "58a8b1dA",
                     "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpleUpper : HalfComparison<F16x4, std::less_equal<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmple $d, $a:BU, $b", "58aCb1dA",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F32v2cmpleBroadcast : BroadcastComparison<std::less_equal<float>> {
  static constexpr Spec spec = broadcast_spec("f32v2cmple $d, $a:B, $b", "58a8b1dB",
                                              "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpltLower : HalfComparison<F16x2, std::less<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmplt $d, $a:BL, $b", "58a8b1dD",
                     "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpltUpper : HalfComparison<F16x2, std::less<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmplt $d, $a:BU, $b", "58aCb1dD",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpltLower : HalfComparison<F16x4, std::less<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmplt $d, $a:BL, $b", "58a8b1dE",
                     "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpltUpper : HalfComparison<F16x4, std::less<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmplt $d, $a:BU, $b", "58aCb1dE",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F32v2cmpltBroadcast : BroadcastComparison<std::less<float>> {
  static constexpr Spec spec = broadcast_spec("f32v2cmplt $d, $a:B, $b", "58a8b1dF",
                                              "All ones in each lane where the f32 compares so.");
};
struct F16v2cmpneLower : HalfComparison<F16x2, std::not_equal_to<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpne $d, $a:BL, $b", "58a8b2d1",
                     "All ones in each lane where the lower f16 compares so.", Source::kInferred);
};
struct F16v2cmpneUpper : HalfComparison<F16x2, std::not_equal_to<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v2cmpne $d, $a:BU, $b", "58aCb2d1",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F16v4cmpneLower : HalfComparison<F16x4, std::not_equal_to<float>, 0> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpne $d, $a:BL, $b", "58a8b2d2",
                     "All ones in each lane where the lower f16 compares so.");
};
struct F16v4cmpneUpper : HalfComparison<F16x4, std::not_equal_to<float>, 1> {
  static constexpr Spec spec =
      broadcast_spec("f16v4cmpne $d, $a:BU, $b", "58aCb2d2",
                     "All ones in each lane where the upper f16 compares so.");
};
struct F32v2cmpneBroadcast : BroadcastComparison<std::not_equal_to<float>> {
  static constexpr Spec spec = broadcast_spec("f32v2cmpne $d, $a:B, $b", "58a8b2d3",
                                              "All ones in each lane where the f32 compares so.");
};

using BroadcastInstructions =
    List<F16v2addUpper, F16v4addUpper, F16v2subUpper, F16v4subUpper, F16v2mulUpper, F16v4mulUpper,
         F16v2cmpeqLower, F16v2cmpeqUpper, F16v4cmpeqLower, F16v4cmpeqUpper, F32v2cmpeqBroadcast,
         F16v2cmpgeLower, F16v2cmpgeUpper, F16v4cmpgeLower, F16v4cmpgeUpper, F32v2cmpgeBroadcast,
         F16v2cmpgtLower, F16v2cmpgtUpper, F16v4cmpgtLower, F16v4cmpgtUpper, F32v2cmpgtBroadcast,
         F16v2cmpleLower, F16v2cmpleUpper, F16v4cmpleLower, F16v4cmpleUpper, F32v2cmpleBroadcast,
         F16v2cmpltLower, F16v2cmpltUpper, F16v4cmpltLower, F16v4cmpltUpper, F32v2cmpltBroadcast,
         F16v2cmpneLower, F16v2cmpneUpper, F16v4cmpneLower, F16v4cmpneUpper, F32v2cmpneBroadcast>;

}  // namespace superstep::isa
