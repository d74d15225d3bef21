#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/sliding_window.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

std::vector<SlidingWindow> windows_of(const Op& op, const Shape& shape) {
  const Indices sizes = op.attributes.contains("window_dimensions")
                            ? index_list(op, "window_dimensions", shape.size())
                            : Indices(shape.size(), 1);
  for (const std::int64_t size : sizes) {
    if (size < 1) malformed(op, fmt::format("has windows of {} places, expected 1 or more", size));
  }
  return sliding_windows(op, sizes, shape, {"window_strides", "padding", {}, {}});
}

std::vector<TensorType> infer(const Op& op, std::span<const TensorType> operands) {
  const TensorType &operand = operands[0], &source = operands[1];
  const TensorType scalar{operand.dtype, {}};
  if (operands[2] != scalar) {
    malformed(
        op, fmt::format("the initial value is {}, expected {}", operands[2].text(), scalar.text()));
  }
  const TensorType expected{operand.dtype,
                            window_counts(windows_of(op, operand.shape), operand.shape)};
  if (source != expected) {
    malformed(op, fmt::format("the source is {}, expected {}, an element for each window",
                              source.text(), expected.text()));
  }
  const std::vector<TensorType> both{scalar, scalar};
  check_scalar_region(op, op.regions[0], both, std::vector<TensorType>{{DType::kI1, {}}});
  check_scalar_region(op, op.regions[1], both, std::vector<TensorType>{scalar});
  return {operand};
}

/// Windows in row-major order: of each the element which its other ones do not replace, then that
/// of the result combined with the source's.
std::vector<HostTensor> evaluate(const Op& op, std::span<const HostTensor> operands) {
  const HostTensor &operand = operands[0], &source = operands[1];
  const Shape& shape = operand.type.shape;
  const std::vector<SlidingWindow> windows = windows_of(op, shape);
  HostTensor result(operand.type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.type.elements()); ++i) {
    copy_element(result, i, operands[2], 0);
  }
  if (source.type.elements() == 0) return {std::move(result)};
  const Indices strides = row_major_strides(shape);
  Shape sizes;
  for (const SlidingWindow& window : windows) sizes.push_back(window.size);
  const auto apply = [&](const Graph& region, const HostTensor& a, std::size_t of_a,
                         const HostTensor& b, std::size_t of_b) {
    std::vector<HostTensor> both(2, HostTensor(TensorType{operand.type.dtype, {}}));
    copy_element(both[0], 0, a, of_a);
    copy_element(both[1], 0, b, of_b);
    return evaluate_scalar_region(region, std::move(both))[0];
  };
  Indices window(shape.size());
  std::size_t number = 0;
  do {
    std::optional<std::size_t> selected;
    Indices place(shape.size());
    do {
      std::optional<std::size_t> element = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const auto at = windows[d].element(window[d], place[d], shape[d]);
        element = at && element
                      ? std::optional(*element + static_cast<std::size_t>(*at * strides[d]))
                      : std::nullopt;
      }
      if (!element) continue;
      if (!selected ||
          read_bits(apply(op.regions[0], operand, *selected, operand, *element), 0) == 0) {
        selected = element;
      }
    } while (next_index(place, sizes));
    const std::size_t update = number++;
    if (!selected) continue;
    copy_element(result, *selected, apply(op.regions[1], result, *selected, source, update), 0);
  } while (next_index(window, source.type.shape));
  return {std::move(result)};
}

/// The places of windows, all windows at once.
class Places {
 public:
  Places(Tensor operand, Tensor initial, std::vector<SlidingWindow> windows)
      : windows_(std::move(windows)),
        shape_(operand.shape()),
        counts_(window_counts(windows_, shape_)),
        padded_(operand) {
    Indices low, high;
    for (const SlidingWindow& window : windows_) {
      sizes_.push_back(window.size);
      low.push_back(window.low);
      high.push_back(window.high);
    }
    const Indices none(shape_.size(), 0);
    if (low != none || high != none) padded_ = pad(operand, initial, low, high, none);
  }

  [[nodiscard]] const Shape& sizes() const { return sizes_; }
  [[nodiscard]] const Shape& counts() const { return counts_; }

  /// By window, what is at a place of it.
  [[nodiscard]] Tensor values(const Indices& place) const {
    Indices limit, strides;
    for (std::size_t d = 0; d < place.size(); ++d) {
      strides.push_back(windows_[d].stride);
      limit.push_back(place[d] + (counts_[d] - 1) * windows_[d].stride + 1);
    }
    return slice(padded_, place, limit, strides);
  }

