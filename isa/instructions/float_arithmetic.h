#pragma once

#include <cmath>
#include <functional>

#include "isa/instruction.h"
#include "isa/instructions/one_for_all.h"
#include "isa/numerics.h"

namespace superstep::isa {

// What is computed on each lane: on f32, or on f16 as f32 and then rounded.

struct Greater {
  float operator()(float a, float b) const { return number_max(a, b); }
};
struct Lesser {
  float operator()(float a, float b) const { return number_min(a, b); }
};
struct SumOfMagnitudes {
  float operator()(float a, float b) const { return std::fabs(a) + std::fabs(b); }
};
struct GreaterMagnitude {
  float operator()(float a, float b) const { return number_max(std::fabs(a), std::fabs(b)); }
};

template <class Vector, class Operation>
struct ArithmeticOn {
  using Operands = List<OutA<'d', Vector>, InA<'a', Vector>, InA<'b', Vector>>;
  static auto execute(Vector x, Vector y) { return lanes(x, y, Operation()); }
};
template <class Operation>
struct ArithmeticOn<float, Operation> {
  using Operands = List<OutA<'d', float>, InA<'a', float>, InA<'b', float>>;
  static float execute(float a, float b) { return canonical(Operation()(a, b)); }
};
template <class Vector, class Operation, unsigned kLane = 0>
struct ArithmeticOnBroadcast {
  using One = OneForAll<Vector, kLane>;
  using Operands = List<OutA<'d', Vector>, Broadcast<'a', typename One::Value>, InA<'b', Vector>>;
  static auto execute(typename One::Value x, Vector y) { return lanes(One::of(x), y, Operation()); }
};

struct F32add : ArithmeticOn<float, std::plus<float>> {
  static constexpr Spec spec = aux_spec("f32add $d, $a, $b", "58a0b0d0", "Adds f32.");
};
struct F32v2add : ArithmeticOn<F32x2, std::plus<float>> {
  static constexpr Spec spec = aux_spec("f32v2add $d, $a, $b", "58a0b0d3", "Adds two f32.");
};
struct F32v2addBroadcast : ArithmeticOnBroadcast<F32x2, std::plus<float>> {
  static constexpr Spec spec =
      aux_spec("f32v2add $d, $a:B, $b", "58a8b0d3", "Adds one f32 and two f32.");
};
struct F16v2add : ArithmeticOn<F16x2, std::plus<float>> {
  static constexpr Spec spec = aux_spec("f16v2add $d, $a, $b", "58a0b0d1", "Adds two f16.");
};
struct F16v2addLower : ArithmeticOnBroadcast<F16x2, std::plus<float>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v2add $d, $a:BL, $b", "58a8b0d1", "Adds the lower f16 and two f16.");
};
struct F16v2addUpper : ArithmeticOnBroadcast<F16x2, std::plus<float>, 1> {
  static constexpr Spec spec =
      aux_spec("f16v2add $d, $a:BU, $b", "58aCb0d1", "Adds the upper f16 and two f16.");
};
struct F16v4add : ArithmeticOn<F16x4, std::plus<float>> {
  static constexpr Spec spec =
      aux_spec("f16v4add $d, $a, $b", "58a0b0d2", "Adds four f16.", Source::kInferred);
};
struct F16v4addLower : ArithmeticOnBroadcast<F16x4, std::plus<float>, 0> {
  static constexpr Spec spec = aux_spec("f16v4add $d, $a:BL, $b", "58a8b0d2",
                                        "Adds the lower f16 and four f16.", Source::kInferred);
};
struct F16v4addUpper : ArithmeticOnBroadcast<F16x4, std::plus<float>, 1> {
  static constexpr Spec spec =
      aux_spec("f16v4add $d, $a:BU, $b", "58aCb0d2", "Adds the upper f16 and four f16.");
};

