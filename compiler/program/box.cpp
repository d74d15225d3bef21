#include "compiler/program/box.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "base/error.h"

namespace superstep {
namespace {

void remove_single(Axes& axes) {
  const auto is_single = [](const Axis& axis) { return axis.size == 1; };
  axes.erase(std::remove_if(axes.begin(), axes.end(), is_single), axes.end());
}

/// Axes are few and mostly in order: a stable sort without the memory that `std::stable_sort`
/// takes.
void sort_descending(Axes& axes, std::int64_t Axis::*stride) {
  for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
    const auto at = std::upper_bound(axes.begin(), axis, *axis, [&](const Axis& a, const Axis& b) {
      return a.*stride > b.*stride;
    });
    std::rotate(at, axis, std::next(axis));
  }
}

/// Whether strides are >= 0, the greatest first, and no axis has only one index.
bool is_ordered(const Axes& axes, std::int64_t Axis::*stride) {
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].size == 1 || axes[a].*stride < 0) return false;
    if (a > 0 && axes[a - 1].*stride < axes[a].*stride) return false;
  }
  return true;
}

void flip_to_ascending(Box& box, std::int64_t Axis::*stride) {
  for (Axis& axis : box.axes) {
    if (axis.*stride >= 0) continue;
    box.from += (axis.size - 1) * axis.from;
    box.to += (axis.size - 1) * axis.to;
    axis.from = -axis.from;
    axis.to = -axis.to;
  }
}

/// All strides on `side` are >= 0 and axes are in descending order of that stride.
void partition_ordered(Box box, Side side,
                       const std::function<IntervalEnd(std::int64_t)>& interval_at,
                       const std::function<void(std::size_t, const Box&)>& visit) {
  while (true) {
    const Extent extent = extent_of(box, side);
    const IntervalEnd interval = interval_at(extent.first);
    if (extent.last < interval.end) {
      visit(interval.number, box);
      return;
    }
    Axis& outer = box.axes.front();
    const std::int64_t stride = outer.*side.stride;
    const std::int64_t inner_last = extent.last - (outer.size - 1) * stride;
    std::int64_t whole = 0;
    if (inner_last < interval.end) whole = (interval.end - 1 - inner_last) / stride + 1;
    const std::int64_t taken = std::max<std::int64_t>(whole, 1);
    Box head = box;
    if (taken == 1) {
      head.axes.erase(head.axes.begin());
    } else {
      head.axes.front().size = taken;
    }
    if (whole > 0) {
      visit(interval.number, head);
    } else {
      partition_ordered(std::move(head), side, interval_at, visit);
    }
    box.from += taken * outer.from;
    box.to += taken * outer.to;
    outer.size -= taken;
    if (outer.size == 1)
      box.axes.erase(box.axes.begin());
    else if (outer.size == 0)
      return;
  }
}

/// How a box, whose source strides are >= 0, leaves a digit of the index space that it reads: the
/// axis of the greatest stride that moves the digit, and how far it goes before it carries.
struct Carry {
  std::size_t axis;
  std::int64_t period;  ///< the stride of the next digit
  std::int64_t before;  ///< indices of the axis that do not carry
  bool is_aligned;      ///< every `period / stride` indices from the first on carry once
};

/// The innermost carry of `box` when it reads `inner`.
Carry carry_of(const Box& box, const Box& inner) {
  for (auto digit = inner.axes.rbegin(); digit != inner.axes.rend(); ++digit) {
    const std::int64_t period = digit->to * digit->size;
    std::int64_t reach = box.from % period;
    std::optional<std::size_t> moves;
    for (std::size_t a = 0; a < box.axes.size(); ++a) {
      const Axis& axis = box.axes[a];
      const std::int64_t step = axis.from % period;
      reach += step * (axis.size - 1);
      if (step >= digit->to && (!moves || axis.from > box.axes[*moves].from)) moves = a;
    }
    if (reach < period || !moves) continue;
    const Axis& axis = box.axes[*moves];
    const std::int64_t step = axis.from % period;
    const std::int64_t others = reach - step * (axis.size - 1);
    const std::int64_t before = others < period ? (period - 1 - others) / step + 1 : 0;
    const bool is_aligned = axis.from == step && period % step == 0 && others < step;
    return {*moves, period, before, is_aligned};
  }
  SUPERSTEP_CHECK(false, "a box reads past the elements that it composes with");
  return {};
}