  /// By window, whether an element is at a place of it; padding matters in few dimensions, and
  /// these flags have 1 in the others.
  [[nodiscard]] std::vector<bool> holds(const Indices& place) const {
    std::vector<bool> flags;
    Indices window(place.size());
    do {
      bool is_element = true;
      for (std::size_t d = 0; d < place.size(); ++d) {
        is_element = is_element && (!windows_[d].has_gaps() ||
                                    windows_[d].element(window[d], place[d], shape_[d]));
      }
      flags.push_back(is_element);
    } while (next_index(window, flag_shape()));
    return flags;
  }

  /// A constant for each window by its flag.
  template <class OfFlag>
  [[nodiscard]] Tensor by_flag(const std::vector<bool>& flags, DType dtype, OfFlag of_flag) const {
    HostTensor tensor(TensorType{dtype, flag_shape()});
    for (std::size_t i = 0; i < flags.size(); ++i) {
      if (is_float(dtype)) {
        write_float(tensor, i, of_flag(flags[i]));
      } else {
        write_int(tensor, i, of_flag(flags[i]));
      }
    }
    Shape shape;
    Indices dimensions;
    for (std::size_t d = 0; d < counts_.size(); ++d) {
      if (!windows_[d].has_gaps()) continue;
      shape.push_back(counts_[d]);
      dimensions.push_back(static_cast<std::int64_t>(d));
    }
    tensor.type.shape = shape;
    return broadcast(padded_.builder->constant(std::move(tensor)), counts_, dimensions);
  }

 private:
  [[nodiscard]] Shape flag_shape() const {
    Shape shape = counts_;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!windows_[d].has_gaps()) shape[d] = 1;
    }
    return shape;
  }

  std::vector<SlidingWindow> windows_;
  Shape shape_, counts_, sizes_;
  Tensor padded_;
};

/// The dtype of the numbers of so many places of windows over elements of `operand`: vertices
/// choose among floats two or four at a time.
DType dtype_of_numbers(DType operand, std::int64_t places) {
  const bool are_exact = (operand == DType::kF32 && places <= 1 << 24) ||
                         (operand == DType::kF16 && places <= 1 << 11);
  return are_exact ? operand : DType::kI32;
}

bool any(const std::vector<bool>& flags) { return std::ranges::find(flags, true) != flags.end(); }
bool all(const std::vector<bool>& flags) { return std::ranges::find(flags, false) == flags.end(); }

/// By window, the number of the place that is selected; -1 of a window without elements.
Tensor selected_places(const Graph& region, const Places& places) {
  Indices place(places.sizes().size());
  Tensor selected = places.values(place);
  std::vector<bool> held = places.holds(place);
  const DType dtype =
      dtype_of_numbers(selected.dtype(), TensorType{DType::kI1, places.sizes()}.elements());
  Tensor number = places.by_flag(held, dtype, [](bool holds) { return holds ? 0 : -1; });
  const auto flags = [&](const std::vector<bool>& list) {
    return places.by_flag(list, DType::kI1, [](bool flag) { return flag ? 1 : 0; });
  };
  for (std::int64_t next = 1; next_index(place, places.sizes()); ++next) {
    const Tensor other = places.values(place);
    const std::vector<bool> holds = places.holds(place);
    // Windows that stay with what they have, and those of which this is the first element.
    std::vector<bool> stays, first;
    for (std::size_t i = 0; i < holds.size(); ++i) {
      stays.push_back(!holds[i]);
      first.push_back(holds[i] && !held[i]);
      held[i] = held[i] || holds[i];
    }
    if (all(stays)) continue;
    Tensor keeps = apply_scalar_region(region, std::vector{selected, other})[0];
    if (any(stays)) keeps = keeps | flags(stays);
    if (any(first)) {
      first.flip();
      keeps = keeps & flags(first);
    }
    selected = select(keeps, selected, other);
    number = select(keeps, number, number.like(static_cast<double>(next)));
  }
  return number;
}

