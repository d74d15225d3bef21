#include <gtest/gtest.h>

#include <random>

#include "tests/import/importing.h"

namespace superstep {
namespace {

using Alias = std::vector<std::optional<std::uint32_t>>;

const std::vector<std::string> kModels = {"quickstart/square_plus_one.mlir",
                                          "quickstart/affine.mlir",
                                          "linear_regression/train_step.mlir",
                                          "digits_mlp/accuracy.mlir",
                                          "digits_mlp/train_step.mlir",
                                          "mnist_mlp/train_step.mlir",
                                          "encoder/encoder.mlir",
                                          "kmeans/kmeans.mlir",
                                          "heat/heat.mlir",
                                          "lstm/train_step.mlir",
                                          "cnn/train_step.mlir",
                                          "chars/complete.mlir",
                                          "conjugate_gradient/solve.mlir",
                                          "normal_equation/fit.mlir",
                                          "mandelbrot/mandelbrot.mlir",
                                          "nbody/simulate.mlir",
                                          "fft_convolution/convolve.mlir",
                                          "eigenvalues/frequencies.mlir",
                                          "normals/sample.mlir",
                                          "karate/train.mlir",
                                          "ensemble/train_step.mlir",
                                          "decoder/init.mlir",
                                          "decoder/train_step.mlir",
                                          "decoder/decode.mlir"};

Module import_model(const std::string& name) {
  return import_stablehlo(read_text(model(name)), name);
}

std::string signature(const Graph& graph) {
  std::string out;
  for (const ValueId argument : graph.arguments()) out += graph.type(argument).text() + " ";
  out += "->";
  for (const ValueId result : graph.results()) out += " " + graph.type(result).text();
  return out;
}

TEST(Models, AffineHasItsSignature) {
  const Module module = import_model("quickstart/affine.mlir");
  EXPECT_EQ(module.name, "jit_affine");
  EXPECT_EQ(signature(module.main), "tensor<4x3xf32> tensor<3xf32> tensor<4xf32> -> tensor<4xf32>");
  EXPECT_EQ(module.argument_alias, (Alias{std::nullopt, std::nullopt, std::nullopt}));
  EXPECT_EQ(module.main.ops().at(0).location.python.text(), "models/quickstart/model.py:24");
}

TEST(Models, LinearRegressionDonatesItsParameters) {
  const Module module = import_model("linear_regression/train_step.mlir");
  EXPECT_EQ(signature(module.main),
            "tensor<f32> tensor<f32> tensor<64xf32> tensor<64xf32> -> tensor<f32> tensor<f32> "
            "tensor<f32>");
  EXPECT_EQ(module.argument_alias, (Alias{0, 1, std::nullopt, std::nullopt}));
}

TEST(Models, DigitsTrainStepInlinesItsFunctions) {
  const Module module = import_model("digits_mlp/train_step.mlir");
  EXPECT_EQ(signature(module.main),
            "tensor<64x32xf32> tensor<32xf32> tensor<32x10xf32> tensor<10xf32> tensor<32x64xf32> "
            "tensor<32xi32> -> tensor<64x32xf32> tensor<32xf32> tensor<32x10xf32> tensor<10xf32> "
            "tensor<f32>");
  EXPECT_EQ(module.argument_alias, (Alias{0, 1, 2, 3, std::nullopt, std::nullopt}));
  std::size_t dots = 0;
  for (const Op& op : module.main.ops()) {
    dots += op.definition->name == "stablehlo.dot_general" ? 1 : 0;
    for (const ValueId operand : op.operands) EXPECT_LT(operand, op.results.at(0));
  }
  EXPECT_EQ(dots, 5u);
}

TEST(Models, AllAreRead) {
  for (const std::string& name : kModels) EXPECT_NO_THROW((void)import_model(name)) << name;
}

// Cuts, doubles, overwrites and inserts pieces of a text.
std::string mutate(std::string text, std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"{",          "}",
                                                   "(",          ")",
                                                   "<",          ">",
                                                   "[",          "]",
                                                   "\"",         "%",
                                                   "#",          "@",
                                                   ":",          ",",
                                                   "=",          "->",
                                                   "x",          "-",
                                                   "?",          "loc(",
                                                   "tensor<",    "dense<",
                                                   "0x",         "999999999999",
                                                   "func.func ", "module ",
                                                   "\n",         "//",
                                                   "^bb0:",      "stablehlo.while",
                                                   "\xff",       std::string(1, '\0'),
                                                   "i64",        "return",
                                                   "call @relu"};
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const std::size_t edits = 1 + below(4);
  for (std::size_t i = 0; i < edits; ++i) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(random() % 4 == 0 ? 400 : 6);
    switch (random() % 5) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 2:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 3:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        break;
      default:
        if (random() % 8 == 0) text.resize(at);
        break;
    }
  }
  return text;
}

TEST(Models, DamagedTextsAreReadOrRefusedWithPlaces) {
  std::vector<std::string> texts;
  for (const std::string& name : kModels) texts.push_back(read_text(model(name)));
  constexpr unsigned kSeed = 20260808;
  std::mt19937 random(kSeed);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = mutate(texts[static_cast<std::size_t>(i) % texts.size()], random);
    const Refusal result = refusal(text);
    if (result.code == ExitCode::kOk) continue;
    ++refused;
    ASSERT_TRUE(result.code == ExitCode::kMalformed || result.code == ExitCode::kUnsupported);
    ASSERT_FALSE(result.problems.empty());
    for (const std::string& problem : result.problems) {
      ASSERT_FALSE(problem.starts_with("unlocated")) << "text " << i << ": " << problem;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace superstep