/// An axis of whole periods after which it carries, as what does not and the periods.
void split_periods(Box& box, const Carry& carry, std::int64_t periods) {
  Axis& axis = box.axes[carry.axis];
  const Axis outer{periods, carry.period, carry.before * axis.to};
  axis.size = carry.before;
  box.axes.push_back(outer);
}

/// `compose` for an `outer` of which no axis carries from one axis of `inner` to the next. Source
/// strides are >= 0, and the destinations of `inner` dense.
bool compose_without_carry(const Box& outer, const Box& inner, Box& composed) {
  const std::size_t rank = inner.axes.size();
  // An element number splits into indices, as inner axes are in descending order of destinations.
  std::vector<std::int64_t> first(rank), last(rank), step(rank);
  const auto split = [&](std::int64_t element, std::vector<std::int64_t>& index) {
    for (std::size_t d = 0; d < rank; ++d) {
      index[d] = element / inner.axes[d].to;
      element %= inner.axes[d].to;
    }
  };
  split(outer.from, first);
  last = first;
  composed = {inner.from, outer.to, {}};
  for (std::size_t d = 0; d < rank; ++d) composed.from += first[d] * inner.axes[d].from;
  for (const Axis& axis : outer.axes) {
    split(axis.from, step);
    std::int64_t from = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      from += step[d] * inner.axes[d].from;
      last[d] += step[d] * (axis.size - 1);
      if (last[d] >= inner.axes[d].size) return false;
    }
    composed.axes.push_back({axis.size, from, axis.to});
  }
  composed = simplified(std::move(composed));
  return true;
}

}  // namespace

bool repeats(const Box& box) {
  return std::ranges::any_of(box.axes, [](const Axis& axis) { return axis.from == 0; });
}

bool is_dense(const Box& box) {
  std::int64_t dense = 1;
  for (auto axis = box.axes.rbegin(); axis != box.axes.rend(); ++axis) {
    if (axis->to != dense) return false;
    dense *= axis->size;
  }
  return box.to == 0;
}

