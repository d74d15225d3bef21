// Sorting. Values are worked out by hand.

#include <limits>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor in_total_order(const char* direction, Tensor a, Tensor b) {
  Op op;
  op.attributes = {{"comparison_direction", std::string(direction)},
                   {"compare_type", std::string("TOTALORDER")}};
  return a.builder->apply(kCompareOp, {a, b}, std::move(op));
}

/// As JAX has a float: one zero and one NaN.
Tensor canonical(Tensor x) {
  const Tensor one_zero = select(x == 0.0, x.like(0), x);
  return select(compare("NE", x, x), x.like(kNaN), one_zero);
}

/// The comparator that JAX prints for operands of which the first `keys` decide, all floats.
Graph ascending_floats(const std::vector<DType>& dtypes, std::size_t keys) {
  std::vector<TensorType> types;
  for (const DType dtype : dtypes) types.insert(types.end(), 2, {dtype, {}});
  return region_of(types, [&](std::span<const Tensor> a) {
    std::optional<Tensor> before;
    for (std::size_t i = keys; i-- > 0;) {
      const Tensor x = canonical(a[2 * i]), y = canonical(a[2 * i + 1]);
      const Tensor less = in_total_order("LT", x, y);
      before = before ? less | (in_total_order("EQ", x, y) & *before) : less;
    }
    return std::vector{*before};
  });
}

Graph by_first(const char* direction, const std::vector<DType>& dtypes) {
  std::vector<TensorType> types;
  for (const DType dtype : dtypes) types.insert(types.end(), 2, {dtype, {}});
  return region_of(types, [&](std::span<const Tensor> a) {
    return std::vector{compare(direction, a[0], a[1])};
  });
}

Attributes along(std::int64_t dimension) { return {{"dimension", dimension}, {"is_stable", true}}; }

/// Integers that are equal modulo 4 are ties.
Graph by_two_bits() {
  return region_of({{kI32, {}}, {kI32, {}}}, [](std::span<const Tensor> a) {
    const Tensor x = a[0] & a[0].like(3), y = a[1] & a[1].like(3);
    return std::vector{(x - y) < 0.0};
  });
}

/// Elements are their own numbers modulo `n`.
HostTensor iota_modulo(const Shape& shape, std::int64_t n) {
  HostTensor tensor(TensorType{kF32, shape});
  for (std::int64_t i = 0; i < tensor.type.elements(); ++i) {
    write_float(tensor, static_cast<std::size_t>(i), static_cast<double>(i % n));
  }
  return tensor;
}

OpCase top_k(const std::string& what, HostTensor x, std::int64_t k, HostTensor values,
             HostTensor indices) {
  return {"chlo.top_k",
          what,
          {std::move(x)},
          {{"k", k}},
          {std::move(values), std::move(indices)},
          0,
          {}};
}

std::vector<OpCase> top_k_cases() {
  const auto scalar = [](DType dtype, double value) { return numbers(dtype, {}, {value}); };
  const auto approximate = [&](const std::string& what, const std::string& aggregates,
                               std::vector<HostTensor> expected) {
    return OpCase{"stablehlo.custom_call",
                  what,
                  {numbers(kF32, {4, 2}, {1, -1, 3, 0, 2, 5, 3, 2}),
                   i32({4, 2}, {0, 0, 1, 1, 2, 2, 3, 3}), scalar(kF32, -kInf), scalar(kI32, -1)},
                  {{"call_target_name", std::string("ApproxTopK")},
                   {"mhlo.backend_config", "{aggregate_to_topk = " + aggregates +
                                               ", reduction_dim = 0 : i64, top_k = 2 : i64}"}},
                  std::move(expected),
                  0,
                  {by_first("GT", {kF32, kI32})}};
  };
  return {
      top_k("OfRows", numbers(kF32, {2, 4}, {1, 3, 2, 3, -1, -2, -4, -3}), 2,
            numbers(kF32, {2, 2}, {3, 3, -1, -2}), i32({2, 2}, {1, 3, 0, 1})),
      top_k("InTotalOrder", bits_of(kF16, {0x8000, 0, 0x7e00, 0xfe00, 0x7c00, 0xfc00}), 6,
            bits_of(kF16, {0x7e00, 0x7c00, 0, 0x8000, 0xfc00, 0xfe00}),
            vector_of(kI32, {2, 4, 1, 0, 5, 3})),
      top_k("Unsigned", vector_of(kU32, {7, 4294967295.0, 0}), 1, vector_of(kU32, {4294967295.0}),
            vector_of(kI32, {1})),
      // Few of many are taken one after the other.
      top_k("FewInTotalOrder",
            bits_of(kF16, {0, 0x8000, 0x3c00, 0xfe00, 0, 0x8000, 0xbc00, 0xfc00, 0, 0, 0, 0, 0, 0,
                           0x7e00, 0x3c00}),
            2, bits_of(kF16, {0x7e00, 0x3c00}), vector_of(kI32, {14, 2})),
      // Few of very many are in few blocks, which are found first. Places of equal ones ascend.
      top_k("FewOfManyEqual", iota_modulo({3000}, 7), 8, vector_of(kF32, std::vector(8, 6.0)),
            vector_of(kI32, {6, 13, 20, 27, 34, 41, 48, 55})),
      top_k("FewOfManyInBatches", iota_modulo({3, 1009}, 11), 3,
            numbers(kF32, {3, 3}, std::vector(9, 10.0)),
            i32({3, 3}, {10, 21, 32, 2, 13, 24, 5, 16, 27})),
      top_k("FewOfTheLowest", vector_of(kI32, std::vector<double>(16, -2147483648.0)), 2,
            vector_of(kI32, {-2147483648.0, -2147483648.0}), vector_of(kI32, {0, 1})),
      top_k("None", vector_of(kI64, {7, 8}), 0, vector_of(kI64, {}), vector_of(kI32, {})),
      approximate("ApproxTopK", "true",
                  {numbers(kF32, {2, 2}, {3, 5, 3, 2}), i32({2, 2}, {1, 2, 3, 3})}),
      approximate("ApproxTopKOfMore", "false",
                  {numbers(kF32, {3, 2}, {3, 5, 3, 2, 2, 0}), i32({3, 2}, {1, 2, 3, 3, 2, 1})}),
  };
}

