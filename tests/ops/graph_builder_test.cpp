#include "compiler/ops/graph_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

/// A graph of one argument; its results and their values.
struct Built {
  Graph graph;
  std::vector<HostTensor> values;
};
Built build(const HostTensor& x, const std::function<std::vector<Tensor>(Tensor)>& results) {
  Built built;
  GraphBuilder builder(built.graph, {{"case.mlir", 3, 7}});
  std::vector<ValueId> ids;
  for (const Tensor& result : results(builder.argument(x.type))) ids.push_back(result.id);
  built.graph.set_results(ids);
  built.values = evaluate(built.graph, std::vector{x});
  return built;
}

const HostTensor kX = numbers(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});

TEST(GraphBuilder, AppliesArithmeticOfTensorsAndNumbers) {
  const Built built = build(kX, [](Tensor x) {
    return std::vector{-(x * x - 1) / 2 + x, select(x < 3, minimum(x, x.like(1)), sqrt(x.like(4)))};
  });
  EXPECT_TRUE(close(built.values[0], numbers(kF32, {2, 3}, {1, 0.5, -1, -3.5, -7, -11.5}), 0));
  EXPECT_TRUE(close(built.values[1], numbers(kF32, {2, 3}, {1, 1, 2, 2, 2, 2}), 0));
}

TEST(GraphBuilder, RearrangesElements) {
  const Built built = build(kX, [](Tensor x) {
    const Tensor turned = transpose(x, {1, 0});
    const std::vector<Tensor> parts = {x, reverse(x, {1})};
    return std::vector{slice(turned, {0, 0}, {3, 2}, {2, 1}), concatenate(parts, 0),
                       pad(reshape(x, {6}), x.builder->number(kF32, 9), {1}, {-3}, {1}),
                       x.builder->iota({kI32, {3}}, 0)};
  });
  EXPECT_TRUE(close(built.values[0], numbers(kF32, {2, 2}, {1, 4, 3, 6}), 0));
  EXPECT_TRUE(
      close(built.values[1], numbers(kF32, {4, 3}, {1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 5, 4}), 0));
  EXPECT_TRUE(close(built.values[2], vector_of(kF32, {9, 1, 9, 2, 9, 3, 9, 4, 9}), 0));
  EXPECT_TRUE(close(built.values[3], vector_of(kI32, {0, 1, 2}), 0));
}

TEST(GraphBuilder, ReducesAndMultiplies) {
  const Built built = build(kX, [](Tensor x) {
    return std::vector{sum(x, {0}),
                       reduce(x, x.builder->number(kF32, 0), {0, 1},
                              [](Tensor a, Tensor b) { return maximum(a, b); }),
                       dot_general(x, x, {{}, {}, {1}, {1}}, kF32), convert(x, kI8)};
  });
  EXPECT_TRUE(close(built.values[0], vector_of(kF32, {5, 7, 9}), 0));
  EXPECT_TRUE(close(built.values[1], numbers(kF32, {}, {6}), 0));
  EXPECT_TRUE(close(built.values[2], numbers(kF32, {2, 2}, {14, 32, 32, 77}), 0));
  EXPECT_TRUE(close(built.values[3], numbers(kI8, {2, 3}, {1, 2, 3, 4, 5, 6}), 0));
}

TEST(GraphBuilder, WorksOnBits) {
  const Built built = build(bits_of(kU32, {1, 0x80000000}), [](Tensor x) {
    return std::vector{(x << 31) ^ (x >> 31), bitcast(x, {kI16, {2, 2}})};
  });
  EXPECT_TRUE(close(built.values[0], bits_of(kU32, {0x80000000, 1}), 0));
  EXPECT_TRUE(close(built.values[1], numbers(kI16, {2, 2}, {1, 0, 0, -32768}), 0));
}

TEST(GraphBuilder, ConjugatesComplexNumbersOnly) {
  const Built built = build(kX, [](Tensor x) {
    const Tensor z = x.builder->apply(kComplexOp, {x, x});
    return std::vector{conjugate(x), x.builder->apply(kImagOp, {conjugate(z)})};
  });
  EXPECT_TRUE(close(built.values[0], kX, 0));
  EXPECT_TRUE(close(built.values[1], numbers(kF32, {2, 3}, {-1, -2, -3, -4, -5, -6}), 0));
}

TEST(GraphBuilder, RepeatsAStep) {
  const Built built = build(kX, [](Tensor x) {
    const std::vector<Tensor> start = {x, x.like(1)};
    return repeat(3, start, [](std::span<const Tensor> values) {
      return std::vector{values[0] + values[1], values[1] * 2};
    });
  });
  EXPECT_TRUE(close(built.values[0], numbers(kF32, {2, 3}, {8, 9, 10, 11, 12, 13}), 0));
  EXPECT_TRUE(close(built.values[1], numbers(kF32, {2, 3}, {8, 8, 8, 8, 8, 8}), 0));
}

TEST(GraphBuilder, RefusesWhatDoesNotFitAtItsPlace) {
  try {
    build(kX, [](Tensor x) { return std::vector{x + transpose(x, {1, 0})}; });
    FAIL();
  } catch (const MalformedInput& error) {
    EXPECT_STREQ(error.what(),
                 "case.mlir:3:7: error: stablehlo.add: operands have types tensor<2x3xf32> and "
                 "tensor<3x2xf32>, expected equal ones");
  }
}

