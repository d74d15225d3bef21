#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

#include "base/hdf5.h"
#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "isa/machine_config.h"
#include "sim/machine.h"

namespace superstep {
namespace {

const std::filesystem::path kHere = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/models";

struct JaxProgram {
  std::string folder, name;
};

std::vector<JaxProgram> programs() {
  std::vector<JaxProgram> programs;
  for (const char* folder : {"control", "indexing"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kHere / folder)) {
      if (entry.path().extension() == ".mlir") programs.push_back({folder, entry.path().stem()});
    }
  }
  std::ranges::sort(programs, {}, [](const JaxProgram& program) {
    return std::tie(program.folder, program.name);
  });
  return programs;
}

double tolerance(DType dtype) {
  if (dtype == DType::kF16) return 2e-3;
  return dtype == DType::kF64 ? 1e-14 : 1e-5;
}

class JaxPrograms : public testing::TestWithParam<JaxProgram> {};

TEST_P(JaxPrograms, AgreeWithJax) {
  const std::string& name = GetParam().name;
  const std::filesystem::path folder = kHere / GetParam().folder;
  std::ifstream file(folder / (name + ".mlir"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const ProgramImage image = compile(import_stablehlo(text, name + ".mlir"), load_machine("tiny4"));
  const TensorFile input = read_tensors(folder / "arguments.h5");
  const TensorFile expected = read_tensors(folder / "results.h5");
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
    const double relative = tolerance(found.type.dtype);
    for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
      if (!is_float(found.type.dtype)) {
        EXPECT_EQ(read_bits(found, i), read_bits(want, i)) << "element " << i;
        continue;
      }
      const double value = read_float(found, i), right = read_float(want, i);
      if (value == right || (std::isnan(value) && std::isnan(right))) continue;
      EXPECT_NEAR(value, right, relative * std::max(1.0, std::abs(right))) << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, JaxPrograms, testing::ValuesIn(programs()), [](const auto& info) {
  return info.param.folder + "_" + info.param.name;
});

}  // namespace
}  // namespace superstep
