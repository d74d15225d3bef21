#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "tests/models/jax_results.h"

namespace superstep {
namespace {

/// A model on a machine with that many workers a tile, with the check that no two workers of a
/// round touch one word.
RunResult run_with(std::uint32_t workers, const std::string& machine, const std::string& module,
                   const std::string& input, std::uint32_t calls) {
  SCOPED_TRACE(fmt::format("{} workers", workers));
  const ProgramImage image = compile_file(
      kModels / module, load_machine(machine, {fmt::format("tile.workers={}", workers)}));
  RunOptions options;
  options.calls = calls;
  options.check_races = RaceChecks::kAlways;
  return run_on(image, read_tensors(kModels / input), options);
}

// Elements do not depend on one another: the same bits however many workers share them.
TEST(Workers, AnyNumberOfThemGivesTheSameElements) {
  const TensorFile expected = read_tensors(kModels / "quickstart/square_plus_one_expected.h5");
  for (const std::uint32_t workers : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 13U, 16U}) {
    const RunResult result = run_with(workers, "tiny4", "quickstart/square_plus_one.mlir",
                                      "quickstart/square_plus_one_input.h5", 1);
    EXPECT_EQ(result.results.at(0).data, expected.at("result0").data) << workers;
  }
}

// Sums are divided otherwise, so that they may round otherwise.
TEST(Workers, AnyNumberOfThemLearnsDigitsAsJaxDoes) {
  const HostTensor losses = read_tensors(kModels / "digits_mlp/expected.h5").at("result4");
  for (const std::uint32_t workers : {1U, 4U, 8U, 16U}) {
    const RunResult result =
        run_with(workers, "small64", "digits_mlp/train_step.mlir", "digits_mlp/train.h5", 44);
    for (std::size_t i = 0; i < 44; ++i) {
      const float loss = losses.get<float>(i);
      EXPECT_NEAR(result.results.at(4).get<float>(i), loss, 1e-4F * loss) << workers << " " << i;
    }
  }
}

// A vertex of halves takes four elements at a time: of nine, the last three are behind the input,
// where the result would lie.
TEST(Workers, ReadNothingThatOthersWriteWhenOnlyAValueInBetweenIsNarrow) {
  const Module module = import_stablehlo(R"(
    func.func @main(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
      %0 = stablehlo.convert %x : (tensor<5x5xf32>) -> tensor<5x5xf16>
      %1 = stablehlo.convert %0 : (tensor<5x5xf16>) -> tensor<5x5xf32>
      return %1 : tensor<5x5xf32>
    })",
                                         "rounded.mlir");
  RunOptions options;
  options.check_races = RaceChecks::kAlways;
  const HostTensor x(TensorType{DType::kF32, {5, 5}});
  const RunResult result = run_image(compile(module, load_machine("tiny4")), {x}, options);
  ASSERT_FALSE(result.trap) << result.trap->text();
  EXPECT_EQ(result.results.at(0).data, x.data);
}

}  // namespace
}  // namespace superstep
