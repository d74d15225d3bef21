#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/take.h"
#include "compiler/passes/passes.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

struct Range {
  std::size_t first, last;
};

/// Which operands of an op are indices.
Range indices_of(const OpCase& use) {
  const std::size_t operands = use.operands.size();
  if (use.op == "stablehlo.dynamic_slice") return {1, operands};
  if (use.op == "stablehlo.dynamic_update_slice") return {2, operands};
  return {operands / 2, operands / 2 + 1};
}

/// The op with its indices as constants and the other operands as arguments.
Graph with_constant_indices(const OpCase& use, std::vector<HostTensor>& arguments) {
  Graph graph;
  Op op;
  op.definition = find_op(use.op);
  const Range indices = indices_of(use);
  for (std::size_t i = 0; i < use.operands.size(); ++i) {
    const HostTensor& operand = use.operands[i];
    if (i < indices.first || i >= indices.last) {
      op.operands.push_back(graph.add_argument(operand.type, {}));
      arguments.push_back(operand);
      continue;
    }
    op.operands.push_back(GraphBuilder(graph, OpLocation{}).constant(operand).id);
  }
  op.attributes = use.attributes;
  op.regions = use.regions;
  op.declared = use.declared;
  graph.set_results(graph.add_op(std::move(op)).results);
  return graph;
}

bool indexes(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const Op& op) {
    return op.definition == &kTakeOp || op.definition == &kPutOp;
  });
}

TEST(KnownIndices, GiveTheSameResults) {
  for (const OpCase& use : indexing_cases()) {
    if (find_op(use.op) == nullptr || use.op.starts_with("superstep.")) continue;
    SCOPED_TRACE(use.op + " " + use.what);
    std::vector<HostTensor> arguments;
    const Graph graph = expand_ops(with_constant_indices(use, arguments));
    const std::vector<HostTensor> results = evaluate(graph, arguments);
    ASSERT_EQ(results.size(), use.expected.size());
    for (std::size_t r = 0; r < results.size(); ++r) {
      EXPECT_TRUE(close(results[r], use.expected[r], use.ulp));
    }
  }
}

TEST(KnownIndices, OfOneWindowNeedNoIndexing) {
  for (const std::string combined :
       {"stablehlo.return %b : tensor<f32>",
        "%c = stablehlo.subtract %b, %a : tensor<f32> stablehlo.return %c : tensor<f32>"}) {
    Module module = import_stablehlo(std::string(R"(
      func.func @main(%x: tensor<8x6xf32>, %y: tensor<1x6x4xf32>, %z: tensor<2x6xf32>)
          -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<3x6xf32>) {
        %one = stablehlo.constant dense<1> : tensor<1xi32>
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %seven = stablehlo.constant dense<7> : tensor<i32>
        %places = stablehlo.concatenate %one, %one, dim = 0
            : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %i = stablehlo.reshape %places : (tensor<2xi32>) -> tensor<1x2xi32>
        %p = "stablehlo.scatter"(%x, %i, %y) <{scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1],
            index_vector_dim = 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            )") + combined + R"(
          }) : (tensor<8x6xf32>, tensor<1x2xi32>, tensor<1x6x4xf32>) -> tensor<8x6xf32>
        %q = stablehlo.dynamic_update_slice %x, %z, %seven, %zero
            : (tensor<8x6xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<8x6xf32>
        %r = stablehlo.dynamic_slice %x, %seven, %zero, sizes = [3, 6]
            : (tensor<8x6xf32>, tensor<i32>, tensor<i32>) -> tensor<3x6xf32>
        return %p, %q, %r : tensor<8x6xf32>, tensor<8x6xf32>, tensor<3x6xf32>
      })",
                                     "known.mlir");
    std::vector<HostTensor> arguments;
    for (const ValueId argument : module.main.arguments()) {
      HostTensor& tensor = arguments.emplace_back(module.main.type(argument));
      for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
        tensor.set(i, static_cast<float>(arguments.size() * 100 + i));
      }
    }
    const std::vector<HostTensor> expected = evaluate(module.main, arguments);
    const Graph graph = expand_ops(remove_unused_ops(fold_constants(module.main)));
    EXPECT_FALSE(indexes(graph)) << combined;
    const std::vector<HostTensor> found = evaluate(graph, arguments);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      EXPECT_EQ(found[r].data, expected[r].data) << combined << " " << r;
    }
  }
}

}  // namespace
}  // namespace superstep
