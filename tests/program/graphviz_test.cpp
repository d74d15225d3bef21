// Boost's reader of GraphViz that needs no library.
#define BOOST_GRAPH_USE_SPIRIT_PARSER 1

#include <gtest/gtest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "base/files.h"
#include "compiler/compile.h"
#include "compiler/graph/op_graph.h"
#include "compiler/program/step_graph.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

struct Label {
  std::string label;
};
using Drawing =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Label, Label>;

/// A drawing as GraphViz would read it.
Drawing read(const std::string& text) {
  Drawing drawing;
  boost::dynamic_properties properties(boost::ignore_other_properties);
  properties.property("label", boost::get(&Label::label, drawing));
  EXPECT_TRUE(boost::read_graphviz(text, drawing, properties)) << text;
  return drawing;
}

/// The vertex whose label has this in it.
std::optional<Drawing::vertex_descriptor> labelled(const Drawing& drawing,
                                                   const std::string& part) {
  for (std::size_t v = 0; v < num_vertices(drawing); ++v) {
    if (drawing[v].label.find(part) != std::string::npos) return v;
  }
  return std::nullopt;
}

constexpr const char* kLayer = R"(
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
})";

TEST(GraphViz, ReadsOpsWithTheirNumbersAndTypes) {
  const Module module = import_stablehlo(kLayer, "a \"layer\".mlir");
  const Drawing drawing = read(graphviz(module.main, module.name));
  ASSERT_EQ(num_vertices(drawing), num_vertices(op_graph(module.main)));
  const auto product = labelled(drawing, R"(stablehlo.dot_general\n2: tensor<64x64xf32>)");
  ASSERT_TRUE(product);
  EXPECT_EQ(in_degree(*product, drawing), 2U);
  EXPECT_TRUE(labelled(drawing, R"(arg1\ntensor<32x64xf32>)"));
  EXPECT_TRUE(labelled(drawing, R"(result0\ntensor<64x64xf32>)"));
}

TEST(GraphViz, ReadsStepsWithTheirTilesAndCycles) {
  std::optional<StepDrawing> steps;
  const ProgramImage image =
      compile(import_stablehlo(kLayer, "layer.mlir"), load_machine("tiny4"),
              {.on_steps = [&](const LoweredProgram& program) { steps.emplace(program); }});
  ASSERT_TRUE(steps);
  const Drawing before = read(steps->graphviz("layer.mlir"));
  EXPECT_TRUE(labelled(before, R"(compute tanh.3\nstablehlo.tanh\n4 tiles)"));
  EXPECT_FALSE(labelled(before, "cycles"));
  const Drawing after = read(steps->graphviz("layer.mlir", image.info.steps));
  ASSERT_EQ(num_vertices(after), image.info.steps.size() - 1);
  for (std::size_t v = 0; v < num_vertices(after); ++v) {
    const StepInfo& step = image.info.steps[v + 1];
    EXPECT_NE(after[v].label.find(step.name + R"(\n)"), std::string::npos) << after[v].label;
    const std::string cycles = ", " + std::to_string(step.predicted_cycles) + " cycles";
    EXPECT_TRUE(after[v].label.ends_with(cycles)) << after[v].label;
  }
}

TEST(GraphViz, ReadsTheModels) {
  const std::filesystem::path models = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";
  for (const char* model : {"encoder/encoder.mlir", "digits_mlp/train_step.mlir"}) {
    const Module module = import_stablehlo(read_text_file(models / model), model);
    std::optional<StepDrawing> steps;
    const ProgramImage image =
        compile(module, load_machine("small64"),
                {.on_steps = [&](const LoweredProgram& program) { steps.emplace(program); }});
    EXPECT_GT(num_vertices(read(graphviz(module.main, model))), 20U);
    EXPECT_GT(num_edges(read(steps->graphviz(model, image.info.steps))), 20U);
  }
}

}  // namespace
}  // namespace superstep
