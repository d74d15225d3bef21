#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/models/jax_results.h"

namespace superstep {
namespace {

class Models : public ::testing::TestWithParam<std::string> {
 protected:
  static ProgramImage compiled(const std::string& module) {
    return compile_file(kModels / module, load_machine(GetParam()));
  }
};

RunResult run(const ProgramImage& image, const TensorFile& input, std::uint32_t calls = 1,
              std::uint32_t threads = 2) {
  RunOptions options;
  options.calls = calls;
  options.threads = threads;
  return run_on(image, input, options);
}

TEST_P(Models, SquarePlusOneHasTheSameBitsAsJax) {
  expect_results(run(compiled("quickstart/square_plus_one.mlir"),
                     tensors("quickstart/square_plus_one_input.h5")),
                 tensors("quickstart/square_plus_one_expected.h5"));
}

TEST_P(Models, AffineAgreesWithJax) {
  expect_results(run(compiled("quickstart/affine.mlir"), tensors("quickstart/affine_input.h5")),
                 tensors("quickstart/affine_expected.h5"), within(1e-6, 1e-6));
}

TEST_P(Models, LinearRegressionLearnsAsInJax) {
  // The loss ends as rounding error, so that only its absolute size can be compared.
  expect_results(run(compiled("linear_regression/train_step.mlir"),
                     tensors("linear_regression/train.h5"), 1000),
                 tensors("linear_regression/expected.h5"), within(1e-5, 1e-6));
}

TEST_P(Models, DigitsLearnsAsInJax) {
  const RunResult result =
      run(compiled("digits_mlp/train_step.mlir"), tensors("digits_mlp/train.h5"), 44);
  ASSERT_EQ(result.results.size(), 5U);
  const TensorFile expected = tensors("digits_mlp/expected.h5");
  for (std::size_t r = 0; r < 4; ++r) {
    expect_close(result.results[r], expected.at(fmt::format("result{}", r)), within(0, 1e-5));
  }
  expect_close(result.results[4], expected.at("result4"), within(1e-4, 0));
}

TEST_P(Models, EncoderOfEqualLayersAgreesWithJax) {
  expect_results(run(compiled("encoder/encoder.mlir"), tensors("encoder/input.h5")),
                 tensors("encoder/expected.h5"), within(1e-4, 1e-5));
}

TEST_P(Models, KMeansFindsTheClustersOfJaxInAsManySteps) {
  const RunResult result = run(compiled("kmeans/kmeans.mlir"), tensors("kmeans/input.h5"));
  expect_results(result, tensors("kmeans/expected.h5"), within(1e-5, 1e-6));
  EXPECT_EQ(result.results.at(2).get<std::int32_t>(0), 13);
}

TEST_P(Models, HeatSpreadsFor1000StepsAsInJax) {
  expect_results(run(compiled("heat/heat.mlir"), tensors("heat/input.h5")),
                 tensors("heat/expected.h5"), within(1e-4, 1e-6));
}

TEST_P(Models, LstmLearnsToAddAsInJax) {
  expect_results(run(compiled("lstm/train_step.mlir"), tensors("lstm/train.h5"), 4),
                 tensors("lstm/expected.h5"), within(1e-4, 1e-5));
}

TEST_P(Models, CnnLearnsAsInJax) {
  if (GetParam() == "tiny4") GTEST_SKIP() << "its images do not fit four tiles";
  expect_results(run(compiled("cnn/train_step.mlir"), tensors("cnn/train.h5"), 2),
                 tensors("cnn/expected.h5"), within(1e-4, 1e-6));
}

TEST_P(Models, CharsWritesWhatJaxWrites) {
  expect_results(run(compiled("chars/complete.mlir"), tensors("chars/input.h5")),
                 tensors("chars/expected.h5"));
}

TEST_P(Models, TrainedDigitsReads334Of360Images) {
  TensorFile input = tensors("digits_mlp/test.h5");
  const TensorFile trained = tensors("digits_mlp/expected.h5");
  for (std::size_t p = 0; p < 4; ++p) {
    input[fmt::format("arg{}", p)] = trained.at(fmt::format("result{}", p));
  }
  const RunResult result = run(compiled("digits_mlp/accuracy.mlir"), input);
  ASSERT_EQ(result.results.size(), 1U);
  EXPECT_FLOAT_EQ(result.results[0].get<float>(0), 334.0F / 360.0F);
}

TEST_P(Models, GiveTheSameBytesAndCyclesForAnyNumberOfThreads) {
  const ProgramImage image = compiled("digits_mlp/train_step.mlir");
  const TensorFile input = tensors("digits_mlp/train.h5");
  const RunResult one = run(image, input, 44, 1);
  const RunResult two = run(image, input, 44, 2);
  EXPECT_EQ(one.totals.cycles, two.totals.cycles);
  EXPECT_EQ(one.totals.exchange, two.totals.exchange);
  EXPECT_EQ(one.totals.compute, two.totals.compute);
  EXPECT_EQ(one.totals.sync, two.totals.sync);
  EXPECT_EQ(one.totals.host, two.totals.host);
  EXPECT_EQ(one.totals.supersteps, two.totals.supersteps);
  EXPECT_EQ(one.totals.worker_instructions, two.totals.worker_instructions);
  ASSERT_EQ(one.results.size(), two.results.size());
  for (std::size_t r = 0; r < one.results.size(); ++r) {
    EXPECT_EQ(one.results[r].data, two.results[r].data) << "result " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEachMachine, Models, ::testing::Values("tiny4", "small64", "bow"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace superstep
