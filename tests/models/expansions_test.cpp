#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
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

const std::filesystem::path kHere = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/models";

/// `folder/name` of the modules of a folder.
std::vector<std::string> names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kHere / folder)) {
    if (entry.path().extension() == ".mlir") {
      names.push_back(folder + "/" + entry.path().stem().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

void expect_close(const HostTensor& found, const HostTensor& wanted, double relative) {
  ASSERT_EQ(found.type.text(), wanted.type.text());
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    if (relative == 0 || (!is_float(found.type.dtype) && !is_complex(found.type.dtype))) {
      EXPECT_EQ(read_bits(found, i), read_bits(wanted, i)) << "element " << i;
      continue;
    }
    const std::complex<double> is = read_number(found, i), right = read_number(wanted, i);
    if (std::isnan(right.real())) {
      EXPECT_TRUE(std::isnan(is.real())) << "element " << i;
    } else {
      EXPECT_LE(std::abs(is - right), relative * std::max(1.0, std::abs(right)))
          << "element " << i << " is " << is.real() << ", expected " << right.real();
    }
  }
}

/// Runs a module of a folder that has `arguments.h5` and `results.h5`; floats may differ by so
/// much, relatively.
void expect_results_of_jax(const std::string& module, double relative) {
  const std::filesystem::path path = kHere / (module + ".mlir");
  const std::string name = path.stem();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const ProgramImage image = compile(import_stablehlo(text, name + ".mlir"), load_machine("tiny4"));
  const TensorFile input = read_tensors(path.parent_path() / "arguments.h5");
  const TensorFile expected = read_tensors(path.parent_path() / "results.h5");
  std::vector<HostTensor> arguments;
  for (std::size_t a = 0; a < image.arguments.size(); ++a) {
    arguments.push_back(input.at(fmt::format("{}.arg{}", name, a)));
  }
  const RunResult run = run_image(image, arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->cause;
  for (std::size_t r = 0; r < run.results.size(); ++r) {
    SCOPED_TRACE(fmt::format("result {}", r));
    expect_close(run.results[r], expected.at(fmt::format("{}.result{}", name, r)), relative);
  }
}

class RandomNumbers : public testing::TestWithParam<std::string> {};
class LinearAlgebra : public testing::TestWithParam<std::string> {};

TEST_P(RandomNumbers, AreThoseOfJax) {
  // Normal numbers go through a logarithm.
  const bool is_exact = !GetParam().ends_with("normal");
  expect_results_of_jax(GetParam(), is_exact ? 0 : 1e-5);
}

TEST_P(LinearAlgebra, AgreesWithJax) { expect_results_of_jax(GetParam(), 2e-5); }

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem();
}

INSTANTIATE_TEST_SUITE_P(Models, RandomNumbers, testing::ValuesIn(names("random")), test_name);
INSTANTIATE_TEST_SUITE_P(Models, LinearAlgebra, testing::ValuesIn(names("linear_algebra")),
                         test_name);

}  // namespace
}  // namespace superstep
