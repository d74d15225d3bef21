// Ops that are other ones written shorter. Expected values are worked out by hand, or by NumPy.

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

/// A row of three and a column of two.
OpCase broadcast(const std::string& op, const HostTensor& row, const HostTensor& column,
                 HostTensor expected, Attributes attributes = {}) {
  return {"chlo.broadcast_" + op,
          "RowAndColumn",
          {row, column},
          std::move(attributes),
          {std::move(expected)},
          3,
          {}};
}
OpCase whole(const std::string& op, const std::vector<double>& expected) {
  return broadcast(op, vector_of(kI32, {6, -5, 12}), i32({2, 1}, {2, 3}), i32({2, 3}, expected));
}
OpCase real(const std::string& op, const std::vector<double>& expected) {
  return broadcast(op, vector_of(kF32, {1, 2, 3}), numbers(kF32, {2, 1}, {2, 3}),
                   numbers(kF32, {2, 3}, expected));
}

OpCase einsum(const std::string& what, std::vector<HostTensor> operands,
              const std::string& equation, HostTensor expected) {
  const std::string op = operands.size() == 1 ? "stablehlo.unary_einsum" : "stablehlo.einsum";
  return {op, what, std::move(operands), {{"einsum_config", equation}}, {std::move(expected)},
          0,  {}};
}

OpCase select(const std::string& what, HostTensor x, HostTensor indices, std::int64_t dimension,
              std::int64_t batch, HostTensor expected) {
  return {"stablehlo.torch_index_select",
          what,
          {std::move(x), std::move(indices)},
          {{"dim", dimension}, {"batch_dims", batch}},
          {std::move(expected)},
          0,
          {}};
}

OpCase ragged(const std::string& what, HostTensor left, HostTensor right, HostTensor sizes,
              Attributes attributes, HostTensor expected) {
  for (const char* name :
       {"lhs_batching_dimensions", "rhs_batching_dimensions", "rhs_group_dimensions"}) {
    attributes.emplace(name, Indices{});
  }
  return {"chlo.ragged_dot",
          what,
          {std::move(left), std::move(right), std::move(sizes)},
          std::move(attributes),
          {std::move(expected)},
          0,
          {}};
}

OpCase scan(const std::string& what, std::vector<HostTensor> operands, Indices segments,
            std::int64_t dimension, bool is_reverse, Graph region,
            std::vector<HostTensor> expected) {
  return {"chlo.scan",
          what,
          std::move(operands),
          {{"operandSegmentSizes", std::move(segments)},
           {"dimension", dimension},
           {"is_reverse", is_reverse}},
          std::move(expected),
          0,
          {std::move(region)}};
}

/// The sum so far, twice: as what is put out and as what is carried.
Graph running_sum(const TensorType& type) {
  return region_of({type, type}, [](std::span<const Tensor> a) {
    const Tensor sum = a[0] + a[1];
    return std::vector{sum, sum};
  });
}

}  // namespace

