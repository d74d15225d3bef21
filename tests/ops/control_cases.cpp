#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

constexpr DType kI1 = DType::kI1, kI32 = DType::kI32, kF32 = DType::kF32;

HostTensor scalar(DType dtype, double value) { return numbers(dtype, {}, {value}); }

/// Doubles a vector, and counts, as long as its first element is less than the last operand.
OpCase doubling(const std::string& what, double limit, double trips,
                const std::vector<double>& doubled) {
  const std::vector<TensorType> types{{kI32, {}}, {kF32, {3}}, {kF32, {}}};
  const auto condition = [](std::span<const Tensor> a) {
    return std::vector{compare("LT", reshape(slice(a[1], {0}, {1}, {1}), {}), a[2])};
  };
  const auto body = [](std::span<const Tensor> a) { return std::vector{a[0] + 1, a[1] + a[1]}; };
  return {"stablehlo.while",
          what,
          {scalar(kI32, 0), vector_of(kF32, {1, 2, 3}), scalar(kF32, limit)},
          {},
          {scalar(kI32, trips), vector_of(kF32, doubled)},
          0,
          {region_of(types, condition), region_of(types, body)}};
}

OpCase counting(const std::string& what, double first, double last, double step, double sum) {
  const std::vector<TensorType> types{{kI32, {}}, {kI32, {}}, {kI32, {}}};
  const auto condition = [](std::span<const Tensor> a) {
    return std::vector{compare("GE", a[2], a[0])};
  };
  const auto body = [&](std::span<const Tensor> a) {
    return std::vector{a[0] + step, a[1] + a[0]};
  };
  const double end = first > last ? first : last + step;
  return {"stablehlo.while",
          what,
          {scalar(kI32, first), scalar(kI32, 0), scalar(kI32, last)},
          {},
          {scalar(kI32, end), scalar(kI32, sum)},
          0,
          {region_of(types, condition), region_of(types, body)}};
}

OpCase choice(const std::string& what, const HostTensor& selector,
              const std::vector<double>& expected) {
  const std::vector<TensorType> types{{kF32, {2}}};
  std::vector<Graph> regions{
      region_of(types, [](std::span<const Tensor> a) { return std::vector{a[0] * a[0]}; }),
      region_of(types, [](std::span<const Tensor> a) { return std::vector{a[0]}; }),
      region_of(types, [](std::span<const Tensor> a) { return std::vector{-a[0]}; })};
  const bool is_boolean = selector.type.dtype == kI1;
  if (is_boolean) regions.pop_back();
  return {is_boolean ? "stablehlo.if" : "stablehlo.case",
          what,
          {selector, vector_of(kF32, {3, -5})},
          {},
          {vector_of(kF32, expected)},
          0,
          std::move(regions)};
}

}  // namespace

std::vector<OpCase> control_cases() {
  return {doubling("tensors_decide", 20, 5, {32, 64, 96}),
          doubling("no_trip", 1, 0, {1, 2, 3}),
          counting("counts", 2, 11, 3, 2 + 5 + 8 + 11),
          counting("counts_no_trip", 2, -3, 3, 0),
          choice("first", scalar(kI32, 0), {9, 25}),
          choice("second", scalar(kI32, 1), {3, -5}),
          choice("last", scalar(kI32, 2), {-3, 5}),
          choice("past_the_last", scalar(kI32, 3), {-3, 5}),
          choice("below_the_first", scalar(kI32, -1), {-3, 5}),
          choice("far_below_the_first", scalar(kI32, -2147483648.0), {-3, 5}),
          choice("true", scalar(kI1, 1), {9, 25}),
          choice("false", scalar(kI1, 0), {3, -5})};
}

}  // namespace superstep
