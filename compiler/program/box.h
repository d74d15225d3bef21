#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/program/axes.h"

namespace superstep {

/// A strided copy: element (i0, i1, …) moves from `from + Σ i*axis.from` to `to + Σ i*axis.to`.
struct Box {
  std::int64_t from = 0;
  std::int64_t to = 0;
  Axes axes;

  [[nodiscard]] std::int64_t elements() const;
  auto operator<=>(const Box&) const = default;
};

/// A flattened index range of some axes, for one stride of each: what `range_boxes` cuts up.
struct Side {
  std::int64_t Box::*offset;
  std::int64_t Axis::*stride;
};
inline constexpr Side kFromSide{&Box::from, &Axis::from};
inline constexpr Side kToSide{&Box::to, &Axis::to};

/// The same copy with ascending destinations, no axes of size one, and axes merged where that is
/// possible.
[[nodiscard]] Box simplified(Box box);

/// Whether a box copies an element to several places.
[[nodiscard]] bool repeats(const Box& box);

/// Whether a box writes its destinations, from 0 on, without gaps, in the order of its axes.
[[nodiscard]] bool is_dense(const Box& box);

[[nodiscard]] Box to_box(const StridedBox& box);

/// Lowest and highest element number that `box` touches on a side. The box is not empty.
struct Extent {
  std::int64_t first, last;
};
[[nodiscard]] Extent extent_of(const Box& box, Side side);

/// Cuts `box` so that each part lies in one interval on `side`. `interval_at(element)` gives the
/// number and end (exclusive) of the interval that holds an element.
struct IntervalEnd {
  std::size_t number;
  std::int64_t end;
};
void partition(const Box& box, Side side,
               const std::function<IntervalEnd(std::int64_t)>& interval_at,
               const std::function<void(std::size_t, const Box&)>& visit);

/// The boxes that make up elements [begin, end) of the row-major index space of `axes`: like a copy
/// of the whole space, cut to a range of its flat numbers. Strides are those of `axes`; offsets are
/// relative to index 0.
[[nodiscard]] std::vector<Box> range_boxes(const Axes& axes, std::int64_t begin, std::int64_t end);

/// `outer` reads the result of `inner`, whose one box writes all of it densely: the copy straight
/// from inner's source. False when no single box does it.
[[nodiscard]] bool compose(const Box& outer, const Box& inner, Box& composed);

/// Cuts `outer`, which reads only what `inner` writes, into parts that `compose` can do; `visit`
/// gets these as copies straight from inner's source.
void compose_parts(const Box& outer, const Box& inner,
                   const std::function<void(const Box&)>& visit);

/// The copy back.
[[nodiscard]] Box reversed(const Box& box);

/// Calls `visit` with the source and destination of every index of `axes`.
void for_each_index(std::span<const Axis> axes, std::int64_t from, std::int64_t to,
                    const auto& visit) {
  if (axes.empty()) {
    visit(from, to);
    return;
  }
  for (std::int64_t i = 0; i < axes[0].size; ++i) {
    for_each_index(axes.subspan(1), from + i * axes[0].from, to + i * axes[0].to, visit);
  }
}

}  // namespace superstep