std::int64_t Box::elements() const {
  std::int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

Box simplified(Box box) {
  remove_single(box.axes);
  flip_to_ascending(box, &Axis::to);
  sort_descending(box.axes, &Axis::to);
  std::size_t kept = 0;
  for (const Axis axis : box.axes) {
    if (kept > 0 && box.axes[kept - 1].to == axis.to * axis.size &&
        box.axes[kept - 1].from == axis.from * axis.size) {
      box.axes[kept - 1] = {box.axes[kept - 1].size * axis.size, axis.from, axis.to};
    } else {
      box.axes[kept++] = axis;
    }
  }
  box.axes.resize(kept);
  return box;
}

Box to_box(const StridedBox& strided) {
  Box box{strided.from_offset, strided.to_offset, {}};
  for (std::size_t d = 0; d < strided.sizes.size(); ++d) {
    box.axes.push_back({strided.sizes[d], strided.from_strides[d], strided.to_strides[d]});
  }
  return simplified(std::move(box));
}

Extent extent_of(const Box& box, Side side) {
  Extent extent{box.*side.offset, box.*side.offset};
  for (const Axis& axis : box.axes) {
    const std::int64_t span = (axis.size - 1) * (axis.*side.stride);
    (span < 0 ? extent.first : extent.last) += span;
  }
  return extent;
}

void partition(const Box& box, Side side,
               const std::function<IntervalEnd(std::int64_t)>& interval_at,
               const std::function<void(std::size_t, const Box&)>& visit) {
  if (box.elements() == 0) return;
  if (is_ordered(box.axes, side.stride)) {
    const Extent extent = extent_of(box, side);
    const IntervalEnd interval = interval_at(extent.first);
    if (extent.last < interval.end) {
      visit(interval.number, box);
      return;
    }
  }
  Box ordered = box;
  remove_single(ordered.axes);
  flip_to_ascending(ordered, side.stride);
  sort_descending(ordered.axes, side.stride);
  partition_ordered(std::move(ordered), side, interval_at, visit);
}

std::vector<Box> range_boxes(const Axes& axes, std::int64_t begin, std::int64_t end) {
  std::vector<Box> boxes;
  if (begin >= end) return boxes;
  // Number the space row-major on the destination side, cut there, then put the real strides back.
  std::int64_t inner = 1;
  for (std::size_t d = 1; d < axes.size(); ++d) inner *= axes[d].size;
  if (axes.empty()) {
    boxes.push_back({});
    return boxes;
  }
  const Axis& outer = axes.front();
  const Axes rest(axes.begin() + 1, axes.end());
  const auto add = [&](std::int64_t index, std::int64_t from, std::int64_t to) {
    for (Box box : range_boxes(rest, from, to)) {
      box.from += index * outer.from;
      box.to += index * outer.to;
      boxes.push_back(std::move(box));
    }
  };
  std::int64_t first = begin / inner;
  const std::int64_t last = end / inner;
  if (first == last) {
    add(first, begin - first * inner, end - first * inner);
    return boxes;
  }
  if (begin % inner != 0) {
    add(first, begin % inner, inner);
    ++first;
  }
  if (first < last) {
    Box middle{first * outer.from, first * outer.to, axes};
    middle.axes.front().size = last - first;
    boxes.push_back(std::move(middle));
  }
  if (end % inner != 0) add(last, 0, end % inner);
  return boxes;
}

bool compose(const Box& outer, const Box& inner, Box& composed) {
  if (!is_dense(inner)) return false;
  Box rest = outer;
  flip_to_ascending(rest, &Axis::from);
  remove_single(rest.axes);
  while (!compose_without_carry(rest, inner, composed)) {
    const Carry carry = carry_of(rest, inner);
    const std::int64_t indices = rest.axes[carry.axis].size;
    if (!carry.is_aligned || indices % carry.before != 0) return false;
    split_periods(rest, carry, indices / carry.before);
  }
  return true;
}

void compose_parts(const Box& outer, const Box& inner,
                   const std::function<void(const Box&)>& visit) {
  Box composed, rest = outer;
  flip_to_ascending(rest, &Axis::from);
  remove_single(rest.axes);
  while (!compose(rest, inner, composed)) {
    const Carry carry = carry_of(rest, inner);
    const Axis axis = rest.axes[carry.axis];
    const auto at = rest.axes.begin() + static_cast<std::ptrdiff_t>(carry.axis);
    const auto advance = [&](std::int64_t indices) {
      rest.from += indices * axis.from;
      rest.to += indices * axis.to;
    };
    Box part = rest;
    Axis& taken = part.axes[carry.axis];
    std::int64_t left = 0;
    if (carry.is_aligned && axis.size >= carry.before) {
      const std::int64_t periods = axis.size / carry.before;
      split_periods(part, carry, periods);
      left = axis.size - periods * carry.before;
      advance(periods * carry.before);
    } else {
      taken.size = std::clamp<std::int64_t>(carry.before, 1, axis.size - 1);
      left = axis.size - taken.size;
      advance(taken.size);
    }
    compose_parts(part, inner, visit);
    if (left == 0) return;
    at->size = left;
    if (left == 1) rest.axes.erase(at);
  }
  visit(composed);
}

Box reversed(const Box& box) {
  Box back{box.to, box.from, box.axes};
  for (Axis& axis : back.axes) std::swap(axis.from, axis.to);
  return simplified(std::move(back));
}

}  // namespace superstep
