// Expected values are worked out by hand, or taken from the examples of the StableHLO
// specification.

#include <limits>

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// a * 2 + b, which shows the order of the elements.
Graph shift_in() {
  return region_of({{kI32, {}}, {kI32, {}}},
                   [](std::span<const Tensor> a) { return std::vector{a[0] * 2 + a[1]}; });
}

OpCase reduce(const std::string& what, std::vector<HostTensor> operands, const Indices& dimensions,
              Graph region, std::vector<HostTensor> expected) {
  return {"stablehlo.reduce",  what, std::move(operands), {{"dimensions", dimensions}},
          std::move(expected), 0,    {std::move(region)}};
}

OpCase dot(const std::string& what, HostTensor lhs, HostTensor rhs, const Indices& lhs_batch,
           const Indices& rhs_batch, const Indices& lhs_contract, const Indices& rhs_contract,
           HostTensor result) {
  return {"stablehlo.dot_general",
          what,
          {std::move(lhs), std::move(rhs)},
          {{"lhs_batching_dimensions", lhs_batch},
           {"rhs_batching_dimensions", rhs_batch},
           {"lhs_contracting_dimensions", lhs_contract},
           {"rhs_contracting_dimensions", rhs_contract}},
          {std::move(result)},
          0,
          {}};
}

/// The product of two vectors, by the algorithm that its operands have.
OpCase dot_by_algorithm(DType dtype, const char* sums) {
  const std::string name(name_of(dtype));
  OpCase product = dot("ByAlgorithm_" + name, vector_of(dtype, {1, 2, 3}),
                       vector_of(dtype, {4, 5, 6}), {}, {}, {0}, {0}, numbers(dtype, {}, {32}));
  product.attributes.insert({{"lhs_precision_type", name},
                             {"rhs_precision_type", name},
                             {"accumulation_type", std::string(sums)},
                             {"lhs_component_count", std::int64_t{1}},
                             {"rhs_component_count", std::int64_t{1}},
                             {"num_primitive_operations", std::int64_t{1}},
                             {"allow_imprecise_accumulation", true}});
  return product;
}

constexpr double kOf24Bits = 1 + 0x1p-8 + 0x1p-15 + 0x1p-23;

/// The product of two numbers of 24 bits by parts of these, f32 sums.
OpCase dot_by_parts(const std::string& precision, std::int64_t products, double x, double y,
                    double expected) {
  OpCase product =
      dot("ByParts_" + precision + "_" + std::to_string(products), vector_of(kF32, {x}),
          vector_of(kF32, {y}), {}, {}, {0}, {0}, numbers(kF32, {}, {expected}));
  product.attributes.insert({{"lhs_precision_type", precision},
                             {"rhs_precision_type", precision},
                             {"accumulation_type", std::string("f32")},
                             {"lhs_component_count", std::int64_t{1}},
                             {"rhs_component_count", std::int64_t{1}},
                             {"num_primitive_operations", products},
                             {"allow_imprecise_accumulation", false}});
  return product;
}

/// A sum whose second operand is broadcast from a scalar to a scalar, as JAX prints it.
Graph reducer_with_broadcast() {
  Graph region;
  const ValueId a = region.add_argument({kF32, {}}, "a");
  Op broadcast;
  broadcast.definition = find_op("stablehlo.broadcast_in_dim");
  broadcast.attributes = {{"broadcast_dimensions", Indices{}}};
  broadcast.operands = {region.add_argument({kF32, {}}, "b")};
  broadcast.declared = {{kF32, {}}};
  Op add;
  add.definition = find_op("stablehlo.add");
  add.operands = {a, region.add_op(std::move(broadcast)).results[0]};
  region.set_results(region.add_op(std::move(add)).results);
  return region;
}

OpCase iota(const std::string& what, std::int64_t dimension, HostTensor result) {
  return {"stablehlo.iota", what, {}, {{"iota_dimension", dimension}}, {result}, 0, {}};
}

}  // namespace