std::vector<OpCase> composed_cases() {
  const HostTensor x = i32({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostTensor bits = vector_of(kI32, {6, 5, 12});
  const HostTensor pair = i32({2, 1}, {2, 3});
  return {
      whole("add", {8, -3, 14, 9, -2, 15}),
      whole("subtract", {4, -7, 10, 3, -8, 9}),
      whole("multiply", {12, -10, 24, 18, -15, 36}),
      whole("divide", {3, -2, 6, 2, -1, 4}),
      whole("remainder", {0, -1, 0, 0, -2, 0}),
      whole("maximum", {6, 2, 12, 6, 3, 12}),
      whole("minimum", {2, -5, 2, 3, -5, 3}),
      whole("shift_left", {24, -20, 48, 48, -40, 96}),
      whole("shift_right_arithmetic", {1, -2, 3, 0, -1, 1}),
      broadcast("shift_right_logical", bits, pair, i32({2, 3}, {1, 1, 3, 0, 0, 1})),
      broadcast("and", bits, pair, i32({2, 3}, {2, 0, 0, 2, 1, 0})),
      broadcast("or", bits, pair, i32({2, 3}, {6, 7, 14, 7, 7, 15})),
      broadcast("xor", bits, pair, i32({2, 3}, {4, 7, 14, 5, 6, 15})),
      real("power", {1, 4, 9, 1, 8, 27}),
      real("atan2", {0.4636476090008061, 0.7853981633974483, 0.982793723247329, 0.3217505543966422,
                     0.5880026035475675, 0.7853981633974483}),
      // Of 1 there is no sum.
      broadcast("zeta", vector_of(kF32, {2, 3, 4}), numbers(kF32, {2, 1}, {1, 2}),
                numbers(kF32, {2, 3},
                        {1.6449340668482264, 1.2020569031595942, 1.0823232337111382,
                         0.6449340668482264, 0.2020569031595942, 0.0823232337111382})),
      broadcast("polygamma", vector_of(kF32, {1, 2}), numbers(kF32, {2, 1}, {1, 2}),
                numbers(kF32, {2, 2},
                        {1.6449340668482264, -2.4041138063191885, 0.6449340668482264,
                         -0.4041138063191885})),
      broadcast("next_after", vector_of(kF32, {1, 2}), numbers(kF32, {2, 1}, {0, 9}),
                numbers(kF32, {2, 2}, {1 - 0x1p-24, 2 - 0x1p-23, 1 + 0x1p-23, 2 + 0x1p-22})),
      broadcast("complex", vector_of(kF32, {1, 2}), numbers(kF32, {2, 1}, {3, 4}),
                [] {
                  HostTensor z = numbers(kF32, {2, 4}, {1, 3, 2, 3, 1, 4, 2, 4});
                  z.type = {kC64, {2, 2}};
                  return z;
                }()),
      broadcast("compare", vector_of(kI32, {6, -5, 12}), pair,
                numbers(kI1, {2, 3}, {0, 1, 0, 0, 1, 0}),
                {{"comparison_direction", std::string("LT")}}),
      {"chlo.broadcast_select",
       "OfAColumnARowAndANumber",
       {numbers(kI1, {2, 1}, {1, 0}), vector_of(kI32, {1, 2, 3}), i32({}, {9})},
       {},
       {i32({2, 3}, {1, 2, 3, 9, 9, 9})},
       0,
       {}},
      {"chlo.broadcast_add",
       "AtGivenDimensions",
       {x, vector_of(kI32, {10, 20})},
       {{"broadcast_dimensions", Indices{0}}},
       {i32({2, 3}, {11, 12, 13, 24, 25, 26})},
       0,
       {}},
      {"chlo.broadcast_multiply",
       "OfNothing",
       {i32({0, 3}, {}), i32({1, 1}, {7})},
       {},
       {i32({0, 3}, {})},
       0,
       {}},
      {"chlo.conj",
       "Complex",
       {[] {
         HostTensor z = vector_of(kF32, {1, -2, 3, 0});
         z.type = {kC64, {2}};
         return z;
       }()},
       {},
       {[] {
         HostTensor z = vector_of(kF32, {1, 2, 3, -0.0});
         z.type = {kC64, {2}};
         return z;
       }()},
       0,
       {}},
      {"chlo.conj", "Real", {vector_of(kF32, {1, -2})}, {}, {vector_of(kF32, {1, -2})}, 0, {}},
      {"chlo.constant_like",
       "AnotherType",
       {x},
       {{"value", 1.5}},
       {numbers(kF16, {2, 3}, {1.5, 1.5, 1.5, 1.5, 1.5, 1.5})},
       0,
       {}},
      {"chlo.constant_like",
       "Whole",
       {vector_of(kF32, {1, 2})},
       {{"value", std::int64_t{-3}}},
       {vector_of(kI8, {-3, -3})},
       0,
       {}},
      {"stablehlo.broadcast",
       "InFront",
       {vector_of(kI32, {1, 2})},
       {{"broadcast_sizes", Indices{2, 1}}},
       {i32({2, 1, 2}, {1, 2, 1, 2})},
       0,
       {}},
      {"stablehlo.dot",
       "OfVectors",
       {bits, vector_of(kI32, {1, 2, 3})},
       {},
       {i32({}, {52})},
       0,
       {}},
      {"stablehlo.dot", "OfAMatrixAndAVector", {x, bits}, {}, {vector_of(kI32, {52, 121})}, 0, {}},
      {"stablehlo.dot",
       "OfMatrices",
       {x, i32({3, 2}, {1, 0, 0, 1, 1, 1})},
       {},
       {i32({2, 2}, {4, 5, 10, 11})},
       0,
       {}},
      einsum("ProductOfTransposed", {x, i32({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1})},
             "ab,cb->ca", i32({4, 2}, {1, 4, 2, 5, 3, 6, 6, 15})),
      einsum("Batches", {x, i32({3, 2}, {1, 1, 2, 2, 3, 3})}, "ab,ba->a",
             vector_of(kI32, {14, 32})),
      einsum("Outer", {vector_of(kI32, {1, 2}), bits}, "a,b->ba",
             i32({3, 2}, {6, 12, 5, 10, 12, 24})),
      einsum("SumsOfOneAlone", {x, vector_of(kI32, {1, 10})}, "ab,a->a", vector_of(kI32, {6, 150})),
      einsum("Ellipsis", {i32({2, 1, 2}, {1, 2, 3, 4}), i32({2, 2}, {1, 2, 3, 4})},
             "...ab,bc->...ac", i32({2, 1, 2}, {7, 10, 15, 22})),
      einsum("Diagonal", {i32({2, 2}, {1, 2, 3, 4})}, "aa->a", vector_of(kI32, {1, 4})),
      einsum("Trace", {i32({2, 2}, {1, 2, 3, 4})}, "aa->", i32({}, {5})),
      einsum("Transposed", {x}, "ab->ba", i32({3, 2}, {1, 4, 2, 5, 3, 6})),
      einsum("Columns", {x}, "ab -> b", vector_of(kI32, {5, 7, 9})),
      einsum("DiagonalBesideInfinity",
             {numbers(kF32, {2, 2}, {1, std::numeric_limits<double>::infinity(), 0, 4})}, "aa->a",
             vector_of(kF32, {1, 4})),
      select("Rows", i32({3, 2}, {1, 2, 3, 4, 5, 6}), i32({2, 2}, {2, 0, 0, 9}), 0, 0,
             i32({2, 2, 2}, {5, 6, 1, 2, 1, 2, 5, 6})),
      select("Columns", x, vector_of(kI64, {2, 2, 0}), 1, 0, i32({2, 3}, {3, 3, 1, 6, 6, 4})),
      select("OfEachRow", x, i32({2, 2}, {0, 2, 1, 1}), 1, 1, i32({2, 2}, {1, 3, 5, 5})),
      ragged("GroupsOfRows", i32({4, 2}, {1, 0, 0, 1, 1, 1, 2, 3}),
             i32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), vector_of(kI64, {1, 2}),
             {{"lhs_contracting_dimensions", Indices{1}},
              {"rhs_contracting_dimensions", Indices{1}},
              {"lhs_ragged_dimensions", Indices{0}},
              {"rhs_group_dimensions", Indices{0}}},
             i32({4, 2}, {1, 2, 7, 8, 12, 14, 0, 0})),
      ragged("GroupsOfTerms", i32({1, 4}, {1, 2, 3, 4}), i32({4, 1}, {1, 10, 100, 1000}),
             vector_of(kI32, {2, 0, 1}),
             {{"lhs_contracting_dimensions", Indices{1}},
              {"rhs_contracting_dimensions", Indices{0}},
              {"lhs_ragged_dimensions", Indices{1}}},
             i32({3, 1, 1}, {21, 0, 300})),
      {"chlo.ragged_dot",
       "GroupsOfBatches",
       {i32({2, 1, 2}, {1, 2, 3, 4}), i32({2, 2, 1}, {1, 1, 1, 0}), vector_of(kI32, {1, 1})},
       {{"lhs_batching_dimensions", Indices{0}},
        {"rhs_batching_dimensions", Indices{0}},
        {"lhs_contracting_dimensions", Indices{2}},
        {"rhs_contracting_dimensions", Indices{1}},
        {"lhs_ragged_dimensions", Indices{0}},
        {"rhs_group_dimensions", Indices{}}},
       {i32({2, 1, 1}, {3, 3})},
       0,
       {}},
      scan("SumsOfARow", {vector_of(kI32, {1, 2, 3, 4}), i32({}, {0})}, {1, 1}, 0, false,
           running_sum({kI32, {}}), {vector_of(kI32, {1, 3, 6, 10}), i32({}, {10})}),
      scan("SumsOfRowsBackwards", {x, vector_of(kI32, {0, 1})}, {1, 1}, 1, true,
           running_sum({kI32, {2}}), {i32({2, 3}, {6, 5, 3, 16, 12, 7}), vector_of(kI32, {6, 16})}),
      scan("OfNoPlaces", {i32({0, 2}, {}), vector_of(kI32, {7, 8})}, {1, 1}, 0, false,
           running_sum({kI32, {2}}), {i32({0, 2}, {}), vector_of(kI32, {7, 8})}),
      scan("TwoInputsOneOutputOfAnotherShape",
           {vector_of(kI32, {1, 2}), i32({2, 2}, {1, 2, 3, 4}), i32({}, {1})}, {2, 1}, 0, false,
           region_of({{kI32, {}}, {kI32, {2}}, {kI32, {}}},
                     [](std::span<const Tensor> a) {
                       return std::vector{a[1] + broadcast(a[0] * a[2], {2}, {}), a[2] + 1};
                     }),
           {i32({2, 2}, {2, 3, 7, 8}), i32({}, {3})}),
  };
}

}  // namespace superstep
