#include "compiler/program/layout.h"

#include <gtest/gtest.h>

#include "isa/machine_config.h"

namespace superstep {
namespace {

bool starts_rows(const Layout& layout, std::int64_t row) {
  for (const Interval& interval : layout.intervals()) {
    if (interval.begin % row != 0) return false;
  }
  return true;
}

TEST(Layouts, KeepShortRowsWhole) {
  Layouts layouts(load_machine("bow"));
  EXPECT_TRUE(starts_rows(*layouts.of({DType::kF32, {32, 10}}), 10));
  EXPECT_TRUE(starts_rows(*layouts.of({DType::kF32, {100'000, 300}}), 300));
}

TEST(Layouts, CutLongRowsWithoutCrossingTheirEnds) {
  Layouts layouts(load_machine("bow"));
  EXPECT_TRUE(lies_in_rows(*layouts.of({DType::kF32, {128, 512}}), 512));
}

TEST(Layouts, UseEveryTileAndBalanceWhatIsLarge) {
  const MachineConfig bow = load_machine("bow");
  Layouts layouts(bow);
  for (const Shape& shape : {Shape{1000, 3000}, Shape{1500, 1500}, Shape{7, 11, 100'003}}) {
    const TensorType type{DType::kF32, shape};
    const LayoutPtr layout = layouts.of(type);
    const std::int64_t share = type.elements() / bow.tiles();
    EXPECT_EQ(layout->elements(), type.elements());
    for (const Interval& interval : layout->intervals()) {
      EXPECT_LE(interval.count, share + share / 3 + 16) << type.text();
    }
  }
}

TEST(Layouts, AreOneObjectWhenTheyAreEqual) {
  Layouts layouts(load_machine("small64"));
  const LayoutPtr matrix = layouts.of({DType::kF32, {64, 16}});
  const LayoutPtr rows = layouts.divided(matrix, 16);
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->elements(), 64);
  EXPECT_EQ(layouts.divided(matrix, 16), rows);
  EXPECT_EQ(layouts.with(matrix->intervals()), matrix);
  EXPECT_EQ(layouts.of({DType::kI1, {64, 16}}), matrix);
}

TEST(Layouts, CannotDivideWhatCutsRows) {
  Layouts layouts(load_machine("bow"));
  EXPECT_EQ(layouts.divided(layouts.of({DType::kF32, {128, 512}}), 512), nullptr);
}

TEST(Layouts, OfPairsHaveTheirPartsOneBehindTheOtherOnEachTile) {
  Layouts layouts(load_machine("tiny4"));
  const LayoutPtr parts = layouts.of({DType::kF32, {10}});
  const LayoutPtr pairs = layouts.of_pairs(parts);
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->elements(), 20);
  ASSERT_EQ(pairs->intervals().size(), parts->intervals().size());
  for (std::size_t i = 0; i < pairs->intervals().size(); ++i) {
    EXPECT_EQ(pairs->intervals()[i].begin, 2 * parts->intervals()[i].begin);
  }
  // The first parts of the first tile are neighbours there.
  const std::int64_t count = parts->intervals()[0].count;
  const std::vector<Box> first = pairs->to_storage({0, 0, {{count, 1, 2}}});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(simplified(first[0]), simplified({0, 0, {{count, 1, 1}}}));
  EXPECT_EQ(layouts.of_pairs(layouts.of({DType::kF32, {0}})), nullptr);
}

}  // namespace
}  // namespace superstep
