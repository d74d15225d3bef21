#include "compiler/ops/window_reduction.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/scalar_region.h"
#include "compiler/ops/windows_in_order.h"

namespace superstep {
namespace {

/// Tensors alike, some of whose positions along the dimension at hand hold nothing.
struct MaskedTensors {
  std::vector<Tensor> values;
  std::vector<bool> holds;  ///< by position
};

bool all(const std::vector<bool>& flags) { return std::ranges::find(flags, false) == flags.end(); }

/// True where the flags along a dimension are.
Tensor mask(GraphBuilder& builder, const std::vector<bool>& flags, const Shape& shape,
            std::size_t d) {
  HostTensor tensor(TensorType{DType::kI1, {static_cast<std::int64_t>(flags.size())}});
  for (std::size_t i = 0; i < flags.size(); ++i) tensor.set<std::uint8_t>(i, flags[i] ? 1 : 0);
  return broadcast(builder.constant(std::move(tensor)), shape, {static_cast<std::int64_t>(d)});
}

/// Positions `start`, `start + step`, … along a dimension, `count` of them.
MaskedTensors part(const MaskedTensors& masked, std::size_t d, std::int64_t start,
                   std::int64_t count, std::int64_t step) {
  const Shape shape = masked.values.front().shape();
  Indices begin(shape.size(), 0), limit = shape, strides(shape.size(), 1);
  begin[d] = start;
  limit[d] = start + (count - 1) * step + 1;
  strides[d] = step;
  MaskedTensors result;
  for (const Tensor& value : masked.values) {
    const bool is_all = begin[d] == 0 && limit == shape && step == 1;
    result.values.push_back(is_all ? value : slice(value, begin, limit, strides));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    result.holds.push_back(masked.holds[static_cast<std::size_t>(start + i * step)]);
  }
  return result;
}

/// What the region makes of two, where both hold something; else what one of them holds.
MaskedTensors combined(const Graph& region, const MaskedTensors& a, const MaskedTensors& b,
                       std::size_t d) {
  std::vector<Tensor> arguments = a.values;
  arguments.insert(arguments.end(), b.values.begin(), b.values.end());
  MaskedTensors result{apply_scalar_region(region, arguments), {}};
  std::vector<bool> both;
  bool b_alone = false;
  for (std::size_t i = 0; i < a.holds.size(); ++i) {
    both.push_back(a.holds[i] && b.holds[i]);
    b_alone = b_alone || (b.holds[i] && !a.holds[i]);
    result.holds.push_back(a.holds[i] || b.holds[i]);
  }
  if (all(both)) return result;
  GraphBuilder& builder = *a.values.front().builder;
  const Shape shape = a.values.front().shape();
  const Tensor both_hold = mask(builder, both, shape, d);
  const std::optional<Tensor> a_holds =
      b_alone ? std::optional(mask(builder, a.holds, shape, d)) : std::nullopt;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const Tensor one = a_holds ? select(*a_holds, a.values[i], b.values[i]) : a.values[i];
    result.values[i] = select(both_hold, result.values[i], one);
  }
  return result;
}

/// Whether each window begins or ends at an element of its own and goes on to the end of the
/// dimension.
bool is_scan(const SlidingWindow& window, std::int64_t elements) {
  const std::int64_t beyond = window.size - 1;
  const bool is_dense =
      window.stride == 1 && window.base_dilation == 1 && window.window_dilation == 1;
  return is_dense && elements > 1 && window.size >= elements &&
         ((window.low == beyond && window.high == 0) || (window.high == beyond && window.low == 0));
}

/// All elements up to each one, or from each one on, in a step for each doubling of their number.
MaskedTensors scanned(const Graph& region, MaskedTensors masked, std::size_t d, bool is_reverse) {
  const std::int64_t elements = masked.values.front().shape()[d];
  for (std::int64_t done = 1; done < elements; done *= 2) {
    const std::int64_t rest = elements - done;
    const MaskedTensors next =
        combined(region, part(masked, d, 0, rest, 1), part(masked, d, done, rest, 1), d);
    const MaskedTensors kept = part(masked, d, is_reverse ? rest : 0, done, 1);
    for (std::size_t i = 0; i < masked.values.size(); ++i) {
      const std::vector<Tensor> parts = is_reverse ? std::vector{next.values[i], kept.values[i]}
                                                   : std::vector{kept.values[i], next.values[i]};
      masked.values[i] = concatenate(parts, static_cast<std::int64_t>(d));
    }
  }
  return masked;
}

/// The dimension with its gaps and padding, which hold nothing.
MaskedTensors padded(MaskedTensors masked, std::span<const Tensor> initial, std::size_t d,
                     const SlidingWindow& window) {
  const std::int64_t elements = masked.values.front().shape()[d];
  const std::int64_t positions = window.padded(elements);
  if (window.low == 0 && window.high == 0 && window.base_dilation == 1) return masked;
  const std::size_t rank = masked.values.front().shape().size();
  Indices low(rank, 0), high(rank, 0), interior(rank, 0);
  low[d] = window.low;
  high[d] = window.high;
  interior[d] = window.base_dilation - 1;
  for (std::size_t i = 0; i < masked.values.size(); ++i) {
    masked.values[i] = pad(masked.values[i], initial[i], low, high, interior);
  }
  masked.holds.clear();
  for (std::int64_t at = 0; at < positions; ++at) {
    const std::int64_t from = at - window.low;
    masked.holds.push_back(from >= 0 && from % window.base_dilation == 0 &&
                           from / window.base_dilation < elements);
  }
  return masked;
}

/// One window at every position: those of twice the size follow from two of them.
MaskedTensors slid(const Graph& region, const MaskedTensors& masked, std::size_t d,
                   const SlidingWindow& window, std::int64_t windows) {
  const std::int64_t step = window.window_dilation;
  // Elements combined with one slice for each place of the window, or with windows of powers of 2.
  const auto log =
      static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(window.size))) - 1;
  const auto powers =
      static_cast<std::int64_t>(std::popcount(static_cast<std::uint64_t>(window.size)));
  const std::int64_t positions = (windows - 1) * window.stride + window.span();
  const bool doubles = log * positions + (powers - 1) * windows < (window.size - 1) * windows;
  std::optional<MaskedTensors> result;
  const auto append = [&](const MaskedTensors& next) {
    result = result ? combined(region, *result, next, d) : next;
  };
  if (!doubles) {
    for (std::int64_t place = 0; place < window.size; ++place) {
      append(part(masked, d, place * step, windows, window.stride));
    }
    return *std::move(result);
  }
  MaskedTensors power = part(masked, d, 0, positions, 1);
  std::int64_t begin = 0;
  for (std::int64_t size = 1;; size *= 2) {
    if ((window.size & size) != 0) {
      // Larger powers come behind this one.
      append(part(power, d, begin * step, windows, window.stride));
      begin += size;
    }
    if (begin == window.size) return *std::move(result);
    const std::int64_t left = static_cast<std::int64_t>(power.holds.size()) - size * step;
    power = combined(region, part(power, d, 0, left, 1), part(power, d, size * step, left, 1), d);
  }
}

