#include "compiler/ops/windows_in_order.h"

#include <cstdint>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"

namespace superstep {
namespace {

/// Places of a window up to which it is taken in order [chosen by small64's cycles: sums of 3 x 3
/// pixels take 1.5 times as many as by rows and columns, those of 16 numbers in a row 2.4 times].
constexpr std::int64_t kMostPlaces = 16;
/// Elements up to which each follows from the one before. A step for each doubling would add them
/// all seven times [by small64's cycles: 128 rows of 1,000 take a seventh of as many, a vector of
/// 128 1.8 times as many].
constexpr std::int64_t kMostElements = 128;

bool depends_on_order(const Graph& region, DType dtype) {
  const Op* op = only_op_of(region);
  return op != nullptr && (is_float(dtype) || is_complex(dtype)) &&
         (op->definition == &kAddOp || op->definition == &kMultiplyOp);
}

bool are_short(const std::vector<SlidingWindow>& windows) {
  std::int64_t places = 1;
  for (const SlidingWindow& window : windows) {
    if (window.size > kMostPlaces) return false;
    places *= window.size;
  }
  return places <= kMostPlaces;
}

bool is_one_element(const SlidingWindow& window) {
  return window.size == 1 && window.stride == 1 && window.low == 0 && window.high == 0 &&
         window.base_dilation == 1;
}

/// Whether windows are all elements up to each one.
bool ends_at_each(const SlidingWindow& window, std::int64_t elements) {
  return window.size == elements && window.stride == 1 && window.low == elements - 1 &&
         window.high == 0 && window.base_dilation == 1 && window.window_dilation == 1;
}

/// The only dimension along which windows are more than one element, if they end at each one there.
std::optional<std::size_t> dimension_of_ends(const std::vector<SlidingWindow>& windows,
                                             const Shape& shape) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (is_one_element(windows[d])) continue;
    if (found || !ends_at_each(windows[d], shape[d])) return std::nullopt;
    found = d;
  }
  return found;
}

Tensor part_of(Tensor x, std::size_t d, std::int64_t position) {
  Indices begin(x.shape().size(), 0), limit = x.shape();
  begin[d] = position;
  limit[d] = position + 1;
  return slice(x, begin, limit, Indices(begin.size(), 1));
}

/// Each element after what those before it have given.
Tensor accumulated(const Graph& region, Tensor input, Tensor start, std::size_t d) {
  std::vector<Tensor> results;
  Tensor result = part_of(start, d, 0);
  for (std::int64_t i = 0; i < input.shape()[d]; ++i) {
    const std::vector<Tensor> both = {result, part_of(input, d, i)};
    result = apply_scalar_region(region, both)[0];
    results.push_back(result);
  }
  return concatenate(results, static_cast<std::int64_t>(d));
}

/// By window, whether it has an element at a place.
Tensor has_element(GraphBuilder& builder, const Indices& place,
                   const std::vector<SlidingWindow>& windows, const Shape& shape,
                   const Shape& counts) {
  std::optional<Tensor> all;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    HostTensor flags(TensorType{DType::kI1, {counts[d]}});
    for (std::int64_t w = 0; w < counts[d]; ++w) {
      const bool has = windows[d].element(w, place[d], shape[d]).has_value();
      flags.set<std::uint8_t>(static_cast<std::size_t>(w), has ? 1 : 0);
    }
    const Tensor one =
        broadcast(builder.constant(std::move(flags)), counts, {static_cast<std::int64_t>(d)});
    all = all ? *all & one : one;
  }
  return *all;
}

/// All windows at once, place by place.
Tensor by_places(const Graph& region, Tensor input, Tensor start,
                 const std::vector<SlidingWindow>& windows) {
  GraphBuilder& builder = *input.builder;
  const DType dtype = input.dtype();
  const Shape shape = input.shape(), counts = start.shape();
  Indices low, high, interior, sizes, strides, place(windows.size(), 0);
  bool has_gaps = false;
  for (const SlidingWindow& window : windows) {
    low.push_back(window.low);
    high.push_back(window.high);
    interior.push_back(window.base_dilation - 1);
    sizes.push_back(window.size);
    strides.push_back(window.stride);
    has_gaps = has_gaps || window.has_gaps();
  }
  // What is no element changes nothing, not even a -0. No complex number does so in a product with
  // an infinite one.
  const bool adds = only_op_of(region)->definition == &kAddOp;
  const bool is_masked = has_gaps && !adds && is_complex(dtype);
  const Tensor nothing = builder.number(real_of(dtype), adds ? -0.0 : 1.0);
  const Tensor neutral =
      is_complex(dtype) ? builder.apply(kComplexOp, {nothing, nothing}) : nothing;
  const Tensor padded = pad(input, neutral, low, high, interior);
  Tensor result = start;
  do {
    Indices begin, limit;
    for (std::size_t d = 0; d < windows.size(); ++d) {
      begin.push_back(place[d] * windows[d].window_dilation);
      limit.push_back(begin[d] + (counts[d] - 1) * windows[d].stride + 1);
    }
    const std::vector<Tensor> both = {result, slice(padded, begin, limit, strides)};
    const Tensor next = apply_scalar_region(region, both)[0];
    result = is_masked ? select(has_element(builder, place, windows, shape, counts), next, result)
                       : next;
  } while (next_index(place, sizes));
  return result;
}

}  // namespace

std::optional<Tensor> reduce_in_order(const Graph& region, Tensor input, Tensor start,
                                      const std::vector<SlidingWindow>& windows) {
  if (!depends_on_order(region, input.dtype())) return std::nullopt;
  const std::optional<std::size_t> d = dimension_of_ends(windows, input.shape());
  if (d && input.shape()[*d] <= kMostElements) return accumulated(region, input, start, *d);
  if (are_short(windows)) return by_places(region, input, start, windows);
  return std::nullopt;
}

}  // namespace superstep
