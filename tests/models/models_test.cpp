#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/hdf5.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "sim/machine.h"

namespace superstep {
namespace {

const std::filesystem::path kModels = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";

ProgramImage compiled(const std::string& module, const std::string& machine) {
  std::ifstream file(kModels / module);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return compile(import_stablehlo(text, module), load_machine(machine));
}

TensorFile tensors(const std::string& file) { return read_tensors(kModels / file); }

/// arg0, arg1, … of an image.
std::vector<HostTensor> arguments_of(const ProgramImage& image, const TensorFile& file) {
  std::vector<HostTensor> arguments;
  for (std::size_t a = 0; a < image.arguments.size(); ++a) {
    arguments.push_back(file.at(fmt::format("arg{}", a)));
  }
  return arguments;
}

RunResult run(const ProgramImage& image, const TensorFile& input, std::uint32_t calls = 1,
              std::uint32_t threads = 2) {
  RunOptions options;
  options.calls = calls;
  options.threads = threads;
  RunResult result = run_image(image, arguments_of(image, input), options);
  if (result.trap) throw std::runtime_error(result.trap->text());
  return result;
}

/// |found - expected| <= absolute + relative |expected| for every f32 element.
void expect_close(const HostTensor& found, const HostTensor& expected, double relative,
                  double absolute) {
  ASSERT_EQ(found.type.text(), expected.type.text());
  for (std::size_t i = 0; i < static_cast<std::size_t>(expected.type.elements()); ++i) {
    const double want = double{expected.get<float>(i)};
    ASSERT_NEAR(double{found.get<float>(i)}, want, absolute + relative * std::abs(want))
        << "element " << i;
  }
}

class Models : public ::testing::TestWithParam<std::string> {};

TEST_P(Models, SquarePlusOneHasTheSameBitsAsJax) {
  const RunResult result = run(compiled("quickstart/square_plus_one.mlir", GetParam()),
                               tensors("quickstart/square_plus_one_input.h5"));
  ASSERT_EQ(result.results.size(), 1U);
  const TensorFile expected = tensors("quickstart/square_plus_one_expected.h5");
  EXPECT_EQ(result.results[0].data, expected.at("result0").data);
}

TEST_P(Models, AffineAgreesWithJax) {
  const RunResult result =
      run(compiled("quickstart/affine.mlir", GetParam()), tensors("quickstart/affine_input.h5"));
  ASSERT_EQ(result.results.size(), 1U);
  expect_close(result.results[0], tensors("quickstart/affine_expected.h5").at("result0"), 1e-6,
               1e-6);
}

TEST_P(Models, LinearRegressionLearnsAsInJax) {
  const RunResult result = run(compiled("linear_regression/train_step.mlir", GetParam()),
                               tensors("linear_regression/train.h5"), 1000);
  ASSERT_EQ(result.results.size(), 3U);
  const TensorFile expected = tensors("linear_regression/expected.h5");
  // The loss ends as rounding error, so that only its absolute size can be compared.
  for (std::size_t r = 0; r < 3; ++r) {
    expect_close(result.results[r], expected.at(fmt::format("result{}", r)), 1e-5, 1e-6);
  }
}

TEST_P(Models, DigitsLearnsAsInJax) {
  const RunResult result =
      run(compiled("digits_mlp/train_step.mlir", GetParam()), tensors("digits_mlp/train.h5"), 44);
  ASSERT_EQ(result.results.size(), 5U);
  const TensorFile expected = tensors("digits_mlp/expected.h5");
  for (std::size_t r = 0; r < 4; ++r) {
    expect_close(result.results[r], expected.at(fmt::format("result{}", r)), 0, 1e-5);
  }
  expect_close(result.results[4], expected.at("result4"), 1e-4, 0);
}

TEST_P(Models, EncoderOfEqualLayersAgreesWithJax) {
  const RunResult result =
      run(compiled("encoder/encoder.mlir", GetParam()), tensors("encoder/input.h5"));
  ASSERT_EQ(result.results.size(), 1U);
  expect_close(result.results[0], tensors("encoder/expected.h5").at("result0"), 1e-4, 1e-5);
}

TEST_P(Models, KMeansFindsTheClustersOfJaxInAsManySteps) {
  const RunResult result =
      run(compiled("kmeans/kmeans.mlir", GetParam()), tensors("kmeans/input.h5"));
  ASSERT_EQ(result.results.size(), 3U);
  const TensorFile expected = tensors("kmeans/expected.h5");
  expect_close(result.results[0], expected.at("result0"), 1e-5, 1e-6);
  EXPECT_EQ(result.results[1].data, expected.at("result1").data);
  EXPECT_EQ(result.results[2].get<std::int32_t>(0), 13);
}

TEST_P(Models, HeatSpreadsFor1000StepsAsInJax) {
  const RunResult result = run(compiled("heat/heat.mlir", GetParam()), tensors("heat/input.h5"));
  ASSERT_EQ(result.results.size(), 2U);
  const TensorFile expected = tensors("heat/expected.h5");
  for (std::size_t r = 0; r < 2; ++r) {
    expect_close(result.results[r], expected.at(fmt::format("result{}", r)), 1e-4, 1e-6);
  }
}

TEST_P(Models, LstmLearnsToAddAsInJax) {
  const RunResult result =
      run(compiled("lstm/train_step.mlir", GetParam()), tensors("lstm/train.h5"), 4);
  ASSERT_EQ(result.results.size(), 5U);
  const TensorFile expected = tensors("lstm/expected.h5");
  for (std::size_t r = 0; r < 5; ++r) {
    expect_close(result.results[r], expected.at(fmt::format("result{}", r)), 1e-4, 1e-5);
  }
}

TEST_P(Models, CharsWritesWhatJaxWrites) {
  const RunResult result =
      run(compiled("chars/complete.mlir", GetParam()), tensors("chars/input.h5"));
  ASSERT_EQ(result.results.size(), 2U);
  const TensorFile expected = tensors("chars/expected.h5");
  EXPECT_EQ(result.results[0].data, expected.at("result0").data);
  EXPECT_EQ(result.results[1].data, expected.at("result1").data);
}

TEST_P(Models, TrainedDigitsReads334Of360Images) {
  TensorFile input = tensors("digits_mlp/test.h5");
  const TensorFile trained = tensors("digits_mlp/expected.h5");
  for (std::size_t p = 0; p < 4; ++p) {
    input[fmt::format("arg{}", p)] = trained.at(fmt::format("result{}", p));
  }
  const RunResult result = run(compiled("digits_mlp/accuracy.mlir", GetParam()), input);
  ASSERT_EQ(result.results.size(), 1U);
  EXPECT_FLOAT_EQ(result.results[0].get<float>(0), 334.0F / 360.0F);
}

TEST_P(Models, GiveTheSameBytesAndCyclesForAnyNumberOfThreads) {
  const ProgramImage image = compiled("digits_mlp/train_step.mlir", GetParam());
  TensorFile input = tensors("digits_mlp/train.h5");
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
