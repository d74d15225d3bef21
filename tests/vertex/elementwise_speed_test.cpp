#include <gtest/gtest.h>

#include <map>

#include "compiler/cost/formula_costs.h"
#include "compiler/vertex/codelet.h"
#include "compiler/vertex/interpret.h"
#include "tests/vertex/vertex_run.h"
#include "tests/vertex/values.h"

namespace superstep::vertex {
namespace {

std::uint64_t run(const Expression& e, const std::vector<Node>& outputs,
                  const std::vector<DType>& dtypes, std::int64_t elements, std::uint32_t workers) {
  VertexRun tile(workers);
  std::vector<std::uint32_t> state = {static_cast<std::uint32_t>(elements)};
  std::vector<HostTensor> inputs;
  for (const Node output : outputs) {
    state.push_back(tile.put(HostTensor({e.dtype(output), {elements}})));
  }
  for (const DType dtype : dtypes) {
    inputs.push_back(sample({dtype, {elements}}, static_cast<std::uint32_t>(inputs.size() + 1)));
    state.push_back(tile.put(inputs.back()));
  }
  const std::vector<Access> access(dtypes.size(), Access::kVector);
  const std::uint64_t cycles = tile.run(elementwise(tile.machine(), e, outputs, access), state);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const HostTensor want = evaluate_expression(e, outputs[o], inputs);
    const HostTensor got = tile.get(state[1 + o], want.type);
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
      EXPECT_EQ(hex(got, i), hex(want, i)) << "output " << o << " element " << i;
    }
  }
  return cycles;
}

TEST(ElementwiseSpeed, IsCountedForAnyNumberOfElementsAndWorkers) {
  for (const DType dtype : {DType::kF32, DType::kI8, DType::kF16, DType::kI32}) {
    for (const std::uint32_t workers : {1U, 4U, 6U, 8U}) {
      for (const std::int64_t elements : {0, 1, 2, 3, 11, 12, 13, 14, 25, 100, 1003}) {
        Expression e;
        const Node x = e.input(0, dtype), y = e.input(1, dtype);
        const Node product = e.apply(Primitive::kMul, {e.apply(Primitive::kAdd, {x, y}), y});
        run(e, {product}, {dtype, dtype}, elements, workers);
      }
    }
  }
}

TEST(ElementwiseSpeed, InstructionsOfSeveralSlotsAreCounted) {
  Expression e;
  const Node x = e.input(0, DType::kF32);
  const Node root = e.apply(Primitive::kSqrt, {e.apply(Primitive::kAbs, {x})});
  run(e, {root, e.apply(Primitive::kDiv, {x, root})}, {DType::kF32}, 777, 6);
}

// Sum and `clamp`, which keeps NaNs, go beside two loads and a store.
TEST(ElementwiseSpeed, ARectifiedSumTakesThreeSlotsForTwoElements) {
  Expression e;
  const Node sum = e.apply(Primitive::kAdd, {e.input(0, DType::kF32), e.input(1, DType::kF32)});
  for (const bool swapped : {false, true}) {
    const Node zero = e.constant_f32(0);
    const Node top =
        e.apply(Primitive::kMax, swapped ? std::vector{zero, sum} : std::vector{sum, zero});
    const std::uint64_t few = run(e, {top}, {DType::kF32, DType::kF32}, 12 * 10, 6);
    const std::uint64_t many = run(e, {top}, {DType::kF32, DType::kF32}, 12 * 110, 6);
    EXPECT_EQ(many - few, 100 * 3 * 6U);
  }
}

// Two slots for each of three extremes, with the sizes that NaNs show in, three more for all of
// them, and a store.
TEST(ElementwiseSpeed, TheGreatestOfFourTakesTenSlotsForTwoElements) {
  Expression e;
  Node greatest = e.input(0, DType::kF32);
  for (const std::uint32_t i : {1U, 2U, 3U})
    greatest = e.apply(Primitive::kMax, {greatest, e.input(i, DType::kF32)});
  const std::vector<DType> inputs(4, DType::kF32);
  const std::uint64_t few = run(e, {greatest}, inputs, 12 * 10, 6);
  const std::uint64_t many = run(e, {greatest}, inputs, 12 * 110, 6);
  EXPECT_EQ(many - few, 100 * 10 * 6U);
}

// Two loads and one store for two elements are three slots: the arithmetic goes beside them.
TEST(ElementwiseSpeed, AFloatSumTakesThreeSlotsForTwoElements) {
  Expression e;
  const Node sum = e.apply(Primitive::kAdd, {e.input(0, DType::kF32), e.input(1, DType::kF32)});
  const std::uint64_t few = run(e, {sum}, {DType::kF32, DType::kF32}, 12 * 10, 6);
  const std::uint64_t many = run(e, {sum}, {DType::kF32, DType::kF32}, 12 * 110, 6);
  EXPECT_EQ(many - few, 100 * 3 * 6);
}

