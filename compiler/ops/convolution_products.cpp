// A convolution as one product of matrices: of the image as it is seen through windows, and the
// kernel. The windows are a view; what of them tiles need comes to them as they multiply.

#include <algorithm>
#include <utility>

#include "compiler/ops/convolution.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/unfold.h"

namespace superstep {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

/// What a dimension is: spatial ones have their number; of the image seen through windows, these
/// are the windows, and what is below has the places of these.
constexpr std::int64_t kGroup = -1, kFirst = -2, kSecond = -3, kPlaces = -4;
std::int64_t place_in_window(std::int64_t d) { return kPlaces - d; }

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
  /// Seen through windows along the spatial dimensions.
  [[nodiscard]] Named unfolded(const std::vector<SlidingWindow>& windows) const {
    std::vector<Unfolded> sliding;
    Indices names = names_;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const auto d = static_cast<std::int64_t>(i);
      sliding.push_back(
          {place_of(d), windows[i].size, windows[i].stride, windows[i].window_dilation});
      names.push_back(place_in_window(d));
    }
    return {unfold(tensor_, sliding), std::move(names)};
  }

 private:
  Tensor tensor_;
  Indices names_;
};

/// Sums of products along all dimensions of the kernel but groups and output features, in the
/// kernel's order. Its dimensions are the image's others and the kernel's, or first the kernel's.
Named product(const Named& image, const Named& kernel, bool is_kernel_first, DType dtype) {
  Indices image_sums, kernel_sums, batching;
  for (const std::int64_t name : kernel.names()) {
    if (name == kGroup) batching.push_back(name);
    if (name == kGroup || name == kSecond) continue;
    kernel_sums.push_back(name);
    image_sums.push_back(name == kFirst ? kSecond : place_in_window(name));
  }
  const Named& left = is_kernel_first ? kernel : image;
  const Named& right = is_kernel_first ? image : kernel;
  const Indices& left_sums = is_kernel_first ? kernel_sums : image_sums;
  const Indices& right_sums = is_kernel_first ? image_sums : kernel_sums;
  Indices names = batching;
  const auto add_free = [&](const Named& side, const Indices& sums) {
    for (const std::int64_t name : side.names()) {
      if (name != kGroup && !contains(sums, name)) names.push_back(name);
    }
  };
  add_free(left, left_sums);
  add_free(right, right_sums);
  const ProductDimensions dimensions{.left_batching = left.places_of(batching),
                                     .right_batching = right.places_of(batching),
                                     .left_contracting = left.places_of(left_sums),
                                     .right_contracting = right.places_of(right_sums)};
  return {dot_general(left.tensor(), right.tensor(), dimensions, dtype), std::move(names)};
}

}  // namespace

Tensor convolve(const Convolution& convolution, Tensor image, Tensor kernel, DType dtype) {
  GraphBuilder& builder = *image.builder;
  const Shape shape = convolution.result_shape(image.shape(), kernel.shape());
  if (TensorType{dtype, shape}.elements() == 0 || kernel.type().elements() == 0) {
    return broadcast(builder.number(dtype, 0), shape, {});
  }
  const Indices none(image.shape().size(), 0);
  Indices low = none, high = none, interior = none, reversed;
  for (std::size_t d = 0; d < convolution.windows.size(); ++d) {
    const SlidingWindow& window = convolution.windows[d];
    const std::size_t of_image = at(convolution.image.spatial[d]);
    low[of_image] = window.low;
    high[of_image] = window.high;
    interior[of_image] = window.base_dilation - 1;
    if (convolution.reversed[d]) reversed.push_back(convolution.kernel.spatial[d]);
  }
  if (low != none || high != none || interior != none) {
    image = pad(image, builder.number(image.dtype(), 0), low, high, interior);
  }
  if (!reversed.empty()) kernel = reverse(kernel, reversed);
  const std::int64_t groups = convolution.feature_groups * convolution.batch_groups;
  const std::int64_t in_groups = convolution.feature_groups > 1 ? kSecond : kFirst;
  const bool is_output_last =
      convolution.result.second == static_cast<std::int64_t>(convolution.windows.size()) + 1;
  const Named seen =
      Named(image, convolution.image).grouped(in_groups, groups).unfolded(convolution.windows);
  const Named result = product(seen, Named(kernel, convolution.kernel).grouped(kSecond, groups),
                               !is_output_last, dtype);
  Indices names(shape.size());
  names[at(convolution.result.first)] = kFirst;
  names[at(convolution.result.second)] = kSecond;
  for (std::size_t d = 0; d < convolution.windows.size(); ++d) {
    names[at(convolution.result.spatial[d])] = static_cast<std::int64_t>(d);
  }
  if (groups > 1) names.insert(std::ranges::find(names, kSecond), kGroup);
  return reshape(result.ordered(names).tensor(), shape);
}

}  // namespace superstep
