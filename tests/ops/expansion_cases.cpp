// Ops that are made of others. Values are worked out by hand.

#include <cmath>
#include <limits>

#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// With a variance of 1 the deviation is 2, with 13 it is 4.
constexpr double kEpsilonOfFirst = 3;

Attributes normalization(std::int64_t feature, double epsilon) {
  return {{"epsilon", epsilon}, {"feature_index", feature}};
}

OpCase is_inf(const std::string& name, DType dtype, const std::vector<double>& expected) {
  return {"chlo." + name,
          std::string(name_of(dtype)),
          {vector_of(dtype, {1, -0.0, kInf, -kInf, kNaN})},
          {},
          {vector_of(kI1, expected)},
          0,
          {}};
}

}  // namespace

std::vector<OpCase> expansion_cases() {
  // Two features along dimension 1 of three elements each.
  const HostTensor x = numbers(kF32, {3, 2}, {1, 3, 2, 5, 3, 7});
  const HostTensor scale = vector_of(kF32, {2, 3}), offset = vector_of(kF32, {10, 20});
  const HostTensor mean = vector_of(kF32, {2, 5}), variance = vector_of(kF32, {1, 1});
  // The features' own variances.
  const double first = 2.0 / 3, second = 8.0 / 3;
  const double down = 2 / std::sqrt(first + 0.5), wide = 6 / std::sqrt(second + 0.5);
  const HostTensor gradient = numbers(kF32, {3, 2}, {1, 0, 0, 0, 0, 3});
  return {
      is_inf("is_inf", kF32, {0, 0, 1, 1, 0}),
      is_inf("is_inf", kF16, {0, 0, 1, 1, 0}),
      is_inf("is_pos_inf", kF32, {0, 0, 1, 0, 0}),
      is_inf("is_neg_inf", kF16, {0, 0, 0, 1, 0}),
      {"stablehlo.batch_norm_inference",
       "LastFeature",
       {x, scale, offset, mean, variance},
       normalization(1, kEpsilonOfFirst),
       {numbers(kF32, {3, 2}, {9, 17, 10, 20, 11, 23})},
       0,
       {}},
      {"stablehlo.batch_norm_inference",
       "FirstFeatureF16",
       {numbers(kF16, {2, 2}, {1, 3, 5, 7}), vector_of(kF16, {2, 4}), vector_of(kF16, {0, 1}),
        vector_of(kF16, {2, 5}), vector_of(kF16, {1, 13})},
       normalization(0, kEpsilonOfFirst),
       {numbers(kF16, {2, 2}, {-1, 1, 1, 3})},
       0,
       {}},
      {"stablehlo.batch_norm_training",
       "LastFeature",
       {x, scale, offset},
       normalization(1, 0.5),
       {numbers(kF32, {3, 2}, {10 - down, 20 - wide, 10, 20, 10 + down, 20 + wide}), mean,
        vector_of(kF32, {first, second})},
       2,
       {}},
      {"stablehlo.batch_norm_grad",
       "LastFeature",
       {x, scale, mean, variance, gradient},
       normalization(1, kEpsilonOfFirst),
       // Deviations of 2: normalised elements are -1/2, 0, 1/2 and -1, 0, 1; the gradients of the
       // scales -1/2 and 3.
       {numbers(kF32, {3, 2},
                {1 - (1 + 0.25) / 3.0, 1.5 * (0 - (3 - 3) / 3.0), -1 / 3.0, 1.5 * (0 - 3 / 3.0),
                 -(1 - 0.25) / 3.0, 1.5 * (3 - (3 + 3) / 3.0)}),
        vector_of(kF32, {-0.5, 3}), vector_of(kF32, {1, 3})},
       2,
       {}},
  };
}

}  // namespace superstep
