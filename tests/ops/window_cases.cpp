// Expected values are worked out by hand, by JAX, or taken from the examples of the StableHLO
// specification.

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct WindowAttributes {
  Indices sizes, strides, padding, base = {}, dilations = {};
};

Attributes attributes_of(const WindowAttributes& window) {
  Attributes attributes{{"window_dimensions", window.sizes}};
  const auto add = [&](const char* name, const Indices& list) {
    if (!list.empty()) attributes[name] = list;
  };
  add("window_strides", window.strides);
  add("padding", window.padding);
  add("base_dilations", window.base);
  add("window_dilations", window.dilations);
  return attributes;
}

OpCase reduce_window(const std::string& what, std::vector<HostTensor> operands,
                     const WindowAttributes& window, Graph region,
                     std::vector<HostTensor> results) {
  return {"stablehlo.reduce_window", what, std::move(operands), attributes_of(window),
          std::move(results),        0,    {std::move(region)}};
}

/// What JAX prints for the gradient of a maximum: the first of the largest, a NaN for none.
OpCase select_and_scatter(const std::string& what, std::vector<HostTensor> operands,
                          const WindowAttributes& window, HostTensor result) {
  const DType dtype = result.type.dtype;
  Graph select = region_of({{dtype, {}}, {dtype, {}}}, [](std::span<const Tensor> a) {
    return std::vector{compare("GE", a[0], a[1])};
  });
  return {"stablehlo.select_and_scatter",
          what,
          std::move(operands),
          attributes_of(window),
          {std::move(result)},
          0,
          {std::move(select), binary_reducer("stablehlo.add", dtype)}};
}

struct ConvolutionAttributes {
  std::string dimensions;
  Indices strides = {}, padding = {}, base = {}, dilations = {}, reversal = {};
  std::int64_t feature_groups = 1, batch_groups = 1;
};

OpCase convolution(const std::string& what, HostTensor image, HostTensor kernel,
                   const ConvolutionAttributes& has, HostTensor result) {
  Attributes attributes{{"dimension_numbers", has.dimensions},
                        {"feature_group_count", has.feature_groups},
                        {"batch_group_count", has.batch_groups}};
  const auto add = [&](const char* name, const Indices& list) {
    if (!list.empty()) attributes[name] = list;
  };
  add("window_strides", has.strides);
  add("padding", has.padding);
  add("lhs_dilation", has.base);
  add("rhs_dilation", has.dilations);
  add("window_reversal", has.reversal);
  return {"stablehlo.convolution",
          what,
          {std::move(image), std::move(kernel)},
          std::move(attributes),
          {std::move(result)},
          0,
          {}};
}

/// The lesser of two pairs by their first numbers, of equal ones the first.
Graph lesser_pair() {
  return region_of({{kF32, {}}, {kI32, {}}, {kF32, {}}, {kI32, {}}}, [](std::span<const Tensor> a) {
    const Tensor is_first = compare("LE", a[0], a[2]);
    return std::vector{select(is_first, a[0], a[2]), select(is_first, a[1], a[3])};
  });
}