std::vector<OpCase> contraction_cases() {
  const HostTensor x = numbers(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const HostTensor zero = numbers(kF32, {}, {0});
  const HostTensor cube = numbers(kI32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const HostTensor lowest = numbers(kF32, {}, {-std::numeric_limits<double>::infinity()});
  return {
      {"stablehlo.constant", "Tensor", {}, {{"value", x}}, {x}, 0, {}},
      iota("SpecExample", 0, numbers(kI32, {4, 2}, {0, 0, 1, 1, 2, 2, 3, 3})),
      iota("LastDimensionFloat", 1, numbers(kF16, {2, 3}, {0, 1, 2, 0, 1, 2})),
      reduce("Rows", {x, zero}, {1}, binary_reducer("stablehlo.add", kF32),
             {vector_of(kF32, {6, 15})}),
      reduce("ByBroadcastScalars", {x, zero}, {1}, reducer_with_broadcast(),
             {vector_of(kF32, {6, 15})}),
      reduce("Columns", {x, numbers(kF32, {}, {1})}, {0}, binary_reducer("stablehlo.add", kF32),
             {vector_of(kF32, {6, 8, 10})}),
      reduce("All", {x, zero}, {0, 1}, binary_reducer("stablehlo.add", kF32),
             {numbers(kF32, {}, {21})}),
      reduce("FloatSumsRoundOnce", {vector_of(kF32, {16777216, 1, 1}), zero}, {0},
             binary_reducer("stablehlo.add", kF32), {numbers(kF32, {}, {16777218})}),
      reduce("NoDimension", {x, zero}, {}, binary_reducer("stablehlo.add", kF32), {x}),
      reduce("EmptyGivesTheInitialValue", {numbers(kI8, {0, 2}, {}), numbers(kI8, {}, {7})}, {0},
             binary_reducer("stablehlo.add", kI8), {vector_of(kI8, {7, 7})}),
      reduce("Maximum", {vector_of(kF32, {1, kNaN, 3}), lowest}, {0},
             binary_reducer("stablehlo.maximum", kF32), {numbers(kF32, {}, {kNaN})}),
      reduce("Wraps", {vector_of(kI8, {100, 100}), numbers(kI8, {}, {0})}, {0},
             binary_reducer("stablehlo.add", kI8), {numbers(kI8, {}, {-56})}),
      reduce("OneElementBehindItsInitialValue",
             {numbers(kF32, {2, 1}, {5, 7}), numbers(kF32, {}, {1})}, {1},
             binary_reducer("stablehlo.subtract", kF32), {vector_of(kF32, {-4, -6})}),
      reduce("Or", {numbers(kI1, {2, 2}, {0, 0, 0, 1}), numbers(kI1, {}, {0})}, {1},
             binary_reducer("stablehlo.or", kI1), {vector_of(kI1, {0, 1})}),
      reduce("AnyOfMany", {numbers(kI1, {2, 3}, {0, 0, 0, 0, 1, 0}), numbers(kI1, {}, {0})}, {0, 1},
             binary_reducer("stablehlo.or", kI1), {numbers(kI1, {}, {1})}),
      reduce("NoneOfMany", {numbers(kI1, {2, 3}, {0, 0, 0, 0, 0, 0}), numbers(kI1, {}, {0})},
             {0, 1}, binary_reducer("stablehlo.or", kI1), {numbers(kI1, {}, {0})}),
      reduce("AllOfMany", {vector_of(kI1, {1, 1, 1}), numbers(kI1, {}, {1})}, {0},
             binary_reducer("stablehlo.and", kI1), {numbers(kI1, {}, {1})}),
      reduce("NotAllOfMany", {vector_of(kI1, {1, 0, 1}), numbers(kI1, {}, {1})}, {0},
             binary_reducer("stablehlo.and", kI1), {numbers(kI1, {}, {0})}),
      reduce("AnyBesidesTheInitialValue", {vector_of(kI1, {0, 0}), numbers(kI1, {}, {1})}, {0},
             binary_reducer("stablehlo.or", kI1), {numbers(kI1, {}, {1})}),
      reduce("AnyOfNothing", {numbers(kI1, {0}, {}), numbers(kI1, {}, {1})}, {0},
             binary_reducer("stablehlo.or", kI1), {numbers(kI1, {}, {1})}),
      reduce("AscendingOrder", {vector_of(kI32, {1, 0, 1}), numbers(kI32, {}, {1})}, {0},
             shift_in(), {numbers(kI32, {}, {13})}),
      reduce("OuterDimensionsInOrder", {cube, numbers(kI32, {}, {0})}, {0, 2}, shift_in(),
             {vector_of(kI32, {1 * 8 + 2 * 4 + 5 * 2 + 6, 3 * 8 + 4 * 4 + 7 * 2 + 8})}),
      reduce("ArgMax",
             {numbers(kF32, {3, 3}, {1, 5, 5, 2, kNaN, 9, -1, -2, -3}),
              numbers(kI32, {3, 3}, {0, 1, 2, 0, 1, 2, 0, 1, 2}), lowest, numbers(kI32, {}, {0})},
             {1}, arg_max_reducer(kF32, kI32),
             {vector_of(kF32, {5, kNaN, -1}), vector_of(kI32, {1, 1, 0})}),
      dot("MatrixProduct", x, numbers(kF32, {3, 2}, {1, 0, 0, 1, 1, 1}), {}, {}, {1}, {0},
          numbers(kF32, {2, 2}, {4, 5, 10, 11})),
      dot("TransposedOperands", x, numbers(kF32, {2, 2}, {1, 2, 3, 4}), {}, {}, {0}, {1},
          numbers(kF32, {3, 2}, {9, 19, 12, 26, 15, 33})),
      dot("SpecExampleBatched", cube, numbers(kI32, {2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1}), {0}, {0},
          {2}, {1}, cube),
      dot("Outer", vector_of(kF32, {1, 2}), vector_of(kF32, {3, 4}), {}, {}, {}, {},
          numbers(kF32, {2, 2}, {3, 4, 6, 8})),
      dot("Inner", vector_of(kF32, {1, 2}), vector_of(kF32, {3, 4}), {}, {}, {0}, {0},
          numbers(kF32, {}, {11})),
      dot("TwoContracting", cube, cube, {}, {}, {1, 2}, {1, 2},
          numbers(kI32, {2, 2}, {30, 70, 70, 174})),
      dot("BatchInTheMiddle", cube, cube, {1}, {1}, {0}, {0},
          numbers(kI32, {2, 2, 2}, {26, 32, 32, 40, 58, 68, 68, 80})),
      dot("NothingToSum", numbers(kF32, {2, 0}, {}), numbers(kF32, {0, 1}, {}), {}, {}, {1}, {0},
          numbers(kF32, {2, 1}, {0, 0})),
      dot("HalfIntoFloat", vector_of(kF16, {2048, 1}), vector_of(kF16, {1, 1}), {}, {}, {0}, {0},
          numbers(kF32, {}, {2049})),
      dot("HalfRoundsOnce", vector_of(kF16, {2048, 1, 1}), vector_of(kF16, {1, 1, 1}), {}, {}, {0},
          {0}, numbers(kF16, {}, {2050})),
      dot("BytesIntoInt", vector_of(kI8, {-128, 100}), vector_of(kI8, {-128, 100}), {}, {}, {0},
          {0}, numbers(kI32, {}, {26384})),
      dot("BytesWrap", vector_of(kI8, {100}), vector_of(kI8, {3}), {}, {}, {0}, {0},
          numbers(kI8, {}, {44})),
      dot("Booleans", vector_of(kI1, {1, 1}), vector_of(kI1, {1, 1}), {}, {}, {0}, {0},
          numbers(kI1, {}, {1})),
      dot("ManyBooleans", vector_of(kI1, std::vector<double>(256, 1)),
          vector_of(kI1, std::vector<double>(256, 1)), {}, {}, {0}, {0}, numbers(kI1, {}, {1})),
      dot("BooleansIntoInt", vector_of(kI1, {1, 0, 1}), vector_of(kI1, {1, 1, 1}), {}, {}, {0}, {0},
          numbers(kI32, {}, {2})),
      dot("HalfTimesFloat", vector_of(kF16, {2048, 0.5}), vector_of(kF32, {1, 3}), {}, {}, {0}, {0},
          numbers(kF32, {}, {2049.5})),
      dot("BytesTimesInt", vector_of(kI8, {-1, 2}), vector_of(kI32, {1000, 7}), {}, {}, {0}, {0},
          numbers(kI32, {}, {-986})),
      dot_by_algorithm(kF32, "f32"),
      // Parts of 8 bits: 1, 2^-8 + 2^-15, 2^-23; as one, rounded: 1 + 2^-7.
      dot_by_parts("bf16", 1, kOf24Bits, 1, 1 + 0x1p-7),
      dot_by_parts("bf16", 3, kOf24Bits, 1, 1 + 0x1p-8 + 0x1p-15),
      dot_by_parts("bf16", 6, kOf24Bits, 1, kOf24Bits),
      dot_by_parts("bf16", 9, kOf24Bits, 1, kOf24Bits),
      // Of 11 bits: 1 + 2^-8, 2^-15 + 2^-23.
      dot_by_parts("tf32", 1, kOf24Bits, 1, 1 + 0x1p-8),
      dot_by_parts("tf32", 3, kOf24Bits, 1, kOf24Bits),
      dot_by_algorithm(kF16, "f32"),
      dot_by_algorithm(kBF16, "f32"),
      dot_by_algorithm(kF8E4M3FN, "f32"),
      dot_by_algorithm(kF64, "f64"),
  };
}

}  // namespace superstep