/// Whether an initial value takes part once, or several times, without a difference.
bool takes_part_often(const Graph& region, std::span<const Tensor> initial) {
  const Op* op = only_op_of(region);
  if (op == nullptr) return false;
  const OpDefinition* const definition = op->definition;
  if (definition == &kMaximumOp || definition == &kMinimumOp || definition == &kAndOp ||
      definition == &kOrOp) {
    return true;
  }
  if (definition != &kAddOp && definition != &kMultiplyOp && definition != &kXorOp) return false;
  const std::optional<HostTensor> value =
      constant_value(initial[0].builder->graph(), initial[0].id);
  return value && evaluate_scalar_region(region, {*value, *value})[0].data == value->data;
}

/// Whether all floats, and NaNs, replace the initial value: that of a maximum or minimum.
bool is_always_replaced(const Graph& region, std::span<const Tensor> initial) {
  const Op* op = only_op_of(region);
  if (op == nullptr || !is_float(initial[0].dtype())) return false;
  const bool is_maximum = op->definition == &kMaximumOp;
  if (!is_maximum && op->definition != &kMinimumOp) return false;
  const std::optional<HostTensor> value =
      constant_value(initial[0].builder->graph(), initial[0].id);
  return value &&
         read_float(*value, 0) == (is_maximum ? -1 : 1) * std::numeric_limits<double>::infinity();
}

/// Windows that do not meet and hold elements only: their dimensions become two, one of which is
/// reduced.
bool are_apart(const std::vector<SlidingWindow>& windows, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const SlidingWindow& window = windows[d];
    if (window.has_gaps() || (window.window_dilation != 1 && window.size != 1)) return false;
    if (window.size != window.stride && window.count(shape[d]) != 1) return false;
  }
  return true;
}

/// Places of windows that are apart which are combined element by element, without a reduction.
constexpr std::int64_t kMostPlaces = 4;

