#include "compiler/ops/start_indices.h"

#include <algorithm>
#include <limits>
#include <fmt/format.h>
#include <utility>

#include "compiler/ops/elements.h"
#include "compiler/ops/verify.h"

namespace superstep {
void require_sorted(const Op& op, std::string_view name, const Indices& list) {
  if (!std::ranges::is_sorted(list)) malformed(op, fmt::format("{} is not ascending", name));
}

StartIndices::StartIndices(const Op& op, const Names& names, const Shape& operand,
                           const Shape& indices)
    : rank_(operand.size()), shape_(indices) {
  const std::int64_t dimension = op.attributes.contains("index_vector_dim")
                                     ? attribute<std::int64_t>(op, "index_vector_dim")
                                     : 0;
  if (dimension < 0 || dimension > static_cast<std::int64_t>(indices.size())) {
    malformed(op, fmt::format("index_vector_dim is {}, but the indices have rank {}", dimension,
                              indices.size()));
  }
  vector_dimension_ = static_cast<std::size_t>(dimension);
  if (vector_dimension_ == shape_.size()) shape_.push_back(1);
  map_ = dimension_list(op, names.map, operand.size());
  operand_batching_ = dimension_list(op, names.operand_batching, operand.size());
  batching_ = dimension_list(op, names.batching, indices.size());
  require_sorted(op, names.operand_batching, operand_batching_);
  if (static_cast<std::int64_t>(map_.size()) != shape_[vector_dimension_]) {
    malformed(op, fmt::format("{} has {} entries, but vectors of indices have {}", names.map,
                              map_.size(), shape_[vector_dimension_]));
  }
  if (batching_.size() != operand_batching_.size()) {
    malformed(op, fmt::format("{} and {} have {} and {} entries", names.operand_batching,
                              names.batching, operand_batching_.size(), batching_.size()));
  }
  for (std::size_t i = 0; i < batching_.size(); ++i) {
    const std::int64_t size = operand[static_cast<std::size_t>(operand_batching_[i])];
    if (contains(map_, operand_batching_[i]) || contains(batching_, dimension) ||
        size != this->size(batching_[i])) {
      malformed(op, fmt::format("{} and {} do not name batches of one size that are not indexed",
                                names.operand_batching, names.batching));
    }
  }
}

Indices StartIndices::dimensions() const {
  Indices all;
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    if (i != vector_dimension_) all.push_back(static_cast<std::int64_t>(i));
  }
  return all;
}

Indices StartIndices::ordered() const {
  Indices order = batching_;
  for (const std::int64_t d : dimensions()) {
    if (!contains(batching_, d)) order.push_back(d);
  }
  return order;
}

Shape StartIndices::sizes(const Indices& dimensions) const {
  Shape sizes;
  for (const std::int64_t d : dimensions) sizes.push_back(size(d));
  return sizes;
}

Shape StartIndices::places() const {
  Shape places = sizes(batching_);
  places.push_back(1);
  for (const std::int64_t d : dimensions()) {
    if (!contains(batching_, d)) places.back() *= size(d);
  }
  return places;
}

std::map<std::int64_t, Tensor> StartIndices::starts(Tensor indices) const {
  const auto vectors = static_cast<std::int64_t>(vector_dimension_);
  Indices order = ordered();
  order.push_back(vectors);
  Shape shape = places();
  shape.push_back(size(vectors));
  const Tensor all = reshape(transpose(reshape(indices, shape_), std::move(order)), shape);
  std::map<std::int64_t, Tensor> starts;
  for (std::size_t i = 0; i < map_.size(); ++i) {
    starts.emplace(map_[i], element_of_last(all, static_cast<std::int64_t>(i)));
  }
  return starts;
}

Indices StartIndices::names(const Indices& at, const Indices& window) const {
  const Indices places = dimensions();
  Indices names;
  auto of_window = window.begin();
  auto of_place = places.begin();
  for (std::size_t i = 0; i < window.size() + places.size(); ++i) {
    const bool is_window = contains(at, static_cast<std::int64_t>(i));
    names.push_back(is_window ? *of_window++ : static_cast<std::int64_t>(rank_) + *of_place++);
  }
  return names;
}

StartIndices::Element StartIndices::element(const HostTensor& indices, const Indices& names,
                                            const Indices& index) const {
  Indices place, within(rank_, 0);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] < static_cast<std::int64_t>(rank_)) {
      within[static_cast<std::size_t>(names[i])] = index[i];
    } else {
      place.push_back(index[i]);
    }
  }
  return {start_of(indices, place), std::move(within)};
}

Indices StartIndices::start_of(const HostTensor& indices, const Indices& place) const {
  const Indices strides = row_major_strides(shape_);
  const Indices dimensions = this->dimensions();
  Indices start(rank_, 0);
  Indices at(shape_.size(), 0);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    at[static_cast<std::size_t>(dimensions[i])] = place[i];
  }
  for (std::size_t i = 0; i < batching_.size(); ++i) {
    start[static_cast<std::size_t>(operand_batching_[i])] =
        at[static_cast<std::size_t>(batching_[i])];
  }
  for (std::size_t i = 0; i < map_.size(); ++i) {
    at[vector_dimension_] = static_cast<std::int64_t>(i);
    start[static_cast<std::size_t>(map_[i])] = read_index(indices, element_at(at, strides));
  }
  return start;
}

std::int64_t read_index(const HostTensor& indices, std::size_t element) {
  const std::int64_t index = read_int(indices, element);
  const bool is_above = indices.type.dtype == DType::kU64 && index < 0;
  return is_above ? std::numeric_limits<std::int64_t>::max() : index;
}

}  // namespace superstep
