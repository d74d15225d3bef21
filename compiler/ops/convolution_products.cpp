// A convolution as one product of matrices. What each place of the kernel meets is put together
// along what is summed; or, where there are fewer of these, what each place of the result meets
// along its rows. This takes memory for several images, yet fewer supersteps, less exchange code
// and, on most tiles, less memory than a sum of one product for each place.

#include <algorithm>
#include <utility>

#include "compiler/ops/convolution.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

/// What a dimension is: spatial ones have their number.
constexpr std::int64_t kGroup = -1, kFirst = -2, kSecond = -3;

/// A tensor whose dimensions have names.
class Named {
 public:
  Named(Tensor tensor, Indices names) : tensor_(tensor), names_(std::move(names)) {}
  Named(Tensor tensor, const Convolution::Dimensions& dimensions)
      : tensor_(tensor), names_(tensor.shape().size()) {
    names_[at(dimensions.first)] = kFirst;
    names_[at(dimensions.second)] = kSecond;
    for (std::size_t i = 0; i < dimensions.spatial.size(); ++i) {
      names_[at(dimensions.spatial[i])] = static_cast<std::int64_t>(i);
    }
  }

  [[nodiscard]] Tensor tensor() const { return tensor_; }
  [[nodiscard]] const Indices& names() const { return names_; }
  [[nodiscard]] std::int64_t place_of(std::int64_t name) const {
    return std::ranges::find(names_, name) - names_.begin();
  }
  [[nodiscard]] Indices places_of(const Indices& names) const {
    Indices places;
    for (const std::int64_t name : names) places.push_back(place_of(name));
    return places;
  }
  [[nodiscard]] std::int64_t size(std::int64_t name) const {
    return tensor_.shape()[at(place_of(name))];
  }

  /// A dimension as groups, and what each has of it.
  [[nodiscard]] Named grouped(std::int64_t name, std::int64_t groups) const {
    if (groups == 1) return *this;
    Shape shape = tensor_.shape();
    Indices names = names_;
    const std::int64_t d = place_of(name);
    shape[at(d)] /= groups;
    shape.insert(shape.begin() + d, groups);
    names.insert(names.begin() + d, kGroup);
    return {reshape(tensor_, shape), names};
  }
  /// The dimensions in this order; those of one element may be missing on either side.
  [[nodiscard]] Named ordered(const Indices& names) const {
    Shape shape;
    Indices kept, permutation;
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
    const Named all{reshape(tensor_, shape), kept};
    if (kept == names) return all;
    return {transpose(all.tensor_, all.places_of(names)), names};
  }
  /// Elements of the spatial dimensions: from `start` on, `count`, each `step`.
  [[nodiscard]] Named taken(const Indices& start, const Indices& count, const Indices& step) const {
    Shape shape = tensor_.shape();
    Indices begin(shape.size(), 0), limit = shape, strides(shape.size(), 1);
    bool is_all = true;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const std::size_t d = at(place_of(static_cast<std::int64_t>(i)));
      begin[d] = start[i];
      limit[d] = start[i] + (count[i] - 1) * step[i] + 1;
      strides[d] = count[i] == 1 ? 1 : step[i];
      is_all = is_all && begin[d] == 0 && limit[d] == shape[d] && strides[d] == 1;
    }
    if (is_all) return *this;
    return {slice(tensor_, begin, limit, strides), names_};
  }

 private:
  Tensor tensor_;
  Indices names_;
};

/// Parts that are alike, after each other along a dimension. One of a single element goes in front,
/// so that rows of the others move as a whole.
Named joined(const std::vector<Named>& parts, std::int64_t name) {
  if (parts.size() == 1) return parts.front();
  Indices names = parts.front().names();
  if (parts.front().size(name) == 1) {
    std::erase(names, name);
    names.insert(names.begin(), name);
  }
  std::vector<Tensor> tensors;
  for (const Named& part : parts) tensors.push_back(part.ordered(names).tensor());
  return {concatenate(tensors, std::ranges::find(names, name) - names.begin()), names};
}

/// A convolution whose image is padded and whose kernel is not reversed.
class Convolved {
 public:
  Convolved(const Convolution& convolution, Named image, Named kernel, Shape counts, DType dtype)
      : image_(std::move(image)),
        kernel_(std::move(kernel)),
        counts_(std::move(counts)),
        dtype_(dtype) {
    spatial_ = all_dimensions(counts_.size());
    for (const SlidingWindow& window : convolution.windows) {
      sizes_.push_back(window.size);
      strides_.push_back(window.stride);
      dilations_.push_back(window.window_dilation);
    }
    is_output_last_ = convolution.result.second == static_cast<std::int64_t>(spatial_.size()) + 1;
  }

  /// Its dimensions by name: batch, output and, if there are groups, these.
  [[nodiscard]] Named result() const {
    const auto places = TensorType{dtype_, sizes_}.elements();
    return places <= TensorType{dtype_, counts_}.elements() ? by_places() : by_windows();
  }

