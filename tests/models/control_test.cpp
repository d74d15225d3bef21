#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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
    std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/models/control";

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kHere)) {
    if (entry.path().extension() == ".mlir") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class ControlFlow : public testing::TestWithParam<std::string> {};

TEST_P(ControlFlow, AgreesWithJax) {
  const std::string& name = GetParam();
  std::ifstream file(kHere / (name + ".mlir"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const ProgramImage image = compile(import_stablehlo(text, name + ".mlir"), load_machine("tiny4"));
  const TensorFile input = read_tensors(kHere / "arguments.h5");
  const TensorFile expected = read_tensors(kHere / "results.h5");
  std::vector<HostTensor> arguments;
  for (std::size_t a = 0; a < image.arguments.size(); ++a) {
    arguments.push_back(input.at(fmt::format("{}.arg{}", name, a)));
  }
  const RunResult run = run_image(image, arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->cause;
  for (std::size_t r = 0; r < run.results.size(); ++r) {
    SCOPED_TRACE(fmt::format("result {}", r));
    const HostTensor& found = run.results[r];
    const HostTensor& want = expected.at(fmt::format("{}.result{}", name, r));
    ASSERT_EQ(found.type.text(), want.type.text());
    const double relative = found.type.dtype == DType::kF16 ? 2e-3 : 1e-5;
    for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
      if (!is_float(found.type.dtype)) {
        EXPECT_EQ(read_bits(found, i), read_bits(want, i)) << "element " << i;
        continue;
      }
      const double right = read_float(want, i);
      EXPECT_NEAR(read_float(found, i), right, relative * std::max(1.0, std::abs(right)))
          << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ControlFlow, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace superstep