struct F32sub : ArithmeticOn<float, std::minus<float>> {
  static constexpr Spec spec = aux_spec("f32sub $d, $a, $b", "58a0b3d4", "Subtracts f32.");
};
struct F32v2sub : ArithmeticOn<F32x2, std::minus<float>> {
  static constexpr Spec spec =
      aux_spec("f32v2sub $d, $a, $b", "58a0b3d7", "Subtracts two f32.", Source::kInferred);
};
struct F32v2subBroadcast : ArithmeticOnBroadcast<F32x2, std::minus<float>> {
  static constexpr Spec spec =
      aux_spec("f32v2sub $d, $a:B, $b", "58a8b3d7", "Subtracts one f32 and two f32.");
};
struct F16v2sub : ArithmeticOn<F16x2, std::minus<float>> {
  static constexpr Spec spec =
      aux_spec("f16v2sub $d, $a, $b", "58a0b3d5", "Subtracts two f16.", Source::kInferred);
};
struct F16v2subLower : ArithmeticOnBroadcast<F16x2, std::minus<float>, 0> {
  static constexpr Spec spec = aux_spec("f16v2sub $d, $a:BL, $b", "58a8b3d5",
                                        "Subtracts the lower f16 and two f16.", Source::kInferred);
};
struct F16v2subUpper : ArithmeticOnBroadcast<F16x2, std::minus<float>, 1> {
  static constexpr Spec spec =
      aux_spec("f16v2sub $d, $a:BU, $b", "58aCb3d5", "Subtracts the upper f16 and two f16.");
};
struct F16v4sub : ArithmeticOn<F16x4, std::minus<float>> {
  static constexpr Spec spec =
      aux_spec("f16v4sub $d, $a, $b", "58a0b3d6", "Subtracts four f16.", Source::kInferred);
};
struct F16v4subLower : ArithmeticOnBroadcast<F16x4, std::minus<float>, 0> {
  static constexpr Spec spec = aux_spec("f16v4sub $d, $a:BL, $b", "58a8b3d6",
                                        "Subtracts the lower f16 and four f16.", Source::kInferred);
};
struct F16v4subUpper : ArithmeticOnBroadcast<F16x4, std::minus<float>, 1> {
  static constexpr Spec spec =
      aux_spec("f16v4sub $d, $a:BU, $b", "58aCb3d6", "Subtracts the upper f16 and four f16.");
};

struct F32mul : ArithmeticOn<float, std::multiplies<float>> {
  static constexpr Spec spec = aux_spec("f32mul $d, $a, $b", "58a0b3d0", "Multiplies f32.");
};
struct F32v2mul : ArithmeticOn<F32x2, std::multiplies<float>> {
  static constexpr Spec spec = aux_spec("f32v2mul $d, $a, $b", "58a0b3d3", "Multiplies two f32.");
};
struct F32v2mulBroadcast : ArithmeticOnBroadcast<F32x2, std::multiplies<float>> {
  static constexpr Spec spec =
      aux_spec("f32v2mul $d, $a:B, $b", "58a8b3d3", "Multiplies one f32 and two f32.");
};
struct F16v2mul : ArithmeticOn<F16x2, std::multiplies<float>> {
  static constexpr Spec spec =
      aux_spec("f16v2mul $d, $a, $b", "58a0b3d1", "Multiplies two f16.", Source::kInferred);
};
struct F16v2mulLower : ArithmeticOnBroadcast<F16x2, std::multiplies<float>, 0> {
  static constexpr Spec spec = aux_spec("f16v2mul $d, $a:BL, $b", "58a8b3d1",
                                        "Multiplies the lower f16 and two f16.", Source::kInferred);
};
struct F16v2mulUpper : ArithmeticOnBroadcast<F16x2, std::multiplies<float>, 1> {
  static constexpr Spec spec =
      aux_spec("f16v2mul $d, $a:BU, $b", "58aCb3d1", "Multiplies the upper f16 and two f16.");
};
struct F16v4mul : ArithmeticOn<F16x4, std::multiplies<float>> {
  static constexpr Spec spec =
      aux_spec("f16v4mul $d, $a, $b", "58a0b3d2", "Multiplies four f16.", Source::kInferred);
};
struct F16v4mulLower : ArithmeticOnBroadcast<F16x4, std::multiplies<float>, 0> {
  static constexpr Spec spec =
      aux_spec("f16v4mul $d, $a:BL, $b", "58a8b3d2", "Multiplies the lower f16 and four f16.",
               Source::kInferred);
};
struct F16v4mulUpper : ArithmeticOnBroadcast<F16x4, std::multiplies<float>, 1> {
  static constexpr Spec spec =
      aux_spec("f16v4mul $d, $a:BU, $b", "58aCb3d2", "Multiplies the upper f16 and four f16.");
};

