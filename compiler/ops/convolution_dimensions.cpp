#include "compiler/ops/convolution_dimensions.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/indices.h"

namespace superstep {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

}  // namespace

NamedTensor::NamedTensor(Tensor tensor, const Convolution::Dimensions& dimensions)
    : tensor_(tensor), names_(tensor.shape().size()) {
  names_[at(dimensions.first)] = kFirst;
  names_[at(dimensions.second)] = kSecond;
  for (std::size_t i = 0; i < dimensions.spatial.size(); ++i) {
    names_[at(dimensions.spatial[i])] = static_cast<std::int64_t>(i);
  }
}

std::int64_t NamedTensor::place_of(std::int64_t name) const {
  return std::ranges::find(names_, name) - names_.begin();
}

Indices NamedTensor::places_of(const Indices& names) const {
  Indices places;
  for (const std::int64_t name : names) places.push_back(place_of(name));
  return places;
}

std::int64_t NamedTensor::size(std::int64_t name) const {
  return tensor_.shape()[at(place_of(name))];
}

NamedTensor NamedTensor::grouped(std::int64_t name, std::int64_t groups) const {
  if (groups == 1) return *this;
  Shape shape = tensor_.shape();
  Indices names = names_;
  const std::int64_t d = place_of(name);
  shape[at(d)] /= groups;
  shape.insert(shape.begin() + d, groups);
  names.insert(names.begin() + d, kGroup);
  return {reshape(tensor_, shape), names};
}

NamedTensor NamedTensor::ordered(const Indices& names) const {
  Shape shape;
  Indices kept;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!contains(names, names_[i])) continue;
    kept.push_back(names_[i]);
    shape.push_back(tensor_.shape()[i]);
  }
  for (const std::int64_t name : names) {
    if (contains(names_, name)) continue;
    kept.push_back(name);
    shape.push_back(1);
  }
  const NamedTensor all{reshape(tensor_, shape), kept};
  if (kept == names) return all;
  return {transpose(all.tensor_, all.places_of(names)), names};
}

NamedTensor NamedTensor::part(std::int64_t name, std::int64_t first, std::int64_t count,
                              std::int64_t step) const {
  Shape limit = tensor_.shape();
  const std::size_t d = at(place_of(name));
  if (count == limit[d] && step == 1) return *this;
  Indices start(limit.size()), steps(limit.size(), 1);
  start[d] = first;
  steps[d] = step;
  limit[d] = first + (count - 1) * step + 1;
  return {slice(tensor_, start, limit, steps), names_};
}

NamedTensor NamedTensor::padded(const std::vector<SlidingWindow>& windows) const {
  const Indices none(names_.size());
  Indices low = none, high = none, interior = none;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t d = at(place_of(static_cast<std::int64_t>(i)));
    low[d] = windows[i].low;
    high[d] = windows[i].high;
    interior[d] = windows[i].base_dilation - 1;
  }
  if (low == none && high == none && interior == none) return *this;
  return {pad(tensor_, tensor_.builder->number(tensor_.dtype(), 0), low, high, interior), names_};
}

NamedTensor NamedTensor::through(const std::vector<Seen>& windows) const {
  std::vector<Unfolded> sliding;
  Indices names = names_;
  for (const Seen& window : windows) {
    sliding.push_back({place_of(window.name), window.size, window.stride, window.dilation});
    names.push_back(window.places_name);
  }
  return {unfold(tensor_, sliding), std::move(names)};
}

NamedTensor NamedTensor::reversed(std::int64_t name) const {
  return {reverse(tensor_, {place_of(name)}), names_};
}

NamedTensor joined(const std::vector<NamedTensor>& parts, std::int64_t name) {
  if (parts.size() == 1) return parts[0];
  std::vector<Tensor> tensors;
  for (const NamedTensor& part : parts) tensors.push_back(part.tensor());
  return {concatenate(tensors, parts[0].place_of(name)), parts[0].names()};
}

}  // namespace superstep
