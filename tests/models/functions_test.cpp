#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hdf5.h"
#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "isa/machine_config.h"
#include "sim/machine.h"

namespace superstep {
namespace {

const std::filesystem::path kHere =
    std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/models/functions";

TEST(Functions, OfBothFloatTypesAgreeWithJax) {
  std::ifstream file(kHere / "functions.mlir");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const ProgramImage image =
      compile(import_stablehlo(text, "functions.mlir"), load_machine("tiny4"));
  const TensorFile input = read_tensors(kHere / "input.h5");
  const TensorFile expected = read_tensors(kHere / "expected.h5");
  std::vector<HostTensor> arguments;
  for (std::size_t a = 0; a < image.arguments.size(); ++a) {
    arguments.push_back(input.at(fmt::format("arg{}", a)));
  }
  const RunResult run = run_image(image, arguments, {});
  ASSERT_FALSE(run.trap);
  ASSERT_EQ(run.results.size(), expected.size());
  for (std::size_t r = 0; r < run.results.size(); ++r) {
    SCOPED_TRACE(fmt::format("result {}", r));
    const HostTensor& found = run.results[r];
    const HostTensor& want = expected.at(fmt::format("result{}", r));
    ASSERT_EQ(found.type.text(), want.type.text());
    // JAX itself is off by some units in the last place.
    const double relative = found.type.dtype == DType::kF16 ? 2e-3 : 2e-6;
    for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
      if (!is_float(found.type.dtype)) {
        EXPECT_EQ(read_bits(found, i), read_bits(want, i)) << "element " << i;
        continue;
      }
      const double right = read_float(want, i);
      EXPECT_NEAR(read_float(found, i), right, relative * std::abs(right)) << "element " << i;
    }
  }
}

}  // namespace
}  // namespace superstep
