#include <gtest/gtest.h>

#include <string>

#include "tests/models/jax_results.h"

namespace superstep {
namespace {

/// Runs a module of models/ on tensors of its folder.
RunResult run(const std::string& folder, const std::string& module, const std::string& machine,
              const std::string& input = "input.h5", std::uint32_t calls = 1) {
  RunOptions options;
  options.calls = calls;
  options.threads = 2;
  return run_on(compile_file(kModels / folder / module, load_machine(machine)),
                tensors(folder + "/" + input), options);
}

class Workloads : public ::testing::TestWithParam<std::string> {};

TEST_P(Workloads, ConjugateGradientsEndAfterAsManyStepsAsInJax) {
  const RunResult result = run("conjugate_gradient", "solve.mlir", GetParam());
  expect_results(result, tensors("conjugate_gradient/expected.h5"), within(1e-3, 1e-6));
  EXPECT_EQ(result.results.at(2).get<std::int32_t>(0), 68);
}

TEST_P(Workloads, NormalEquationsAreSolvedAsInJax) {
  expect_results(run("normal_equation", "fit.mlir", GetParam()),
                 tensors("normal_equation/expected.h5"), within(1e-4, 1e-6));
}

TEST_P(Workloads, MandelbrotPointsLeaveAfterAsManyStepsAsInJax) {
  expect_results(run("mandelbrot", "mandelbrot.mlir", GetParam()),
                 tensors("mandelbrot/expected.h5"));
}

TEST_P(Workloads, BodiesMoveAsInJaxAndKeepTheirEnergy) {
  const RunResult result = run("nbody", "simulate.mlir", GetParam());
  expect_results(result, tensors("nbody/expected.h5"), within(1e-4, 1e-6));
  EXPECT_NEAR(result.results.at(3).get<float>(0), result.results.at(2).get<float>(0), 1e-5);
}

TEST_P(Workloads, ConvolutionByFourierTransformsAgreesWithJax) {
  expect_results(run("fft_convolution", "convolve.mlir", GetParam()),
                 tensors("fft_convolution/expected.h5"), within(1e-4, 1e-6));
}

TEST_P(Workloads, EigenvaluesAgreeWithJax) {
  expect_results(run("eigenvalues", "frequencies.mlir", GetParam()),
                 tensors("eigenvalues/expected.h5"), within(1e-4, 1e-6));
}

TEST_P(Workloads, KarateClubFallsApartAsInJax) {
  expect_results(run("karate", "train.mlir", GetParam()), tensors("karate/expected.h5"),
                 within(1e-4, 1e-5));
}

TEST_P(Workloads, EnsembleLearnsAsInJax) {
  expect_results(run("ensemble", "train_step.mlir", GetParam(), "train.h5", 4),
                 tensors("ensemble/expected.h5"), within(1e-4, 1e-6));
}

INSTANTIATE_TEST_SUITE_P(OnEachMachine, Workloads, ::testing::Values("tiny4", "small64", "bow"),
                         [](const auto& info) { return info.param; });

TEST(Normals, AMillionHaveTheMomentsOfJaxAndAllItsBits) {
  expect_results(run("normals", "sample.mlir", "bow"), tensors("normals/expected.h5"),
                 within(1e-4, 1e-6));
}

// `init` gives the parameters, which are too large to keep. Its training step takes a minute to
// compile: .ci/nightly has it.
TEST(Decoder, WritesWhatJaxWritesWithTheParametersOfItsKey) {
  const RunResult state = run("decoder", "init.mlir", "bow", "key.h5");
  expect_close(state.results.at(55), tensors("decoder/expected_init.h5").at("result55"),
               within(1e-5, 0));
  TensorFile input = tensors("decoder/prompt.h5");
  for (std::size_t p = 0; p < 18; ++p) input["arg" + std::to_string(p)] = state.results.at(p);
  const RunResult text =
      run_on(compile_file(kModels / "decoder/decode.mlir", load_machine("bow")), input);
  expect_results(text, tensors("decoder/expected_text.h5"));
}

}  // namespace
}  // namespace superstep