 private:
  [[nodiscard]] Named product(const Named& image, const Named& kernel, const Indices& image_sums,
                              const Indices& kernel_sums) const {
    const Named& left = is_output_last_ ? image : kernel;
    const Named& right = is_output_last_ ? kernel : image;
    const Indices& left_sums = is_output_last_ ? image_sums : kernel_sums;
    const Indices& right_sums = is_output_last_ ? kernel_sums : image_sums;
    ProductDimensions dimensions;
    Indices names;
    if (contains(image.names(), kGroup)) {
      names.push_back(kGroup);
      dimensions.left_batching = left.places_of(names);
      dimensions.right_batching = right.places_of(names);
    }
    dimensions.left_contracting = left.places_of(left_sums);
    dimensions.right_contracting = right.places_of(right_sums);
    const auto add_free = [&](const Named& side, const Indices& sums) {
      for (const std::int64_t name : side.names()) {
        if (name != kGroup && !contains(sums, name)) names.push_back(name);
      }
    };
    add_free(left, left_sums);
    add_free(right, right_sums);
    return {dot_general(left.tensor(), right.tensor(), dimensions, dtype_), names};
  }

  /// Sums over the places of the kernel.
  [[nodiscard]] Named by_places() const {
    const Indices ones(sizes_.size(), 1);
    std::vector<Named> images, kernels;
    Indices kernel_names = kernel_.names();
    std::erase_if(kernel_names, [](std::int64_t name) { return name >= 0; });
    Indices place(sizes_.size());
    do {
      Indices start;
      for (std::size_t d = 0; d < place.size(); ++d) start.push_back(place[d] * dilations_[d]);
      images.push_back(image_.taken(start, counts_, strides_));
      kernels.push_back(kernel_.taken(place, ones, ones).ordered(kernel_names));
    } while (next_index(place, sizes_));
    return product(joined(images, kSecond), joined(kernels, kFirst), {kSecond}, {kFirst});
  }

  /// A row for each place of the result, as a gradient of a kernel has few of them.
  [[nodiscard]] Named by_windows() const {
    Indices image_sums = spatial_, kernel_sums = spatial_;
    image_sums.push_back(kSecond);
    kernel_sums.push_back(kFirst);
    std::vector<Named> images;
    Indices window(counts_.size());
    do {
      Indices start;
      for (std::size_t d = 0; d < window.size(); ++d) start.push_back(window[d] * strides_[d]);
      images.push_back(image_.taken(start, sizes_, dilations_));
    } while (next_index(window, counts_));
    const Named rows = product(joined(images, kFirst), kernel_, image_sums, kernel_sums);
    // Rows are windows, and of each the batches.
    Shape shape = rows.tensor().shape();
    Indices names = rows.names();
    const std::int64_t d = rows.place_of(kFirst);
    shape[at(d)] = image_.size(kFirst);
    shape.insert(shape.begin() + d, counts_.begin(), counts_.end());
    names.insert(names.begin() + d, spatial_.begin(), spatial_.end());
    return {reshape(rows.tensor(), shape), names};
  }

  Named image_, kernel_;
  Shape counts_, sizes_;
  Indices strides_, dilations_, spatial_;
  DType dtype_;
  bool is_output_last_ = false;
};

}  // namespace

Tensor convolve(const Convolution& convolution, Tensor image, Tensor kernel, DType dtype) {
  GraphBuilder& builder = *image.builder;
  const Shape shape = convolution.result_shape(image.shape(), kernel.shape());
  if (TensorType{dtype, shape}.elements() == 0 || kernel.type().elements() == 0) {
    return broadcast(builder.number(dtype, 0), shape, {});
  }
  const Indices none(image.shape().size(), 0);
  Indices low = none, high = none, interior = none, reversed;
  Shape counts;
  for (std::size_t d = 0; d < convolution.windows.size(); ++d) {
    const SlidingWindow& window = convolution.windows[d];
    const std::size_t of_image = at(convolution.image.spatial[d]);
    low[of_image] = window.low;
    high[of_image] = window.high;
    interior[of_image] = window.base_dilation - 1;
    counts.push_back(window.count(image.shape()[of_image]));
    if (convolution.reversed[d]) reversed.push_back(convolution.kernel.spatial[d]);
  }
  if (low != none || high != none || interior != none) {
    image = pad(image, builder.number(image.dtype(), 0), low, high, interior);
  }
  if (!reversed.empty()) kernel = reverse(kernel, reversed);
  const std::int64_t groups = convolution.feature_groups * convolution.batch_groups;
  const std::int64_t in_groups = convolution.feature_groups > 1 ? kSecond : kFirst;
  const Named result =
      Convolved(convolution, Named(image, convolution.image).grouped(in_groups, groups),
                Named(kernel, convolution.kernel).grouped(kSecond, groups), counts, dtype)
          .result();
  Indices names(shape.size());
  names[at(convolution.result.first)] = kFirst;
  names[at(convolution.result.second)] = kSecond;
  for (std::size_t d = 0; d < counts.size(); ++d) {
    names[at(convolution.result.spatial[d])] = static_cast<std::int64_t>(d);
  }
  if (groups > 1) names.insert(std::ranges::find(names, kSecond), kGroup);
  return reshape(result.ordered(names).tensor(), shape);
}

}  // namespace superstep