// Reports share the cycles of fused operations so: a quotient is no equal of a sum.
TEST(ElementwiseSpeed, WhatAFormulaTakesAloneIsWhatItsVertexTakesForMoreElements) {
  const MachineConfig machine = machine_with(6);
  FormulaCosts costs(machine);
  constexpr std::int64_t kElements = FormulaCosts::kElements;
  std::map<Primitive, std::uint64_t> alone;
  for (const Primitive primitive : {Primitive::kAdd, Primitive::kDiv, Primitive::kExp}) {
    Expression e;
    std::vector<Node> operands{e.input(0, DType::kF32)};
    if (primitive != Primitive::kExp) operands.push_back(e.input(1, DType::kF32));
    const Node result = e.apply(primitive, operands);
    const std::vector<DType> dtypes(operands.size(), DType::kF32);
    alone[primitive] = costs.cycles({e, {result}}, static_cast<std::uint32_t>(dtypes.size()));
    EXPECT_EQ(alone[primitive],
              run(e, {result}, dtypes, 2 * kElements, 6) - run(e, {result}, dtypes, kElements, 6));
  }
  EXPECT_EQ(alone[Primitive::kAdd], kElements * 3 / 2);
  EXPECT_GT(alone[Primitive::kDiv], 2 * alone[Primitive::kAdd]);
  Expression copy;
  const Node x = copy.input(0, DType::kF32);
  EXPECT_EQ(costs.cycles({copy, {x}}, 1), 0U);
}

TEST(ElementwiseSpeed, AHalfSumTakesThreeSlotsForFourElements) {
  Expression e;
  const Node sum = e.apply(Primitive::kAdd, {e.input(0, DType::kF16), e.input(1, DType::kF16)});
  const std::uint64_t few = run(e, {sum}, {DType::kF16, DType::kF16}, 24 * 10, 6);
  const std::uint64_t many = run(e, {sum}, {DType::kF16, DType::kF16}, 24 * 110, 6);
  EXPECT_EQ(many - few, 100 * 3 * 6);
}

/// Worker slots of a turn of four f16.
std::uint64_t half_slots(const Expression& e, Node output, const std::vector<DType>& inputs) {
  const std::uint64_t few = run(e, {output}, inputs, 24 * 10, 6);
  const std::uint64_t many = run(e, {output}, inputs, 24 * 110, 6);
  return (many - few) / (100 * 6U);
}

// A function in f32 of what was an f16 is one on two f16, and the store follows the second of them.
TEST(ElementwiseSpeed, AHalfTangentTakesThreeSlotsForFourElements) {
  Expression e;
  const Node wide = e.convert(e.input(0, DType::kF16), DType::kF32);
  const Node tangent = e.convert(e.apply(Primitive::kTanh, {wide}), DType::kF16);
  EXPECT_EQ(half_slots(e, tangent, {DType::kF16}), 3U);
}

// Four widenings, four divisions of three slots, two narrowings and a store for four elements.
TEST(ElementwiseSpeed, AHalfQuotientIsComputedInPairsOfSingles) {
  Expression e;
  const Node quotient =
      e.apply(Primitive::kDiv, {e.input(0, DType::kF16), e.input(1, DType::kF16)});
  EXPECT_EQ(half_slots(e, quotient, {DType::kF16, DType::kF16}), 4 + 4 * 3 + 2 + 1U);
}

TEST(ElementwiseSpeed, NarrowingTakesThreeSlotsForFourElements) {
  Expression e;
  EXPECT_EQ(half_slots(e, e.convert(e.input(0, DType::kF32), DType::kF16), {DType::kF32}), 3U);
}

// The number of turns, a branch, three addresses, two loads, a repeat of nothing, the sum, the
// store and the exit.
TEST(ElementwiseSpeed, AFewElementsCostLittleMoreThanTheirLoads) {
  Expression e;
  const Node sum = e.apply(Primitive::kAdd, {e.input(0, DType::kF32), e.input(1, DType::kF32)});
  EXPECT_EQ(run(e, {sum}, {DType::kF32, DType::kF32}, 2, 6), 6 + 11 * 6);
}

TEST(ElementwiseSpeed, ArbitraryFloatTreesInPairsMatchTheHost) {
  const std::vector<Primitive> operations = {
      Primitive::kAdd, Primitive::kSub,   Primitive::kMul,  Primitive::kDiv,
      Primitive::kMin, Primitive::kMax,   Primitive::kNeg,  Primitive::kAbs,
      Primitive::kLt,  Primitive::kFloor, Primitive::kCeil, Primitive::kRoundAway,
      Primitive::kEq,  Primitive::kSqrt,  Primitive::kGe,   Primitive::kIsFinite};
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Expression e;
    std::vector<Node> floats = {e.input(0, DType::kF32), e.input(1, DType::kF32),
                                e.constant_f32(1.5F), e.constant_f32(-0.0F)};
    const auto any = [&] { return floats[random() % floats.size()]; };
    for (std::uint32_t i = 0; i < 3 + seed % 12; ++i) {
      const Primitive p = operations[random() % operations.size()];
      if (p == Primitive::kLt || p == Primitive::kEq || p == Primitive::kGe) {
        const Node left = any(), right = any();
        const Node condition = e.apply(p, {left, right});
        floats.push_back(e.apply(Primitive::kSelect, {condition, any(), any()}));
      } else if (p == Primitive::kIsFinite) {
        const Node condition = e.apply(p, {any()});
        floats.push_back(e.apply(Primitive::kSelect, {condition, any(), any()}));
      } else if (p <= Primitive::kMax && p != Primitive::kNeg && p != Primitive::kAbs) {
        const Node left = any(), right = any();
        floats.push_back(e.apply(p, {left, right}));
      } else {
        floats.push_back(e.apply(p, {any()}));
      }
    }
    run(e, {floats.back(), any()}, {DType::kF32, DType::kF32}, 1 + seed * 7, 6);
  }
}

}  // namespace
}  // namespace superstep::vertex
