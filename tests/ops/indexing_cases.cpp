// Expected values are worked out by hand, or taken from the examples of the StableHLO
// specification.

#include <utility>

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

/// Sums of the first values and what the second ones are replaced by.
Graph sum_and_replace() {
  return region_of({{kI32, {}}, {kF16, {}}, {kI32, {}}, {kF16, {}}}, [](std::span<const Tensor> a) {
    return std::vector{a[0] + a[2], a[3]};
  });
}

HostTensor bits_of_scalar(std::uint64_t bits) {
  HostTensor scalar(TensorType{kU64, {}});
  scalar.set(0, bits);
  return scalar;
}

OpCase dynamic_slice(const std::string& what, HostTensor x, std::vector<HostTensor> starts,
                     const Indices& sizes, HostTensor result) {
  starts.insert(starts.begin(), std::move(x));
  return {"stablehlo.dynamic_slice",
          what,
          std::move(starts),
          {{"slice_sizes", sizes}},
          {std::move(result)},
          0,
          {}};
}

OpCase dynamic_update_slice(const std::string& what, std::vector<HostTensor> operands,
                            HostTensor result) {
  return {
      "stablehlo.dynamic_update_slice", what, std::move(operands), {}, {std::move(result)}, 0, {}};
}

struct GatherDimensions {
  Indices offset, collapsed, batching, indices_batching, map;
  std::int64_t vector = 0;
  Indices sizes;
};

OpCase gather(const std::string& what, HostTensor x, HostTensor starts,
              const GatherDimensions& dimensions, HostTensor result) {
  return {"stablehlo.gather",
          what,
          {std::move(x), std::move(starts)},
          {{"offset_dims", dimensions.offset},
           {"collapsed_slice_dims", dimensions.collapsed},
           {"operand_batching_dims", dimensions.batching},
           {"start_indices_batching_dims", dimensions.indices_batching},
           {"start_index_map", dimensions.map},
           {"index_vector_dim", dimensions.vector},
           {"slice_sizes", dimensions.sizes}},
          {std::move(result)},
          0,
          {}};
}

struct ScatterDimensions {
  Indices window, inserted, batching, indices_batching, map;
  std::int64_t vector = 0;
  bool is_unique = false;
};

OpCase scatter(const std::string& what, std::vector<HostTensor> operands,
               const ScatterDimensions& dimensions, Graph region, std::vector<HostTensor> results) {
  return {"stablehlo.scatter",
          what,
          std::move(operands),
          {{"update_window_dims", dimensions.window},
           {"inserted_window_dims", dimensions.inserted},
           {"input_batching_dims", dimensions.batching},
           {"scatter_indices_batching_dims", dimensions.indices_batching},
           {"scatter_dims_to_operand_dims", dimensions.map},
           {"index_vector_dim", dimensions.vector},
           {"unique_indices", dimensions.is_unique}},
          std::move(results),
          0,
          {std::move(region)}};
}

}  // namespace