/// Positions of the padded operand as [i][phase], `stride` phases a dimension: what windows have at
/// a place goes to one phase, and is moved by whole strides there.
class Scattering {
 public:
  Scattering(const Graph& region, Tensor numbers, Tensor source, Tensor initial,
             const std::vector<SlidingWindow>& windows, const Shape& shape)
      : region_(region), numbers_(numbers), source_(source), initial_(initial), windows_(windows) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const SlidingWindow& window = windows[d];
      sizes_.push_back(window.size);
      moves_.push_back((window.size + window.stride - 1) / window.stride);
      const std::int64_t end = window.low + shape[d];
      grid_.push_back(
          std::max((end + window.stride - 1) / window.stride, source.shape()[d] + moves_[d] - 1));
      low_.push_back(-window.low);
      high_.push_back(end - grid_[d] * window.stride);
    }
  }

  [[nodiscard]] Tensor result() {
    const Tensor all = all_phases();
    const Indices none(grid_.size(), 0);
    if (low_ == none && high_ == none) return all;
    return pad(all, initial_, low_, high_, none);
  }

 private:
  /// All phases, one after the other, then in their places: a dimension of the grid and its phases
  /// become one.
  [[nodiscard]] Tensor all_phases() {
    const std::size_t rank = grid_.size();
    Shape strides, one = grid_, split, shape = grid_;
    std::vector<std::int64_t> order;
    for (const SlidingWindow& window : windows_) strides.push_back(window.stride);
    one.insert(one.begin(), 1);
    std::vector<Tensor> parts;
    Indices phase(rank);
    do {
      parts.push_back(reshape(of_phase(phase), one));
    } while (next_index(phase, strides));
    if (parts.size() == 1) return reshape(parts[0], grid_);
    split = strides;
    split.insert(split.end(), grid_.begin(), grid_.end());
    for (std::size_t d = 0; d < rank; ++d) {
      order.push_back(static_cast<std::int64_t>(rank + d));
      order.push_back(static_cast<std::int64_t>(d));
      shape[d] *= strides[d];
    }
    return reshape(transpose(reshape(concatenate(parts, 0), split), order), shape);
  }

  /// Windows in ascending order have the places of a position in descending order.
  [[nodiscard]] Tensor of_phase(const Indices& phase) {
    Tensor sum = broadcast(initial_, grid_, {});
    Indices back(phase.size());
    do {
      Indices move, place;
      bool is_place = true;
      for (std::size_t d = 0; d < phase.size(); ++d) {
        move.push_back(moves_[d] - 1 - back[d]);
        place.push_back(move[d] * windows_[d].stride + phase[d]);
        is_place = is_place && place[d] < sizes_[d];
      }
      if (!is_place) continue;
      const auto& [numbers, source] = moved(move);
      const auto number = static_cast<double>(element_at(place, row_major_strides(sizes_)));
      sum =
          select(numbers == number, apply_scalar_region(region_, std::vector{sum, source})[0], sum);
    } while (next_index(back, moves_));
    return sum;
  }

  /// Numbers and source at positions of the grid.
  const std::pair<Tensor, Tensor>& moved(const Indices& move) {
    const auto found = moved_.find(move);
    if (found != moved_.end()) return found->second;
    Indices high;
    const Indices none(move.size(), 0);
    for (std::size_t d = 0; d < move.size(); ++d) {
      high.push_back(grid_[d] - source_.shape()[d] - move[d]);
    }
    const auto at = [&](Tensor x, Tensor padding) {
      return move == none && high == none ? x : pad(x, padding, move, high, none);
    };
    const Tensor nowhere = numbers_.builder->number(numbers_.dtype(), -1);
    return moved_.emplace(move, std::pair(at(numbers_, nowhere), at(source_, initial_)))
        .first->second;
  }

  const Graph& region_;
  Tensor numbers_, source_, initial_;
  const std::vector<SlidingWindow>& windows_;
  Shape sizes_, moves_, grid_;
  Indices low_, high_;
  std::map<Indices, std::pair<Tensor, Tensor>> moved_;
};

std::vector<Tensor> expand(GraphBuilder&, const Op& op, std::span<const Tensor> operands) {
  const Tensor operand = operands[0], source = operands[1], initial = operands[2];
  std::vector<SlidingWindow> windows = windows_of(op, operand.shape());
  trim(windows, operand.shape());
  if (source.type().elements() == 0 || have_no_places(windows)) {
    return {broadcast(initial, operand.shape(), {})};
  }
  const Tensor numbers = selected_places(op.regions[0], Places(operand, initial, windows));
  return {Scattering(op.regions[1], numbers, source, initial, windows, operand.shape()).result()};
}

}  // namespace

const OpDefinition kSelectAndScatterOp{
    .name = "stablehlo.select_and_scatter",
    .summary = "Elements of one tensor combined into places that windows of another one select.",
    .infer = infer,
    .evaluate = evaluate,
    .lowerings = {ExpandLowering{expand}},
    .traits = {.operands = {kAnyDType, kAnyDType, kAnyDType}, .regions = 2, .folds_expanded = true},
    .attributes = "window_dimensions window_strides padding",
};

}  // namespace superstep
