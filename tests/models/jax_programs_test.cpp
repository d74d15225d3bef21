#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/jax_results.h"

namespace superstep {
namespace {

const std::filesystem::path kHere = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "tests/models";

/// `folder/name` of the modules of some folders.
std::vector<std::string> modules(const std::vector<std::string>& folders) {
  std::vector<std::string> modules;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(kHere / folder)) {
      if (entry.path().extension() == ".mlir") {
        modules.push_back(folder + "/" + entry.path().stem().string());
      }
    }
  }
  std::ranges::sort(modules);
  return modules;
}

/// Runs a module of a folder that has `arguments.h5` and `results.h5`.
void expect_results_of_jax(const std::string& module, const Tolerance& tolerance) {
  const std::filesystem::path path = kHere / module, folder = path.parent_path();
  const std::string prefix = path.filename().string() + ".";
  const ProgramImage image = compile_file(path.string() + ".mlir", load_machine("tiny4"));
  expect_results(run_on(image, read_tensors(folder / "arguments.h5"), {}, prefix),
                 read_tensors(folder / "results.h5"), tolerance, prefix);
}

/// Relative, but for numbers below one absolute.
Tolerance relative_from_one(double relative) {
  return [=](DType, double magnitude) { return relative * std::max(1.0, magnitude); };
}

double by_type(DType dtype, double magnitude) {
  const double relative = dtype == DType::kF16 ? 2e-3 : dtype == DType::kF64 ? 1e-14 : 1e-5;
  return relative_from_one(relative)(dtype, magnitude);
}

class RandomNumbers : public ::testing::TestWithParam<std::string> {};
class LinearAlgebra : public ::testing::TestWithParam<std::string> {};
class JaxPrograms : public ::testing::TestWithParam<std::string> {};

TEST_P(RandomNumbers, AreThoseOfJax) {
  // Normal numbers go through a logarithm.
  const bool is_exact = !GetParam().ends_with("normal");
  expect_results_of_jax(GetParam(), is_exact ? Tolerance{} : relative_from_one(1e-5));
}

TEST_P(LinearAlgebra, AgreesWithJax) { expect_results_of_jax(GetParam(), relative_from_one(2e-5)); }

TEST_P(JaxPrograms, AgreeWithJax) { expect_results_of_jax(GetParam(), by_type); }

TEST(Functions, OfBothFloatTypesAgreeWithJax) {
  const std::filesystem::path folder = kHere / "functions";
  const ProgramImage image = compile_file(folder / "functions.mlir", load_machine("tiny4"));
  // JAX itself is off by some units in the last place.
  const auto tolerance = [](DType dtype, double magnitude) {
    return (dtype == DType::kF16 ? 2e-3 : 2e-6) * magnitude;
  };
  expect_results(run_on(image, read_tensors(folder / "input.h5")),
                 read_tensors(folder / "expected.h5"), tolerance);
}

std::string file_name(const ::testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).filename();
}

INSTANTIATE_TEST_SUITE_P(Models, RandomNumbers, ::testing::ValuesIn(modules({"random"})),
                         file_name);
INSTANTIATE_TEST_SUITE_P(Models, LinearAlgebra,
                         ::testing::ValuesIn(modules({"linear_algebra", "matrices"})), file_name);
INSTANTIATE_TEST_SUITE_P(Models, JaxPrograms,
                         ::testing::ValuesIn(modules({"control", "fourier", "indexing"})),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace superstep