std::vector<OpCase> cases_of_sort() {
  const auto sort = [](const std::string& what, std::int64_t dimension, Graph comparator,
                       std::vector<HostTensor> operands, std::vector<HostTensor> expected) {
    return OpCase{"stablehlo.sort",    what, std::move(operands),    along(dimension),
                  std::move(expected), 0,    {std::move(comparator)}};
  };
  return {
      sort("ZerosAndNaNs", 0, ascending_floats({kF32, kI32}, 1),
           {vector_of(kF32, {0.0, kNaN, -kInf, 2, -0.0, kInf, -3, -kNaN, 0.0}),
            vector_of(kI32, {0, 1, 2, 3, 4, 5, 6, 7, 8})},
           {vector_of(kF32, {-kInf, -3, 0.0, -0.0, 0.0, 2, kInf, kNaN, -kNaN}),
            vector_of(kI32, {2, 6, 0, 4, 8, 3, 5, 1, 7})}),
      sort("TwoKeys", 0, ascending_floats({kF16, kBF16}, 2),
           {vector_of(kF16, {2, 1, 2, 1}), vector_of(kBF16, {4, 3, -1, 7})},
           {vector_of(kF16, {1, 1, 2, 2}), vector_of(kBF16, {3, 7, -1, 4})}),
      // Rows (3, 1), (2, 2), (1, 3) in each column, by the first operand from the largest.
      sort("OuterDimension", -2, by_first("GT", {kI32, kU8}),
           {i32({3, 2}, {1, 3, 2, 2, 3, 1}), numbers(kU8, {3, 2}, {10, 30, 20, 20, 30, 10})},
           {i32({3, 2}, {3, 3, 2, 2, 1, 1}), numbers(kU8, {3, 2}, {30, 30, 20, 20, 10, 10})}),
      sort("MiddleDimension", 1, by_first("LT", {kI8}),
           {numbers(kI8, {2, 2, 2}, {1, -1, 0, 0, 5, 6, 7, -128})},
           {numbers(kI8, {2, 2, 2}, {0, -1, 1, 0, 5, -128, 7, 6})}),
      sort("Booleans", 0, by_first("LT", {kI1}), {vector_of(kI1, {1, 0, 1, 0, 0})},
           {vector_of(kI1, {0, 0, 0, 1, 1})}),
      sort("TiesOfAnyFunction", 0, by_two_bits(), {vector_of(kI32, {7, 4, 3, 8, 6, 1})},
           {vector_of(kI32, {4, 8, 1, 6, 7, 3})}),
      sort("NumbersThatAreEqual", 0, by_first("LT", {kF32}), {vector_of(kF32, {0.0, -0.0, -1})},
           {vector_of(kF32, {-1, 0.0, -0.0})}),
      sort("WideIntegers", 0, by_first("LT", {kI64, kF64}),
           {vector_of(kI64, {5e9, -5e9, 7}), vector_of(kF64, {0.1, 0.2, 0.3})},
           {vector_of(kI64, {-5e9, 7, 5e9}), vector_of(kF64, {0.2, 0.3, 0.1})}),
      sort("One", 1, by_first("GT", {kU16}), {numbers(kU16, {2, 1}, {65535, 3})},
           {numbers(kU16, {2, 1}, {65535, 3})}),
      sort("None", 0, by_first("LT", {kF32}), {numbers(kF32, {0, 2}, {})},
           {numbers(kF32, {0, 2}, {})}),
  };
}

}  // namespace

std::vector<OpCase> sort_cases() {
  std::vector<OpCase> all = cases_of_sort();
  const std::vector<OpCase> largest = top_k_cases();
  all.insert(all.end(), largest.begin(), largest.end());
  return all;
}

}  // namespace superstep
