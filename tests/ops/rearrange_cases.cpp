// Expected values are worked out by hand, or taken from the examples of the StableHLO
// specification.

#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

OpCase rearrange(const std::string& op, const std::string& what, HostTensor x,
                 Attributes attributes, HostTensor result) {
  return {
      "stablehlo." + op, what, {std::move(x)}, std::move(attributes), {std::move(result)}, 0, {}};
}

OpCase slice(const std::string& what, HostTensor x, const Indices& start, const Indices& limit,
             const Indices& strides, HostTensor result) {
  return rearrange("slice", what, std::move(x),
                   {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}},
                   std::move(result));
}

OpCase pad(const std::string& what, HostTensor x, const Indices& low, const Indices& high,
           const Indices& interior, HostTensor result) {
  OpCase use = rearrange(
      "pad", what, std::move(x),
      {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}},
      std::move(result));
  use.operands.push_back(i32({}, {9}));
  return use;
}

OpCase concatenate(const std::string& what, std::vector<HostTensor> operands,
                   std::int64_t dimension, HostTensor result) {
  OpCase use = rearrange("concatenate", what, {}, {{"dimension", dimension}}, std::move(result));
  use.operands = std::move(operands);
  return use;
}

}  // namespace

std::vector<OpCase> rearrange_cases() {
  const HostTensor x = i32({2, 3}, {1, 2, 3, 4, 5, 6});
  const HostTensor cube = i32({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const HostTensor empty = i32({0, 3}, {});
  return {
      rearrange("reshape", "2x3To3x2", x, {}, i32({3, 2}, {1, 2, 3, 4, 5, 6})),
      rearrange("reshape", "OneElementToScalar", i32({1, 1}, {7}), {}, i32({}, {7})),
      rearrange("reshape", "Empty", empty, {}, i32({3, 0, 2}, {})),
      {"stablehlo.optimization_barrier",
       "TwoTypes",
       {x, numbers(kF32, {1}, {4})},
       {},
       {x, numbers(kF32, {1}, {4})},
       0,
       {}},
      rearrange("transpose", "Matrix", x, {{"permutation", Indices{1, 0}}},
                i32({3, 2}, {1, 4, 2, 5, 3, 6})),
      rearrange("transpose", "SpecExample", cube, {{"permutation", Indices{2, 1, 0}}},
                i32({2, 3, 2}, {1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12})),
      rearrange("transpose", "Rotation", cube, {{"permutation", Indices{1, 2, 0}}},
                i32({3, 2, 2}, {1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12})),
      rearrange("transpose", "Scalar", i32({}, {3}), {{"permutation", Indices{}}}, i32({}, {3})),
      rearrange("broadcast_in_dim", "SpecExample", i32({1, 3}, {1, 2, 3}),
                {{"broadcast_dimensions", Indices{2, 1}}},
                i32({2, 3, 2}, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3})),
      rearrange("broadcast_in_dim", "Scalar", i32({}, {5}), {{"broadcast_dimensions", Indices{}}},
                i32({2, 2}, {5, 5, 5, 5})),
      rearrange("broadcast_in_dim", "ToEmpty", i32({}, {5}), {{"broadcast_dimensions", Indices{}}},
                i32({0, 2}, {})),
      rearrange("broadcast_in_dim", "Bias", numbers(kF16, {2}, {1, 2}),
                {{"broadcast_dimensions", Indices{1}}}, numbers(kF16, {3, 2}, {1, 2, 1, 2, 1, 2})),
      slice("SpecExample", i32({3, 4}, {0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1}), {1, 2}, {3, 4},
            {1, 1}, i32({2, 2}, {1, 1, 1, 1})),
      slice("Strided", i32({7}, {0, 1, 2, 3, 4, 5, 6}), {1}, {6}, {3}, i32({2}, {1, 4})),
      slice("EverySecondOfAnOddNumber", i32({5}, {0, 1, 2, 3, 4}), {0}, {4}, {2}, i32({2}, {0, 2})),
      slice("Empty", x, {1, 2}, {1, 3}, {1, 1}, i32({0, 1}, {})),
      rearrange("reverse", "OneDimension", x, {{"dimensions", Indices{1}}},
                i32({2, 3}, {3, 2, 1, 6, 5, 4})),
      rearrange("reverse", "Both", x, {{"dimensions", Indices{0, 1}}},
                i32({2, 3}, {6, 5, 4, 3, 2, 1})),
      rearrange("reverse", "None", x, {{"dimensions", Indices{}}}, x),
      concatenate("Rows", {x, i32({1, 3}, {7, 8, 9})}, 0, i32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})),
      concatenate("Columns", {x, i32({2, 0}, {}), i32({2, 1}, {7, 8})}, 1,
                  i32({2, 4}, {1, 2, 3, 7, 4, 5, 6, 8})),
      concatenate("One", {x}, 0, x),
      pad("SpecExample", x, {0, 1}, {2, 1}, {1, 2},
          i32({5, 9}, {9, 1, 9, 9, 2, 9, 9, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 4, 9, 9, 5,
                       9, 9, 6, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9})),
      pad("NegativeEdges", x, {-1, -1}, {0, -1}, {0, 0}, i32({1, 1}, {5})),
      pad("NegativeLowIntoTheInterior", i32({3}, {1, 2, 3}), {-1}, {1}, {1},
          i32({5}, {9, 2, 9, 3, 9})),
      pad("NegativeHighIntoTheInterior", i32({3}, {1, 2, 3}), {1}, {-2}, {2},
          i32({6}, {9, 1, 9, 9, 2, 9})),
      pad("EmptyOperand", i32({0}, {}), {2}, {1}, {3}, i32({3}, {9, 9, 9})),
      pad("NothingLeft", i32({2}, {1, 2}), {-3}, {3}, {0}, i32({2}, {9, 9})),
      pad("ToEmpty", i32({2}, {1, 2}), {-1}, {-1}, {0}, i32({0}, {})),
  };
}

}  // namespace superstep
