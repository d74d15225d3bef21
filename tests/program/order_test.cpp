#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "compiler/lower/assign_layouts.h"
#include "compiler/lower/values.h"
#include "compiler/program/layout.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

class RandomOrders : public ::testing::TestWithParam<unsigned> {
 protected:
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  /// Blocks within blocks of each dimension, in any order, some with padding.
  void make() {
    shape_.clear();
    for (std::int64_t d = number(1, 3); d > 0; --d) shape_.push_back(number(1, 12));
    make_order();
  }
  /// Another order of the same shape.
  void make_order() {
    axes_.clear();
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      std::int64_t step = 1;
      for (std::int64_t left = number(0, 2); left > 0; --left) {
        const std::int64_t size = number(1, 4);
        axes_.push_back({d, size, step});
        step *= size;
      }
      axes_.push_back({d, (shape_[d] + step - 1) / step, step});
    }
    std::ranges::shuffle(axes_, random_);
    std::int64_t stored = 1;
    for (const OrderAxis& axis : axes_) stored *= axis.size;
    std::vector<Interval> intervals;
    for (std::int64_t begin = 0; begin < stored;) {
      const std::int64_t count =
          std::min(stored - begin, number((stored + kMostTiles - 1) / kMostTiles, stored));
      intervals.push_back({begin, count, {TileId{static_cast<std::uint32_t>(intervals.size())}}});
      begin += count;
    }
    layout_ = std::make_unique<Layout>(std::move(intervals), blocked_order(shape_, axes_));
  }

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t size : shape_) n *= size;
    return n;
  }

  /// Where an element is stored, index by index.
  [[nodiscard]] std::int64_t place_of(std::int64_t element) const {
    std::vector<std::int64_t> indices(shape_.size());
    for (std::size_t d = shape_.size(); d-- > 0; element /= shape_[d]) {
      indices[d] = element % shape_[d];
    }
    std::int64_t place = 0;
    for (const OrderAxis& axis : axes_) {
      place = place * axis.size + indices[axis.dimension] / axis.step % axis.size;
    }
    return place;
  }

  static constexpr std::int64_t kMostTiles = 64;
  std::mt19937 random_{GetParam()};
  Shape shape_;
  std::vector<OrderAxis> axes_;
  std::unique_ptr<Layout> layout_;
};

TEST_P(RandomOrders, PartsCopyEveryElementFromItsPlaceOnce) {
  for (int i = 0; i < 100; ++i) {
    make();
    std::map<std::int64_t, std::int64_t> found;
    for (const auto& [number, box] : layout_->parts(elements())) {
      const Interval& interval = layout_->intervals()[number];
      for_each_index(box.axes, box.from, box.to, [&](std::int64_t from, std::int64_t to) {
        EXPECT_TRUE(found.emplace(to, from).second) << "element " << to << " is copied twice";
        EXPECT_TRUE(from >= interval.begin && from < interval.end());
      });
    }
    ASSERT_EQ(std::ssize(found), elements());
    for (const auto& [element, place] : found) ASSERT_EQ(place, place_of(element));
  }
}

TEST_P(RandomOrders, AStridedCopyReadsAndWritesElementsInTheirPlaces) {
  for (int i = 0; i < 100; ++i) {
    make();
    // A slice with steps, reversed in places, of the row-major tensor.
    Box box{0, 0, {}};
    std::int64_t stride = 1, to = 1;
    for (std::size_t d = shape_.size(); d-- > 0; stride *= shape_[d]) {
      const std::int64_t step = number(1, 3), first = number(0, shape_[d] - 1);
      const std::int64_t size = number(1, (shape_[d] - 1 - first) / step + 1);
      const bool is_reversed = number(0, 1) == 1;
      box.from += stride * (is_reversed ? first + (size - 1) * step : first);
      box.axes.push_back({size, stride * step * (is_reversed ? -1 : 1), to});
      to *= size;
    }
    std::map<std::int64_t, std::int64_t> expected, found, written;
    for_each_index(box.axes, box.from, box.to,
                   [&](std::int64_t from, std::int64_t at) { expected[at] = place_of(from); });
    for (const Box& part : layout_->from_storage(box)) {
      for_each_index(part.axes, part.from, part.to,
                     [&](std::int64_t from, std::int64_t at) { found[at] = from; });
    }
    for (const Box& part : layout_->to_storage(reversed(box))) {
      for_each_index(part.axes, part.from, part.to,
                     [&](std::int64_t from, std::int64_t at) { written[from] = at; });
    }
    ASSERT_EQ(found, expected);
    ASSERT_EQ(written, expected);
  }
}

TEST_P(RandomOrders, AValueMovesFromOneOrderToAnother) {
  const MachineConfig machine = load_machine("small64");
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI1}) {
    for (int i = 0; i < 10; ++i) {
      make();
      const Shape shape = shape_;
      const auto from = std::make_shared<const Layout>(layout_->intervals(), layout_->order());
      make_order();
      const auto to = std::make_shared<const Layout>(layout_->intervals(), layout_->order());
      Module module;
      const ValueId argument = module.main.add_argument({dtype, shape}, "a");
      module.argument_alias.resize(1);
      ProgramBuilder builder(machine);
      Values values(builder, module.main, assign_layouts(module, builder.layouts()));
      const BufferId before = values.place(argument, from);
      const BufferId after = values.stored(argument, to, {}).buffer;
      LoweredProgram program = builder.finish(StepOrder::kEarliest);
      program.arguments = {before};
      program.results = {after};
      HostTensor tensor({dtype, shape});
      for (std::size_t at = 0; at < tensor.data.size(); ++at) {
        tensor.data[at] = static_cast<std::byte>(number(0, dtype == DType::kI1 ? 1 : 255));
      }
      const std::vector<HostTensor> arguments{tensor};
      const std::vector<TensorType> results{tensor.type};
      ASSERT_EQ(PlanInterpreter(program).run(arguments, results)[0].data, tensor.data);
    }
  }
}

TEST_P(RandomOrders, AnOrderOfNeighboursIsRowMajor) {
  make();
  std::vector<OrderAxis> axes;
  for (std::size_t d = 0; d < shape_.size(); ++d) axes.push_back({d, shape_[d], 1});
  EXPECT_TRUE(blocked_order(shape_, axes).empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrders, ::testing::Range(0U, 8U));

}  // namespace
}  // namespace superstep
