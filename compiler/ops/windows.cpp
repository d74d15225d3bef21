#include "compiler/ops/windows.h"

#include <algorithm>
#include <utility>

namespace superstep {
namespace {

/// Widened to 32 bits where it has fewer.
Tensor widened(Tensor start) {
  return size_of(start.dtype()) < size_of(DType::kI32) ? convert(start, DType::kI32) : start;
}

Tensor permuted(Tensor x, const Indices& from, const Indices& to) {
  if (from == to) return x;
  Indices permutation;
  for (const std::int64_t name : to) {
    permutation.push_back(std::ranges::find(from, name) - from.begin());
  }
  return transpose(x, std::move(permutation));
}

}  // namespace

Windows::Windows(const Shape& shape, Shape sizes, Indices batching)
    : table_{shape, std::move(batching), {}}, sizes_(std::move(sizes)) {
  std::ranges::sort(table_.batching);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i);
    if (sizes_[i] < shape[i] && !contains(table_.batching, d)) table_.indexed.push_back(d);
  }
}

std::int64_t Windows::window() const {
  return table_.indexed.empty() ? 1 : size(table_.indexed.back());
}

std::int64_t Windows::last_start(std::int64_t dimension) const {
  return table_.shape[static_cast<std::size_t>(dimension)] - size(dimension);
}

Indices Windows::unrolled() const {
  Indices dimensions;
  for (const std::int64_t d : table_.indexed) {
    if (size(d) > 1 && d != table_.indexed.back()) dimensions.push_back(d);
  }
  return dimensions;
}

Indices Windows::order() const {
  Indices order = unrolled();
  if (!table_.indexed.empty()) order.push_back(table_.indexed.back());
  const Indices rest = table_.rest();
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

Tensor Windows::unrolled(Tensor x) const {
  for (const std::int64_t d : unrolled()) {
    Shape shape = x.shape();
    const Indices dimensions = all_dimensions(shape.size());
    shape.push_back(size(d));
    x = broadcast(x, shape, dimensions);
    shape.pop_back();
    shape.back() *= size(d);
    x = reshape(x, shape);
  }
  return x;
}

Tensor Windows::offsets(GraphBuilder& builder, const Shape& places,
                        const std::map<std::int64_t, Tensor>& starts, const Tensor* where) const {
  Tensor sum = broadcast(builder.number(DType::kI32, 0), places, {});
  std::int64_t stride = 1;
  std::map<std::int64_t, std::int64_t> strides;
  for (auto d = table_.indexed.rbegin(); d != table_.indexed.rend(); ++d) {
    strides[*d] = stride;
    const auto start = starts.find(*d);
    if (start != starts.end()) {
      const Tensor term = stride == 1 ? start->second : start->second * static_cast<double>(stride);
      sum = stride == 1 ? term : sum + term;
    }
    stride *= table_.shape[static_cast<std::size_t>(*d)];
  }
  for (const std::int64_t d : unrolled()) {
    // What `unrolled` makes of it is another dimension inside of those before.
    Shape shape = sum.shape();
    const Indices dimensions = all_dimensions(shape.size());
    shape.push_back(size(d));
    const auto inner = static_cast<std::int64_t>(shape.size()) - 1;
    sum = broadcast(sum, shape, dimensions) +
          builder.iota({DType::kI32, shape}, inner) * static_cast<double>(strides[d]);
    shape.pop_back();
    shape.back() *= size(d);
    sum = reshape(sum, shape);
  }
  if (where == nullptr) return sum;
  return select(unrolled(*where), sum, sum.like(-1));
}

Tensor Windows::to_native(Tensor x, const Indices& names, const Indices& others) const {
  Indices order = others;
  const Indices inner = this->order();
  order.insert(order.end(), inner.begin(), inner.end());
  // Other dimensions of the tensor have one element of each window.
  Shape shape;
  Indices kept;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!contains(order, names[i])) continue;
    kept.push_back(names[i]);
    shape.push_back(x.shape()[i]);
  }
  for (const std::int64_t name : order) {
    if (contains(names, name)) continue;
    kept.push_back(name);
    shape.push_back(1);
  }
  const Shape given = x.shape();
  std::int64_t count = 1;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (contains(others, names[i])) count *= given[i];
  }
  count /= std::max<std::int64_t>(table_.batches(), 1);
  for (const std::int64_t d : unrolled()) count *= size(d);
  return reshape(permuted(reshape(x, shape), kept, order), table_.windows(count, window()));
}

Tensor Windows::from_native(Tensor x,
                            const std::vector<std::pair<std::int64_t, std::int64_t>>& others,
                            const Indices& names) const {
  Shape shape;
  Indices kept;
  for (const auto& [name, size] : others) {
    kept.push_back(name);
    shape.push_back(size);
  }
  for (const std::int64_t d : order()) {
    if (!contains(names, d)) continue;
    kept.push_back(d);
    shape.push_back(size(d));
  }
  for (const std::int64_t name : names) {
    if (contains(kept, name)) continue;
    kept.push_back(name);
    shape.push_back(1);
  }
  return permuted(reshape(x, shape), kept, names);
}

Tensor clamped_start(Tensor start, std::int64_t last) {
  Tensor clamped = widened(start);
  clamped = minimum(clamped, clamped.like(static_cast<double>(last)));
  if (is_signed(clamped.dtype())) clamped = maximum(clamped, clamped.like(0));
  return convert(clamped, DType::kI32);
}

Tensor is_start(Tensor start, std::int64_t last) {
  const Tensor wide = widened(start);
  const Tensor below = compare("LE", wide, wide.like(static_cast<double>(last)));
  return is_signed(wide.dtype()) ? below & compare("GE", wide, wide.like(0)) : below;
}

}  // namespace superstep