std::vector<OpCase> reduce_window_cases() {
  const auto scalar = [](double value) { return i32({}, {value}); };
  const Graph add = binary_reducer("stablehlo.add", kI32);
  const Graph max = binary_reducer("stablehlo.maximum", kF32);
  const HostTensor spec = i32({3, 2}, {1, 2, 3, 4, 5, 6});
  const HostTensor ramp = i32({5}, {1, 2, 3, 4, 5});
  const HostTensor nine = i32({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const HostTensor low = numbers(kF32, {}, {-kInf});
  const HostTensor plane = i32({4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  return {
      reduce_window("SpecExample", {spec, scalar(0)},
                    {{2, 1}, {4, 1}, {2, 1, 0, 0}, {2, 1}, {3, 1}}, add,
                    {i32({2, 2}, {0, 0, 3, 4})}),
      // JAX on a CPU gives these.
      reduce_window("StartsFromTheInitialValueOnce", {ramp, scalar(10)}, {{3}, {}, {2, 2}}, add,
                    {i32({7}, {11, 13, 16, 19, 22, 19, 15})}),
      reduce_window("OfPaddingAlone", {i32({2}, {1, 2}), scalar(7)}, {{2}, {2}, {4, 0}}, add,
                    {i32({3}, {7, 7, 10})}),
      reduce_window("RunningSum", {ramp, scalar(0)}, {{5}, {}, {4, 0}}, add,
                    {i32({5}, {1, 3, 6, 10, 15})}),
      reduce_window("RunningSumBackwards", {spec, scalar(1)}, {{3, 1}, {}, {0, 2, 0, 0}}, add,
                    {i32({3, 2}, {10, 13, 9, 11, 6, 7})}),
      reduce_window("RunningSumBeyondTheEnd", {ramp, scalar(0)}, {{8}, {}, {7, 0}}, add,
                    {i32({5}, {1, 3, 6, 10, 15})}),
      reduce_window("RunningSumOfHalvesInF32",
                    {numbers(kF16, {4}, {2048, 1, 1, 2}), numbers(kF16, {}, {0})},
                    {{4}, {}, {3, 0}}, binary_reducer("stablehlo.add", kF16),
                    {numbers(kF16, {4}, {2048, 2048, 2050, 2052})}),
      reduce_window("LongWindows", {nine, scalar(0)}, {{6}, {}, {2, 3}}, add,
                    {i32({9}, {10, 15, 21, 27, 33, 39, 35, 30, 24})}),
      reduce_window("LongWindowsWithSteps", {nine, scalar(0)}, {{6}, {2}, {2, 3}}, add,
                    {i32({5}, {10, 21, 33, 35, 24})}),
      reduce_window("LastOfEach", {nine, scalar(0)}, {{5}, {}, {2, 3}}, replacing_reducer(kI32),
                    {i32({10}, {3, 4, 5, 6, 7, 8, 9, 9, 9, 9})}),
      reduce_window("ThatDoNotMeet", {plane, scalar(1)}, {{2, 2}, {2, 2}, {}}, add,
                    {i32({2, 2}, {15, 23, 47, 55})}),
      reduce_window("WholeTensor", {plane, scalar(1)}, {{4, 4}, {}, {}}, add, {i32({1, 1}, {137})}),
      reduce_window("WithLessThanTheTensor", {plane, scalar(0)}, {{2, 2}, {2, 2}, {-1, 0, 0, -1}},
                    add, {i32({1, 1}, {30})}),
      reduce_window("KeepsNaN", {numbers(kF32, {3, 3}, {1, -2, 3, 4, kNaN, 6, -7, -8, -9}), low},
                    {{3, 2}, {2, 1}, {1, 1, 1, 0}}, max,
                    {numbers(kF32, {2, 3}, {4, kNaN, kNaN, 4, kNaN, kNaN})}),
      reduce_window("Several",
                    {numbers(kF32, {4}, {3, 1, 1, 2}), i32({4}, {10, 11, 12, 13}),
                     numbers(kF32, {}, {kInf}), scalar(0)},
                    {{3}, {}, {1, 1}}, lesser_pair(),
                    {numbers(kF32, {4}, {1, 1, 1, 1}), i32({4}, {11, 11, 11, 12})}),
      reduce_window("FarBeyondTheTensor", {ramp, scalar(1)},
                    {{1 << 12}, {1 << 11}, {1 << 12, (1 << 12) - 1}}, add, {i32({3}, {1, 16, 16})}),
      reduce_window("OfAScalar", {scalar(3), scalar(4)}, {{}, {}, {}}, add, {scalar(7)}),
      reduce_window("WithoutWindows", {ramp, scalar(0)}, {{6}, {}, {}}, add, {i32({0}, {})}),
      reduce_window("OfNothing", {i32({0}, {}), scalar(5)}, {{2}, {}, {1, 2}}, add,
                    {i32({2}, {5, 5})}),
      reduce_window("OfBooleans", {numbers(kI1, {4}, {0, 0, 1, 0}), numbers(kI1, {}, {0})},
                    {{2}, {}, {}}, binary_reducer("stablehlo.or", kI1),
                    {numbers(kI1, {3}, {0, 1, 1})}),
      reduce_window("OfWideIntegers",
                    {numbers(kI64, {3}, {4294967295.0, 1, 2}), numbers(kI64, {}, {0})},
                    {{3}, {}, {2, 0}}, binary_reducer("stablehlo.add", kI64),
                    {numbers(kI64, {3}, {4294967295.0, 4294967296.0, 4294967298.0})}),
  };
}

std::vector<OpCase> select_and_scatter_cases() {
  const HostTensor zero = i32({}, {0});
  return {
      select_and_scatter("SpecExample",
                         {i32({4, 2}, {1, 5, 2, 5, 3, 6, 4, 4}), i32({2, 2}, {5, 6, 7, 8}), zero},
                         {{3, 1}, {2, 1}, {0, 1, 0, 0}}, i32({4, 2}, {0, 0, 0, 0, 5, 14, 7, 0})),
      select_and_scatter("FirstOfEqualOnes",
                         {i32({6}, {4, 4, 1, 1, 2, 3}), i32({3}, {1, 2, 3}), i32({}, {10})},
                         {{2}, {2}, {}}, i32({6}, {11, 10, 12, 10, 10, 13})),
      select_and_scatter("WindowsThatMeet",
                         {i32({5}, {1, 9, 2, 3, 0}), i32({4}, {1, 2, 4, 8}), zero}, {{2}, {}, {}},
                         i32({5}, {0, 3, 0, 12, 0})),
      select_and_scatter("PaddingIsNeverSelected",
                         {i32({3}, {-5, -6, -4}), i32({3}, {1, 2, 4}), zero}, {{3}, {}, {1, 1}},
                         i32({3}, {1, 0, 6})),
      select_and_scatter(
          "WithSteps",
          {i32({3, 5}, {0, 1, 2, 3, 4, 9, 8, 7, 6, 5, 1, 2, 3, 4, 5}), i32({1, 2}, {3, 7}), zero},
          {{2, 2}, {4, 3}, {}}, i32({3, 5}, {0, 0, 0, 0, 0, 3, 0, 0, 7, 0, 0, 0, 0, 0, 0})),
      select_and_scatter("NaN",
                         {numbers(kF32, {6}, {kNaN, 1, 2, kNaN, 1, 3}), numbers(kF32, {2}, {5, 7}),
                          numbers(kF32, {}, {0})},
                         {{3}, {3}, {}}, numbers(kF32, {6}, {0, 0, 5, 0, 0, 7})),
      select_and_scatter("OfNothing", {i32({1}, {3}), i32({0}, {}), i32({}, {4})}, {{2}, {}, {}},
                         i32({1}, {4})),
  };
}

std::vector<OpCase> convolution_cases() {
  const HostTensor spec =
      i32({1, 4, 4, 1}, {1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15, 12, 13, 16, 17});
  const HostTensor ones = i32({3, 3, 1, 1}, std::vector<double>(9, 1));
  const std::string plane = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  const std::string line = "[b, 0, f]x[0, i, o]->[b, 0, f]";
  const HostTensor ramp = i32({1, 4, 1}, {1, 2, 3, 4});
  std::vector<double> ones_and_twos(142, 1);
  std::fill(ones_and_twos.begin() + 71, ones_and_twos.end(), 2);
  return {
      convolution("SpecExample", spec, ones, {plane, {4, 4}, {}, {2, 2}},
                  i32({1, 2, 2, 1}, {10, 26, 46, 62})),
      convolution("Padded", spec, ones, {plane, {4, 4}, {1, 1, 1, 1}, {2, 2}},
                  i32({1, 2, 2, 1}, {1, 5, 10, 14})),
      convolution("FeatureGroups", spec, i32({1, 2, 1, 4}, std::vector<double>(8, 1)),
                  {"#stablehlo.conv<[b, 0, f, 1]x[0, i, 1, o]->[b, 0, 1, f]>",
                   {4, 4},
                   {},
                   {2, 2},
                   {},
                   {},
                   2},
                  i32({1, 2, 1, 4}, {3, 3, 11, 11, 21, 21, 29, 29})),
      convolution("BatchGroups", spec, i32({1, 2, 1, 4}, std::vector<double>(8, 1)),
                  {"[0, b, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", {4, 4}, {}, {2, 2}, {}, {}, 1, 4},
                  i32({1, 1, 2, 4}, {1, 3, 10, 12, 5, 7, 14, 16})),
      convolution("Correlates", ramp, i32({2, 1, 1}, {1, 10}), {line},
                  i32({1, 3, 1}, {21, 32, 43})),
      convolution("Reversed", ramp, i32({2, 1, 1}, {1, 10}), {line, {}, {}, {}, {}, {1}},
                  i32({1, 3, 1}, {12, 23, 34})),
      convolution("DilatedWithLess", ramp, i32({2, 1, 1}, {1, 10}), {line, {}, {-1, 2}, {}, {2}},
                  i32({1, 3, 1}, {42, 3, 4})),
      // A gradient of a kernel: more places in the kernel than in the result.
      convolution("FewPlacesOfTheResult", ramp, i32({3, 1, 2}, {1, 0, 10, 1, 100, 2}), {line},
                  i32({1, 2, 2}, {321, 8, 432, 11})),
      convolution("ManyFeatures", i32({1, 3, 9}, std::vector<double>(27, 1)),
                  i32({2, 9, 1}, std::vector<double>(18, 2)), {line}, i32({1, 2, 1}, {36, 36})),
      convolution("OfHalvesInF32", numbers(kF16, {1, 3, 1}, {2048, 1, 1}),
                  numbers(kF16, {3, 1, 1}, {1, 1, 1}), {line}, numbers(kF16, {1, 1, 1}, {2050})),
      // JAX on a CPU gives these: padding is multiplied like elements.
      convolution("OfInfinitiesWithPadding", numbers(kF32, {1, 4, 1}, {1, 1, 1, 1}),
                  numbers(kF32, {3, 1, 1}, {kInf, 1, 1}), {line, {}, {1, 1}},
                  numbers(kF32, {1, 4, 1}, {kNaN, kInf, kInf, kInf})),
      convolution("OfInfinitiesFeaturesApartWithPadding", numbers(kF32, {1, 2, 2}, {1, 1, 1, 1}),
                  numbers(kF32, {2, 1, 2}, {1, 1, 1, kInf}), {line, {}, {0, 1}, {}, {}, {}, 2},
                  numbers(kF32, {1, 2, 2}, {2, kInf, 1, kNaN})),
      convolution("OfBytesAsWords", numbers(kI8, {1, 2, 1}, {100, 50}),
                  numbers(kI8, {2, 1, 1}, {100, -100}), {line}, i32({1, 1, 1}, {5000})),
      // Gradients of images where a convolution has a stride.
      convolution("SeesGapsThroughPartsOfTheKernel", ramp, i32({3, 1, 1}, {1, 10, 100}),
                  {line, {}, {1, 1}, {2}}, i32({1, 7, 1}, {10, 201, 20, 302, 30, 403, 40})),
      convolution("SeesLessThanTheGaps", ramp, i32({1, 1, 1}, {10}), {line, {}, {1, 0}, {3}},
                  i32({1, 11, 1}, {0, 10, 0, 0, 20, 0, 0, 30, 0, 0, 40})),
      convolution("FeaturesApart", i32({1, 3, 2}, {1, 2, 3, 4, 5, 6}),
                  i32({2, 1, 2}, {1, 10, 100, 1000}), {line, {}, {}, {}, {}, {}, 2},
                  i32({1, 2, 2}, {301, 4020, 503, 6040})),
      convolution("FeaturesApartWithGaps", i32({1, 3, 2}, {1, 2, 3, 4, 5, 6}),
                  i32({2, 1, 2}, {1, 10, 100, 1000}), {line, {}, {}, {2}, {}, {}, 2},
                  i32({1, 4, 2}, {1, 20, 300, 4000, 3, 40, 500, 6000})),
      convolution("FewWindowsOfEachFeature", i32({2, 71, 1}, ones_and_twos),
                  i32({70, 1, 2}, std::vector<double>(140, 1)), {line, {}, {}, {}, {}, {}, 1, 2},
                  i32({1, 2, 2}, {70, 140, 70, 140})),
      convolution("WithoutPlaces", i32({2, 3}, {1, 2, 3, 4, 5, 6}), i32({3, 1}, {1, 2, 3}),
                  {"[b, f]x[i, o]->[b, f]"}, i32({2, 1}, {14, 32})),
      convolution("OfNothing", i32({1, 2, 0}, {}), i32({1, 0, 2}, {}), {line},
                  i32({1, 2, 2}, {0, 0, 0, 0})),
      convolution("WithoutResults", ramp, i32({5, 1, 1}, {1, 1, 1, 1, 1}), {line},
                  i32({1, 0, 1}, {})),
  };
}

}  // namespace

std::vector<OpCase> window_cases() {
  std::vector<OpCase> all = reduce_window_cases();
  for (const auto& family : {select_and_scatter_cases(), convolution_cases()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace superstep
