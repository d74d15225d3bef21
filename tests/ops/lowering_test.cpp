#include <cmath>

#include "compiler/ops/elements.h"
#include "compiler/ops/emit_graph.h"
#include "compiler/ops/strided_box.h"
#include "compiler/vertex/interpret.h"
#include "compiler/vertex/number.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;
using Indices = std::vector<std::int64_t>;

TEST(EmitGraph, AppendsARegionWithItsConstants) {
  const Graph region = region_of({{kI32, {}}, {kI32, {}}}, [](std::span<const Tensor> a) {
    return std::vector{a[0] * 10 - a[1], a[0]};
  });

  vertex::Expression expression;
  const std::vector<vertex::Node> inputs = {expression.input(0, kI32), expression.input(1, kI32)};
  const std::vector<vertex::Node> outputs = emit_graph(region, expression, inputs);
  const std::vector<HostTensor> values = {vector_of(kI32, {1, 2}), vector_of(kI32, {3, 40})};
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(close(vertex::evaluate_expression(expression, outputs[0], values),
                    vector_of(kI32, {7, -20}), 0));
  EXPECT_TRUE(close(vertex::evaluate_expression(expression, outputs[1], values), values[0], 0));
}

TEST(StridedBoxes, MergeDimensionsThatFollowEachOtherInBothTensors) {
  const StridedBox box = merged({0, {2, 1, 3, 4}, {12, 7, 4, 1}, {24, 9, 8, 2}, 5, 6});
  EXPECT_EQ(box.sizes, (Indices{24}));
  EXPECT_EQ(box.from_strides, (Indices{1}));
  EXPECT_EQ(box.to_strides, (Indices{2}));
  EXPECT_EQ(box.from_offset, 5);
  EXPECT_EQ(box.to_offset, 6);
}

TEST(StridedBoxes, KeepDimensionsThatDoNot) {
  const StridedBox box = merged({0, {2, 3}, {1, 2}, {3, 1}});
  EXPECT_EQ(box.sizes, (Indices{2, 3}));
}

TEST(Numbers, EveryHalfSurvivesTheWayThroughDouble) {
  for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
    const double value = vertex::float_of(kF16, bits);
    EXPECT_EQ(vertex::bits_of_float(kF16, value), std::isnan(value) ? 0x7e00 : bits);
  }
}

TEST(Numbers, HalvesRoundOnceToEven) {
  // Midway between neighbours, and the least number above that, which a way through f32 would lose.
  for (std::uint64_t bits = 0; bits < 0x7bff; ++bits) {
    const double middle = (vertex::float_of(kF16, bits) + vertex::float_of(kF16, bits + 1)) / 2;
    EXPECT_EQ(vertex::bits_of_float(kF16, middle), bits + (bits & 1));
    EXPECT_EQ(vertex::bits_of_float(kF16, std::nextafter(middle, 1e9)), bits + 1);
    EXPECT_EQ(vertex::bits_of_float(kF16, -std::nextafter(middle, 0)), bits | 0x8000);
  }
}

}  // namespace
}  // namespace superstep