std::vector<OpCase> indexing_cases() {
  const HostTensor x = i32({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  const auto scalar = [](double value) { return i32({}, {value}); };
  const HostTensor cube = i32({3, 4, 2}, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                          13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24});
  const HostTensor spec_starts = i32({2, 3, 2}, {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9});
  const HostTensor half = numbers(kF16, {5}, {1, 2, 3, 4, 5});
  return {
      dynamic_slice("Inside", x, {scalar(1), scalar(2)}, {2, 2}, i32({2, 2}, {12, 13, 22, 23})),
      dynamic_slice("BeyondIsMovedBack", x, {scalar(9), scalar(-7)}, {2, 3},
                    i32({2, 3}, {10, 11, 12, 20, 21, 22})),
      dynamic_slice("UnsignedBeyondInt", x,
                    {numbers(kU32, {}, {0xfffffff0}), numbers(kU32, {}, {0})}, {1, 4},
                    i32({1, 4}, {20, 21, 22, 23})),
      dynamic_slice("UnsignedBeyondLong", x, {bits_of_scalar(~std::uint64_t{0}), bits_of_scalar(0)},
                    {1, 4}, i32({1, 4}, {20, 21, 22, 23})),
      dynamic_slice("WholeTensor", x, {scalar(1), scalar(1)}, {3, 4}, x),
      dynamic_slice("OfHalves", half, {numbers(kI8, {}, {3})}, {2}, numbers(kF16, {2}, {4, 5})),
      dynamic_slice("OfNothing", x, {scalar(1), scalar(1)}, {0, 2}, i32({0, 2}, {})),
      dynamic_update_slice("SpecExample",
                           {i32({4, 4}, {1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}),
                            i32({2, 2}, {1, 1, 1, 1}), scalar(-1), scalar(3)},
                           i32({4, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})),
      dynamic_update_slice("Column", {x, i32({3, 1}, {7, 8, 9}), scalar(0), scalar(1)},
                           i32({3, 4}, {0, 7, 2, 3, 10, 8, 12, 13, 20, 9, 22, 23})),
      dynamic_update_slice("OfHalves", {half, numbers(kF16, {2}, {8, 9}), numbers(kU8, {}, {1})},
                           numbers(kF16, {5}, {1, 8, 9, 4, 5})),
      dynamic_update_slice("OfBooleans",
                           {numbers(kI1, {3}, {0, 0, 0}), numbers(kI1, {1}, {1}), scalar(1)},
                           numbers(kI1, {3}, {0, 1, 0})),
      dynamic_update_slice("WithNothing", {x, i32({0, 1}, {}), scalar(0), scalar(1)}, x),
      gather("SpecExample", cube, spec_starts, {{2, 3}, {0}, {}, {}, {1, 0}, 2, {1, 2, 2}},
             i32({2, 3, 2, 2}, {1, 2,  3,  4,  3,  4,  5,  6,  13, 14, 15, 16,
                                9, 10, 11, 12, 11, 12, 13, 14, 17, 18, 19, 20})),
      gather("RowsOfScalarIndices", x, i32({2}, {2, -1}), {{1}, {0}, {}, {}, {0}, 1, {1, 4}},
             i32({2, 4}, {20, 21, 22, 23, 0, 1, 2, 3})),
      gather("WindowsInFront", x, i32({1, 2}, {1, 3}), {{0}, {1}, {}, {}, {1}, 0, {3, 1}},
             i32({3, 2}, {1, 3, 11, 13, 21, 23})),
      gather("OnePerBatch", x, i32({3, 1, 1}, {3, 0, 7}), {{}, {1}, {0}, {0}, {1}, 2, {1, 1}},
             i32({3, 1}, {3, 10, 23})),
      gather("BatchesBehind", x, i32({2, 3, 1}, {1, 2, 3, 0, 0, 1}),
             {{}, {1}, {0}, {1}, {1}, 2, {1, 1}}, i32({2, 3}, {1, 12, 23, 0, 10, 21})),
      gather("PartOfADimensionWithoutIndex", x, i32({1}, {1}), {{0, 1}, {}, {}, {}, {1}, 0, {2, 2}},
             i32({2, 2}, {1, 2, 11, 12})),
      gather("RowsOfUnsignedBeyondLong", x, bits_of(kU64, {std::uint64_t{1} << 63, 0}),
             {{1}, {0}, {}, {}, {0}, 1, {1, 4}}, i32({2, 4}, {20, 21, 22, 23, 0, 1, 2, 3})),
      gather("WholeTensor", x, i32({2, 1}, {5, 0}), {{1, 2}, {}, {}, {}, {0}, 1, {3, 4}},
             i32({2, 3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23,
                             0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23})),
      gather("OfNoIndices", x, i32({0, 1}, {}), {{1}, {0}, {}, {}, {0}, 1, {1, 4}},
             i32({0, 4}, {})),
      scatter("SpecExample", {cube, spec_starts, i32({2, 3, 2, 2}, std::vector<double>(24, 1))},
              {{2, 3}, {0}, {}, {}, {1, 0}, 2}, binary_reducer("stablehlo.add", kI32),
              {i32({3, 4, 2}, {2,  3,  5,  6,  6,  7,  7,  8,  10, 11, 13, 14,
                               15, 16, 16, 17, 17, 18, 19, 20, 21, 22, 23, 24})}),
      scatter("DropsWindowsThatAreNotWhollyInside",
              {i32({6}, {0, 0, 0, 0, 0, 0}), i32({4, 1}, {4, -1, 3, 2}),
               i32({4, 3}, std::vector<double>(12, 1))},
              {{1}, {}, {}, {}, {0}, 1}, binary_reducer("stablehlo.add", kI32),
              {i32({6}, {0, 0, 1, 2, 2, 1})}),
      scatter("LastOfEqualIndicesStays",
              {x, i32({3, 1}, {1, 0, 1}), i32({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6})},
              {{1}, {0}, {}, {}, {0}, 1}, replacing_reducer(kI32),
              {i32({3, 4}, {5, 6, 7, 8, 9, 8, 7, 6, 20, 21, 22, 23})}),
      scatter(
          "RoundsEachSumInOrder",
          {numbers(kF16, {2}, {2048, 0}), i32({3, 1}, {0, 0, 0}), numbers(kF16, {3}, {1, 1, 4})},
          {{}, {0}, {}, {}, {0}, 1}, binary_reducer("stablehlo.add", kF16),
          {numbers(kF16, {2}, {2052, 0})}),
      scatter("SeveralOperands",
              {i32({5}, {1, 2, 3, 4, 5}), half, i32({2, 1}, {2, 2}), i32({2}, {10, 20}),
               numbers(kF16, {2}, {8, 9})},
              {{}, {0}, {}, {}, {0}, 1}, sum_and_replace(),
              {i32({5}, {1, 2, 33, 4, 5}), numbers(kF16, {5}, {1, 2, 9, 4, 5})}),
      scatter("Batches", {x, i32({3, 2, 1}, {0, 3, 1, 1, 9, 2}), i32({3, 2}, {1, 2, 3, 4, 5, 6})},
              {{}, {1}, {0}, {0}, {1}, 2}, binary_reducer("stablehlo.maximum", kI32),
              {i32({3, 4}, {1, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23})}),
      scatter("UniqueBytes",
              {numbers(kI8, {5, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), i32({3, 1}, {4, 1, 0}),
               numbers(kI8, {3, 2}, {1, -2, 3, -4, 5, -6})},
              {{1}, {0}, {}, {}, {0}, 1, true}, replacing_reducer(kI8),
              {numbers(kI8, {5, 2}, {5, -6, 3, -4, 0, 0, 0, 0, 1, -2})}),
      scatter("OfAWholeTensor", {x, i32({1, 1}, {0}), i32({1, 3, 4}, std::vector<double>(12, 5))},
              {{1, 2}, {}, {}, {}, {0}, 1}, binary_reducer("stablehlo.multiply", kI32),
              {i32({3, 4}, {0, 5, 10, 15, 50, 55, 60, 65, 100, 105, 110, 115})}),
  };
}

}  // namespace superstep
