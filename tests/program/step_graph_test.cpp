#include "compiler/program/step_graph.h"

#include <gtest/gtest.h>

#include <boost/graph/topological_sort.hpp>
#include <vector>

#include "compiler/compile.h"
#include "compiler/graph/op_graph.h"
#include "compiler/lower/lower.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

constexpr const char* kTwoLayers = R"(
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
})";

TEST(OpGraph, HasAnEdgeForEachUseOfAValue) {
  const Module module = import_stablehlo(kTwoLayers, "test.mlir");
  const OpGraph ops = op_graph(module.main);
  ASSERT_EQ(num_vertices(ops), 6U);  // 3 ops, 2 arguments, 1 result
  EXPECT_EQ(num_edges(ops), 6U);
  EXPECT_EQ(ops[0].name, "stablehlo.dot_general");
  EXPECT_EQ(ops[3].name, "arg0");
  EXPECT_EQ(out_degree(4, ops), 2U);  // %b
  EXPECT_EQ(in_degree(5, ops), 1U);   // what is returned
}

TEST(OpGraph, IsWrittenInTheLanguageOfGraphViz) {
  const Module module = import_stablehlo(kTwoLayers, "test.mlir");
  const std::string text = graphviz(module.main, "two \"layers\"");
  EXPECT_EQ(text.find("digraph G {"), 0U);
  EXPECT_NE(text.find(R"(label="two \"layers\"")"), std::string::npos);
  EXPECT_NE(
      text.find(
          R"(1[label="stablehlo.tanh\n3: tensor<64x64xf32>", tooltip="test.mlir:4:8", shape=box];)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(0->1 [label="tensor<64x64xf32>"];)"), std::string::npos) << text;
}

TEST(StepGraph, OrdersEveryStepAfterWhatItDependsOn) {
  const LoweredProgram program =
      lower(import_stablehlo(kTwoLayers, "test.mlir"), load_machine("small64"));
  const StepGraph graph = step_graph(program);
  ASSERT_GT(num_vertices(graph), 4U);
  for (auto [e, end] = edges(graph); e != end; ++e) {
    EXPECT_LT(source(*e, graph), target(*e, graph));
    EXPECT_LE(graph[source(*e, graph)].superstep, graph[target(*e, graph)].superstep);
  }
  std::vector<StepGraph::vertex_descriptor> order;
  EXPECT_NO_THROW(topological_sort(graph, std::back_inserter(order)));
  // Whoever reads a temporary follows somebody who wrote it.
  for (std::size_t v = 1; v < num_vertices(graph); ++v) {
    if (graph[v].kind == StepVertex::Kind::kCompute) {
      EXPECT_GT(in_degree(v, graph), 0U) << graph[v].name;
    }
  }
}

}  // namespace
}  // namespace superstep