std::vector<TensorType> infer_both(const Op&, std::span<const TensorType> operands) {
  return {operands[0], operands[0]};
}
std::vector<HostTensor> divide_both(const Op& op, std::span<const HostTensor> operands) {
  return {kDivideOp.evaluate(op, operands)[0], kRemainderOp.evaluate(op, operands)[0]};
}
std::vector<vertex::Node> emit_both(const Op&, const Graph&, vertex::Expression& expression,
                                    std::span<const vertex::Node> operands) {
  return {expression.apply(vertex::Primitive::kDiv, {operands[0], operands[1]}),
          expression.apply(vertex::Primitive::kRem, {operands[0], operands[1]})};
}
const OpDefinition kDivideWithRemainder{
    .name = "test.divide_with_remainder",
    .summary = "Quotient and remainder.",
    .infer = infer_both,
    .evaluate = divide_both,
    .lowerings = {ElementwiseLowering{emit_both}},
    .traits = {.operands = {kIntegers, kIntegers}},
};

TEST(ElementwiseOps, MayHaveSeveralResults) {
  const HostTensor x = vector_of(kI32, {17, -17, 5, 0}), y = vector_of(kI32, {5, 5, -3, 7});
  Graph graph;
  GraphBuilder builder(graph, {});
  const std::vector<Tensor> operands = {builder.argument(x.type), builder.argument(y.type)};
  const std::vector<Tensor> both = builder.append(kDivideWithRemainder, operands);
  // One result is used, the other is used and returned.
  graph.set_results({(both[0] + both[1]).id, both[1].id});
  const std::vector<HostTensor> found = run_on("tiny4", graph, std::vector{x, y});
  EXPECT_TRUE(close(found[0], vector_of(kI32, {5, -5, 1, 0}), 0));
  EXPECT_TRUE(close(found[1], vector_of(kI32, {2, -2, 2, 0}), 0));
}

std::vector<HostTensor> evaluate_nothing(const Op&, std::span<const HostTensor> operands) {
  return {operands[0]};
}
std::vector<TensorType> infer_first(const Op&, std::span<const TensorType> operands) {
  return {operands[0]};
}
std::vector<Tensor> expand_to_itself(GraphBuilder&, const Op&, std::span<const Tensor> operands) {
  return {operands[0]};
}
const OpDefinition kEffectful{
    .name = "test.effect",
    .summary = "Its operand, with an effect.",
    .infer = infer_first,
    .evaluate = evaluate_nothing,
    .lowerings = {ExpandLowering{expand_to_itself}},
    .traits = {.operands = {kAnyDType}, .effect = Effect::kHost},
};

TEST(Passes, KeepOpsWithEffects) {
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor one = builder.number(kF32, 1);
  builder.apply(kEffectful, {one});
  builder.apply(kEffectful, {one});
  graph.set_results({one.id});
  for (const auto& pass : {fold_constants, merge_equal_ops, remove_unused_ops}) {
    graph = pass(std::move(graph));
    EXPECT_EQ(std::ranges::count(graph.ops(), &kEffectful, &Op::definition), 2);
  }
}

TEST(Passes, KeepLoopsAndBranchesWithEffects) {
  Graph arm;
  GraphBuilder in_arm(arm, {});
  in_arm.apply(kEffectful, {in_arm.number(kF32, 1)});
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor number = builder.number(DType::kI32, 0);
  for (int i = 0; i < 2; ++i) {
    Op branch;
    branch.regions = {arm};
    builder.append(kCaseOp, std::array{number}, std::move(branch));
  }
  graph.set_results({number.id});
  for (const auto& pass : {fold_constants, merge_equal_ops, remove_unused_ops}) {
    graph = apply_with_regions(std::move(graph), pass);
    EXPECT_EQ(std::ranges::count(graph.ops(), &kCaseOp, &Op::definition), 2);
  }
}

TEST(Passes, SolvesByAMatrixAndItsTransposeShareItsElimination) {
  const Built built = build(numbers(kF32, {2, 2}, {2, 9, 1, 4}), [](Tensor a) {
    const auto solve = [&](Tensor b, const char* transpose) {
      Op op;
      op.attributes = {{"left_side", true},
                       {"lower", true},
                       {"unit_diagonal", false},
                       {"transpose_a", std::string(transpose)}};
      return a.builder->apply(kTriangularSolveOp, {a, b}, std::move(op));
    };
    return std::vector{solve(solve(a, "NO_TRANSPOSE"), "TRANSPOSE")};
  });
  const Graph graph = remove_unused_ops(merge_equal_ops(expand_ops(built.graph)));
  EXPECT_EQ(std::ranges::count(graph.ops(), &kWhileOp, &Op::definition), 1);
  EXPECT_TRUE(close(evaluate(graph, std::vector{numbers(kF32, {2, 2}, {2, 9, 1, 4})})[0],
                    built.values[0], 4));
}

TEST(Passes, ExpandOpsInsideOfRegions) {
  Graph graph;
  GraphBuilder builder(graph, {});
  const Tensor x = builder.argument({kF32, {4}});
  const Tensor most = reduce(x, builder.number(kF32, 0), {0}, [](Tensor a, Tensor b) {
    const Tensor is_there = a.builder->apply(kIsInfOp, {a});
    return select(is_there, a, maximum(a, b));
  });
  graph.set_results({most.id});
  const Graph expanded = apply_with_regions(graph, expand_ops);
  for (const Op& op : expanded.ops().back().regions[0].ops()) EXPECT_NE(op.definition, &kIsInfOp);
  const std::vector<HostTensor> arguments = {vector_of(kF32, {3, 1, 4, 1})};
  EXPECT_TRUE(close(evaluate(expanded, arguments)[0], numbers(kF32, {}, {4}), 0));
  EXPECT_TRUE(close(run_on("tiny4", graph, arguments)[0], numbers(kF32, {}, {4}), 0));
}

}  // namespace
}  // namespace superstep
