#include "compiler/ops/dot_algorithm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

constexpr std::int64_t kDepth = 64;

/// As JAX prints a `precision` of two vectors' product.
Module product_by(const std::string& precision, int products) {
  return import_stablehlo(
      fmt::format(
          "func.func @main(%a: tensor<{0}xf32>, %b: tensor<{0}xf32>) -> tensor<f32> {{\n"
          "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], algorithm = "
          "<lhs_precision_type = {1}, rhs_precision_type = {1}, accumulation_type = f32, "
          "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {2}, "
          "allow_imprecise_accumulation = false> : (tensor<{0}xf32>, tensor<{0}xf32>) -> "
          "tensor<f32>\n"
          "return %0 : tensor<f32>\n}}",
          kDepth, precision, products),
      "product.mlir");
}

/// What tiles and the evaluator make of it.
std::vector<double> results_of(const Module& module, const HostTensor& a, const HostTensor& b) {
  const RunResult run = run_image(compile(module, load_machine("tiny4")), std::vector{a, b}, {});
  EXPECT_FALSE(run.trap);
  const Op& op = module.main.ops().back();
  return {read_float(run.results.at(0), 0),
          read_float(op.definition->evaluate(op, std::vector{a, b})[0], 0)};
}

struct Bound {
  std::string precision;
  int products;
  double relative;  ///< to the sum of the magnitudes of all products; without rounded sums
};

class DotAlgorithm : public testing::TestWithParam<Bound> {};

TEST_P(DotAlgorithm, IsAsExactAsItsPartsAndNotMore) {
  const auto& [precision, products, relative] = GetParam();
  const Module module = product_by(precision, products);
  std::mt19937 bits(1);
  double most = 0;
  for (int trial = 0; trial < 20; ++trial) {
    HostTensor a({DType::kF32, {kDepth}}), b({DType::kF32, {kDepth}});
    double exact = 0, magnitude = 0;
    for (std::size_t k = 0; k < kDepth; ++k) {
      for (HostTensor* x : {&a, &b}) write_float(*x, k, std::ldexp(bits(), -32) - 0.5);
      exact += read_float(a, k) * read_float(b, k);
      magnitude += std::abs(read_float(a, k) * read_float(b, k));
    }
    // Each product and each sum is rounded once, to 24 bits.
    const double rounding = (kDepth + products) * 0x1p-24;
    for (const double found : results_of(module, a, b)) {
      EXPECT_LE(std::abs(found - exact), (relative + rounding) * magnitude);
      most = std::max(most, std::abs(found - exact) / magnitude);
    }
  }
  EXPECT_GE(most, relative / 256);
}

TEST_P(DotAlgorithm, TakesInfinityForANumberWithoutOtherParts) {
  const auto& [precision, products, relative] = GetParam();
  std::vector<double> ones(kDepth, 1), infinite = ones;
  infinite[3] = std::numeric_limits<double>::infinity();
  const Module module = product_by(precision, products);
  const HostTensor x = vector_of(DType::kF32, infinite), y = vector_of(DType::kF32, ones);
  for (const double found : results_of(module, x, y)) EXPECT_EQ(found, infinite[3]);
}

// Errors of parts that are rounded, and products that are left out: docs/jax.md.
INSTANTIATE_TEST_SUITE_P(Presets, DotAlgorithm,
                         testing::Values(Bound{"bf16", 1, 0x1p-7 + 0x1p-16},
                                         Bound{"bf16", 3, 0x1p-13},
                                         Bound{"bf16", 6, 0x1p-20 + 0x1p-28}, Bound{"bf16", 9, 0},
                                         Bound{"tf32", 1, 0x1p-10 + 0x1p-22},
                                         Bound{"tf32", 3, 0x1p-19}),
                         [](const auto& info) {
                           return info.param.precision + "_" + std::to_string(info.param.products);
                         });

}  // namespace
}  // namespace superstep
