#include "compiler/vertex/fold_constants.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace superstep::vertex {
namespace {

using enum Primitive;

/// What is computed for each element.
std::size_t computed(const Folded& folded) {
  return static_cast<std::size_t>(
      std::ranges::count_if(folded.expression.steps(),
                            [](const Expression::Step& step) { return !step.operands.empty(); }));
}

const Expression::Step& step_of(const Folded& folded, std::size_t output) {
  return folded.expression.steps()[folded.outputs[output].id];
}

TEST(FoldConstants, WhatFollowsFromConstantsAloneIsAConstant) {
  Expression e;
  const Node x = e.input(0, DType::kF32);
  // 1.5 * 4 is 6, an i32 of it 6, shifted left by 2 it is 24, whose f32 has the bits 0x41c00000.
  const Node product = e.apply(kMul, {e.constant_f32(1.5F), e.constant_f32(4)});
  const Node whole = e.convert(product, DType::kI32);
  const Node shifted = e.apply(kShl, {whole, e.constant(DType::kI32, 2)});
  const Node sum = e.apply(kAdd, {x, e.convert(shifted, DType::kF32)});
  const Folded folded = fold_constants(e, {shifted, sum});
  EXPECT_EQ(step_of(folded, 0), (Expression::Step{kConstant, DType::kI32, {}, 24}));
  EXPECT_EQ(computed(folded), 1U);
  const Expression::Step& last = step_of(folded, 1);
  EXPECT_EQ(last.primitive, kAdd);
  EXPECT_EQ(folded.expression.steps()[last.operands[0]].primitive, kInput);
  EXPECT_EQ(folded.expression.steps()[last.operands[1]].bits, 0x41c00000U);
}

TEST(FoldConstants, WhatAConstantConditionDecidesIsOneOfItsOperands) {
  Expression e;
  const Node a = e.input(0, DType::kF32), b = e.input(1, DType::kF32);
  const Node is_less = e.apply(kLt, {a, b});
  for (const bool holds : {false, true}) {
    const Node condition = e.constant(DType::kI1, holds ? 1 : 0);
    const Folded folded =
        fold_constants(e, {e.apply(kSelect, {condition, a, b}), e.apply(kAnd, {condition, is_less}),
                           e.apply(kAnd, {is_less, condition}), e.apply(kOr, {condition, is_less}),
                           e.apply(kOr, {is_less, condition})});
    EXPECT_EQ(step_of(folded, 0), (Expression::Step{kInput, DType::kF32, {}, holds ? 0U : 1U}));
    for (const std::size_t output : {1U, 2U, 3U, 4U}) {
      const bool is_and = output < 3;
      const Expression::Step constant{kConstant, DType::kI1, {}, holds ? 1U : 0U};
      EXPECT_EQ(step_of(folded, output), holds == is_and ? e.steps()[is_less.id] : constant);
    }
  }
}

TEST(FoldConstants, BitsOfIntegersDecideNothingAlone) {
  Expression e;
  const Node x = e.input(0, DType::kI32);
  const Folded folded = fold_constants(e, {e.apply(kAnd, {x, e.constant(DType::kI32, 1)})});
  EXPECT_EQ(step_of(folded, 0).primitive, kAnd);
}

TEST(FoldConstants, FunctionsThatAreCalledStay) {
  Expression function;
  const Node argument = function.input(0, DType::kF32);
  function.apply(kAdd, {argument, argument});
  Expression e;
  const Node x = e.input(0, DType::kF32), zero = e.constant_f32(0);
  const Node called = e.call_where(e.apply(kLt, {x, zero}), x, function, x);
  const Folded folded = fold_constants(e, {called});
  EXPECT_EQ(folded.expression, e);
}

}  // namespace
}  // namespace superstep::vertex