std::int64_t places_of(const std::vector<SlidingWindow>& windows) {
  std::int64_t places = 1;
  for (const SlidingWindow& window : windows) places *= window.size;
  return places;
}

std::vector<Tensor> reduce_apart(const Graph& region, std::span<const Tensor> inputs,
                                 std::span<const Tensor> initial,
                                 const std::vector<SlidingWindow>& windows) {
  const Shape shape = inputs[0].shape();
  const Shape counts = window_counts(windows, shape);
  Shape used = shape, split;
  Indices start(shape.size()), reduced;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    start[d] = -windows[d].low;
    used[d] = counts[d] * windows[d].size;
    split.push_back(counts[d]);
    if (windows[d].size == 1) continue;
    reduced.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(windows[d].size);
  }
  std::vector<Tensor> operands;
  for (const Tensor& input : inputs) operands.push_back(reshape(window(input, start, used), split));
  operands.insert(operands.end(), initial.begin(), initial.end());
  Op op;
  op.attributes["dimensions"] = reduced;
  op.regions = {region};
  return inputs[0].builder->append(kReduceOp, operands, std::move(op));
}

/// The places of windows that are apart and have few, one slice each, combined element by element,
/// from what `results` has, if anything.
std::vector<Tensor> combine_places(const Graph& region, std::span<const Tensor> inputs,
                                   std::vector<Tensor> results,
                                   const std::vector<SlidingWindow>& windows) {
  const Shape counts = window_counts(windows, inputs[0].shape());
  Shape sizes;
  Indices strides;
  for (const SlidingWindow& window : windows) {
    sizes.push_back(window.size);
    strides.push_back(window.stride);
  }
  Indices place(sizes.size());
  do {
    Indices begin, limit;
    for (std::size_t d = 0; d < place.size(); ++d) {
      begin.push_back(place[d] - windows[d].low);
      limit.push_back(begin[d] + (counts[d] - 1) * strides[d] + 1);
    }
    std::vector<Tensor> arguments = std::move(results);
    for (const Tensor& input : inputs) arguments.push_back(slice(input, begin, limit, strides));
    const bool is_first = arguments.size() == inputs.size();
    results = is_first ? std::move(arguments) : apply_scalar_region(region, arguments);
  } while (next_index(place, sizes));
  return results;
}

}  // namespace

std::vector<Tensor> reduce_windows(const Graph& region, std::span<const Tensor> inputs,
                                   std::span<const Tensor> initial,
                                   std::vector<SlidingWindow> windows) {
  GraphBuilder& builder = *inputs[0].builder;
  const Shape shape = inputs[0].shape();
  const Shape counts = window_counts(windows, shape);
  std::vector<Tensor> starts;
  for (const Tensor& value : initial) starts.push_back(broadcast(value, counts, {}));
  trim(windows, shape);
  if (TensorType{DType::kI1, counts}.elements() == 0 || have_no_places(windows)) return starts;
  if (inputs.size() == 1) {
    const auto result = reduce_in_order(region, inputs[0], starts[0], windows);
    if (result) return {*result};
  }
  if (are_apart(windows, shape)) {
    const std::int64_t places = places_of(windows);
    if (places > 1 && is_always_replaced(region, initial)) starts.clear();
    if (places <= kMostPlaces) return combine_places(region, inputs, starts, windows);
    return reduce_apart(region, inputs, initial, windows);
  }

  std::vector<Tensor> values(inputs.begin(), inputs.end());
  std::optional<Tensor> holds;
  const bool counts_gaps = takes_part_often(region, initial);
  // The last dimension first: places of a window are in row-major order.
  for (std::size_t d = shape.size(); d-- > 0;) {
    MaskedTensors masked{values, std::vector<bool>(static_cast<std::size_t>(shape[d]), true)};
    if (is_scan(windows[d], shape[d])) {
      values = scanned(region, std::move(masked), d, windows[d].low == 0).values;
      continue;
    }
    masked = padded(std::move(masked), initial, d, windows[d]);
    if (counts_gaps) masked.holds.assign(masked.holds.size(), true);
    masked = slid(region, masked, d, windows[d], counts[d]);
    values = masked.values;
    if (all(masked.holds)) continue;
    const Tensor holds_here = mask(builder, masked.holds, counts, d);
    holds = holds ? *holds & holds_here : holds_here;
  }
  std::vector<Tensor> arguments = starts;
  arguments.insert(arguments.end(), values.begin(), values.end());
  std::vector<Tensor> results = apply_scalar_region(region, arguments);
  if (!holds) return results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = select(*holds, results[i], starts[i]);
  }
  return results;
}

}  // namespace superstep