struct F32max : ArithmeticOn<float, Greater> {
  static constexpr Spec spec = aux_spec("f32max $d, $a, $b", "58a0b2d4", "Greater f32.");
};
struct F32v2max : ArithmeticOn<F32x2, Greater> {
  static constexpr Spec spec = aux_spec("f32v2max $d, $a, $b", "58a0b2d7", "Greater two f32.");
};
struct F16v2max : ArithmeticOn<F16x2, Greater> {
  static constexpr Spec spec = aux_spec("f16v2max $d, $a, $b", "58a0b2d5", "Greater two f16.");
};
struct F16v4max : ArithmeticOn<F16x4, Greater> {
  static constexpr Spec spec = aux_spec("f16v4max $d, $a, $b", "58a0b2d6", "Greater four f16.");
};

struct F32min : ArithmeticOn<float, Lesser> {
  static constexpr Spec spec = aux_spec("f32min $d, $a, $b", "58a0b2dC", "Lesser f32.");
};
struct F32v2min : ArithmeticOn<F32x2, Lesser> {
  static constexpr Spec spec = aux_spec("f32v2min $d, $a, $b", "58a0b2dF", "Lesser two f32.");
};
struct F16v2min : ArithmeticOn<F16x2, Lesser> {
  static constexpr Spec spec = aux_spec("f16v2min $d, $a, $b", "58a0b2dD", "Lesser two f16.");
};
struct F16v4min : ArithmeticOn<F16x4, Lesser> {
  static constexpr Spec spec = aux_spec("f16v4min $d, $a, $b", "58a0b2dE", "Lesser four f16.");
};

struct F32absadd : ArithmeticOn<float, SumOfMagnitudes> {
  static constexpr Spec spec =
      aux_spec("f32absadd $d, $a, $b", "58a0b0d8", "Adds absolute values f32.");
};
struct F32v2absadd : ArithmeticOn<F32x2, SumOfMagnitudes> {
  static constexpr Spec spec =
      aux_spec("f32v2absadd $d, $a, $b", "58a0b3dF", "Adds absolute values two f32.");
};
struct F16v2absadd : ArithmeticOn<F16x2, SumOfMagnitudes> {
  static constexpr Spec spec =
      aux_spec("f16v2absadd $d, $a, $b", "58a0b3dD", "Adds absolute values two f16.");
};
struct F16v4absadd : ArithmeticOn<F16x4, SumOfMagnitudes> {
  static constexpr Spec spec =
      aux_spec("f16v4absadd $d, $a, $b", "58a0b3dE", "Adds absolute values four f16.");
};

struct F32absmax : ArithmeticOn<float, GreaterMagnitude> {
  static constexpr Spec spec =
      aux_spec("f32absmax $d, $a, $b", "58a0b2d8", "Greater absolute value f32.");
};
struct F32v2absmax : ArithmeticOn<F32x2, GreaterMagnitude> {
  static constexpr Spec spec =
      aux_spec("f32v2absmax $d, $a, $b", "58b0a2dB", "Greater absolute value two f32.");
};
struct F16v2absmax : ArithmeticOn<F16x2, GreaterMagnitude> {
  static constexpr Spec spec =
      aux_spec("f16v2absmax $d, $a, $b", "58b0a2d9", "Greater absolute value two f16.");
};
struct F16v4absmax : ArithmeticOn<F16x4, GreaterMagnitude> {
  static constexpr Spec spec =
      aux_spec("f16v4absmax $d, $a, $b", "58b0a2dA", "Greater absolute value four f16.");
};

using ArithmeticInstructions =
    List<F32add, F32v2add, F32v2addBroadcast, F16v2add, F16v2addLower, F16v2addUpper, F16v4add,
         F16v4addLower, F16v4addUpper, F32sub, F32v2sub, F32v2subBroadcast, F16v2sub, F16v2subLower,
         F16v2subUpper, F16v4sub, F16v4subLower, F16v4subUpper, F32mul, F32v2mul, F32v2mulBroadcast,
         F16v2mul, F16v2mulLower, F16v2mulUpper, F16v4mul, F16v4mulLower, F16v4mulUpper, F32max,
         F32v2max, F16v2max, F16v4max, F32min, F32v2min, F16v2min, F16v4min, F32absadd, F32v2absadd,
         F16v2absadd, F16v4absadd, F32absmax, F32v2absmax, F16v2absmax, F16v4absmax>;

}  // namespace superstep::isa
