// A convolution as one product of matrices: of the image as it is seen through windows, and the
// kernel. The windows are a view; what of them tiles need comes to them as they multiply. Where
// groups have one feature there is no matrix: then it is a sum of the image at one place of its
// windows after the other, each times numbers, or one sum of products for each window.
//
// Along a dimension in which the image has gaps, as in the gradient of a convolution with a stride,
// windows that follow each other see the same elements through other places of the kernel. These
// places are kernels of their own: each is convolved with the image as it is, and of the results
// those of windows that see the same elements follow each other.

#include <algorithm>
#include <optional>
#include <utility>

#include "base/divide.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/convolution_dimensions.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/ops.h"

namespace superstep {
namespace {

std::size_t at(std::int64_t d) { return static_cast<std::size_t>(d); }

/// Windows that slide by one along a dimension of an image with gaps, as periods of windows that
/// see the same elements.
struct Periods {
  std::int64_t length = 1;  ///< windows of a period
  std::int64_t front = 0;   ///< windows of the first period in front of the first window
  std::int64_t count = 1;
};

/// Periods along a dimension of `elements`, if there are any. Then `window` becomes one that slides
/// over the elements without gaps, once for each period.
std::optional<Periods> take_periods(SlidingWindow& window, std::int64_t elements) {
  if (window.base_dilation == 1 || window.stride > 1 || window.window_dilation > 1) {
    return std::nullopt;
  }
  // Window i sees element j through place low - i + j * length.
  const std::int64_t length = window.base_dilation;
  const std::int64_t rest = (window.low % length + length) % length;
  const std::int64_t first = (rest - window.low) / length;
  const std::int64_t front = length - 1 - rest;
  const std::int64_t count = divide_up(front + window.count(elements), length);
  const std::int64_t places = divide_up(window.size, length);
  window = {.size = places, .low = -first, .high = first + count - 1 + places - elements};
  return Periods{length, front, count};
}

/// Sums of products along the places and input features of the kernel, in its order. The dimensions
/// are the image's others and the kernel's, or first the kernel's.
NamedTensor product(const NamedTensor& image, const NamedTensor& kernel, bool is_kernel_first,
                    DType dtype) {
  Indices image_sums, kernel_sums, batching;
  for (const std::int64_t name : kernel.names()) {
    if (name == kGroup) batching.push_back(name);
    if (name != kFirst && name < 0) continue;
    kernel_sums.push_back(name);
    image_sums.push_back(name == kFirst ? kSecond : places_along(name));
  }
  const NamedTensor& left = is_kernel_first ? kernel : image;
  const NamedTensor& right = is_kernel_first ? image : kernel;
  const Indices& left_sums = is_kernel_first ? kernel_sums : image_sums;
  const Indices& right_sums = is_kernel_first ? image_sums : kernel_sums;
  Indices names = batching;
  const auto add_free = [&](const NamedTensor& side, const Indices& sums) {
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

/// How a convolution of an image without gaps is computed.
enum class Way : std::uint8_t { kProduct, kTerms, kWindows };

/// So many numbers of a group's kernel, or sums, are few: each takes the image once, where a
/// product fills one of 8 or 16 columns of the AMP units [assumed; depthwise 3x3 of 8x32x32x32 f32,
/// nine of them, take half the cycles of a product on bow].
constexpr std::int64_t kFew = 64;

Way way_of(const Convolution& convolution, const Shape& image, const Shape& kernel) {
  const std::int64_t groups = convolution.feature_groups * convolution.batch_groups;
  if (groups == 1 || kernel[at(convolution.kernel.second)] != groups) return Way::kProduct;
  std::int64_t places = 1, windows = 1;
  bool has_gaps = false;
  for (std::size_t d = 0; d < convolution.windows.size(); ++d) {
    places *= convolution.windows[d].size;
    windows *= convolution.windows[d].count(image[at(convolution.image.spatial[d])]);
    has_gaps = has_gaps || convolution.windows[d].base_dilation > 1;
  }
  if (kernel[at(convolution.kernel.first)] == 1 && places <= kFew) return Way::kTerms;
  const bool is_one_image = image[at(convolution.image.first)] == convolution.batch_groups;
  return is_one_image && !has_gaps && windows <= kFew ? Way::kWindows : Way::kProduct;
}

/// A convolution of a padded image.
class Convolved {
 public:
  Convolved(Way way, std::vector<SlidingWindow> windows,
            std::vector<std::optional<Periods>> periods, bool is_kernel_first, DType dtype)
      : way_(way),
        windows_(std::move(windows)),
        periods_(std::move(periods)),
        is_kernel_first_(is_kernel_first),
        dtype_(dtype) {}

  /// Along dimension `d` and those behind it. Periods are windows, and in each are kernels: all of
  /// the period's, or the only one.
  [[nodiscard]] NamedTensor of(const NamedTensor& image, const NamedTensor& kernel,
                               std::int64_t d = 0) const {
    if (d == std::ssize(windows_)) return without_gaps(image, kernel);
    if (!periods_[at(d)]) return of(image, kernel, d + 1);
    // The last windows of a period see elements through the first places, of which there may be
    // one more.
    const std::int64_t length = periods_[at(d)]->length, places = kernel.size(d);
    std::vector<NamedTensor> parts;
    const auto add = [&](std::int64_t first, std::int64_t kernels) {
      const NamedTensor some = kernel.part(d, first, places - first)
                                   .through({{d, kernels_along(d), kernels, length}})
                                   .reversed(kernels_along(d));
      const std::int64_t seen = periods_[at(d)]->count + some.size(d) - 1;
      parts.push_back(of(image.part(d, 0, seen), some, d + 1));
    };
    const std::int64_t more = places % length;
    if (way_ == Way::kTerms) {
      for (std::int64_t p = std::min(places, length); p-- > 0;) add(p, 1);
    } else {
      if (places >= length) add(more, length - more);
      if (more > 0) add(0, more);
    }
    const NamedTensor result = joined(parts, kernels_along(d));
    if (places == 1 || places >= length) return result;
    return behind_zeros(result, kernels_along(d), length - places);
  }

 private:
  [[nodiscard]] NamedTensor behind_zeros(const NamedTensor& x, std::int64_t name,
                                         std::int64_t count) const {
    const Indices none(x.names().size());
    Indices low = none;
    low[at(x.place_of(name))] = count;
    return {pad(x.tensor(), x.tensor().builder->number(dtype_, 0), low, none, none), x.names()};
  }

  [[nodiscard]] NamedTensor without_gaps(const NamedTensor& image,
                                         const NamedTensor& kernel) const {
    std::vector<NamedTensor::Seen> seen;
    Shape counts;
    for (std::int64_t d = 0; d < std::ssize(windows_); ++d) {
      const SlidingWindow window{.size = kernel.size(d),
                                 .stride = windows_[at(d)].stride,
                                 .window_dilation = windows_[at(d)].window_dilation};
      seen.push_back({d, places_along(d), window.size, window.stride, window.window_dilation});
      counts.push_back(window.count(image.size(d)));
    }
    if (way_ == Way::kProduct) {
      return product(image.through(seen), kernel, is_kernel_first_, dtype_);
    }
    return way_ == Way::kTerms ? by_terms(image, kernel, counts)
                               : by_windows(image, kernel, counts);
  }

  /// What is multiplied, in the type in which sums are.
  [[nodiscard]] Tensor factor(Tensor x) const {
    return convert(x, is_float(dtype_) && size_of(dtype_) < 4 ? DType::kF32 : dtype_);
  }

  /// Each number of the groups' kernels times the elements that it meets.
  [[nodiscard]] NamedTensor by_terms(const NamedTensor& image, const NamedTensor& kernel,
                                     const Shape& counts) const {
    Shape sizes;
    for (std::int64_t d = 0; d < std::ssize(counts); ++d) sizes.push_back(kernel.size(d));
    std::optional<Tensor> sum;
    Indices place(sizes.size());
    do {
      NamedTensor met = image, number = kernel;
      for (std::int64_t d = 0; d < std::ssize(counts); ++d) {
        met = met.part(d, place[at(d)] * windows_[at(d)].window_dilation, counts[at(d)],
                       windows_[at(d)].stride);
        number = number.part(d, place[at(d)], 1);
      }
      const Tensor numbers = factor(reshape(number.tensor(), {kernel.size(kGroup)}));
      const Tensor term =
          factor(met.tensor()) * broadcast(numbers, met.tensor().shape(), {image.place_of(kGroup)});
      sum = sum ? *sum + term : term;
    } while (next_index(place, sizes));
    return with_kernels(NamedTensor(convert(*sum, dtype_), image.names()));
  }

  /// Of one kernel a period each.
  [[nodiscard]] NamedTensor with_kernels(const NamedTensor& x) const {
    Indices names = x.names();
    for (std::int64_t d = 0; d < std::ssize(windows_); ++d) {
      if (periods_[at(d)]) names.push_back(kernels_along(d));
    }
    return x.ordered(names);
  }

  /// For each window, a sum of products.
  [[nodiscard]] NamedTensor by_windows(const NamedTensor& image, const NamedTensor& kernel,
                                       const Shape& counts) const {
    Indices names, summed;
    for (const std::int64_t name : image.names()) {
      if (name >= 0 || name == kSecond) summed.push_back(image.place_of(name));
      names.push_back(name == kFirst ? kSecond : name == kSecond ? kFirst : name);
    }
    const Tensor factors = factor(kernel.ordered(names).tensor());
    std::vector<Tensor> sums;
    Indices window(counts.size());
    do {
      NamedTensor seen = image;
      for (std::int64_t d = 0; d < std::ssize(counts); ++d) {
        seen = seen.part(d, window[at(d)] * windows_[at(d)].stride, kernel.size(d),
                         windows_[at(d)].window_dilation);
      }
      const Tensor all = sum(factor(seen.tensor()) * factors, summed);
      sums.push_back(reshape(convert(all, dtype_), {1, all.type().elements()}));
    } while (next_index(window, counts));
    Shape shape = counts;
    shape.push_back(image.size(kGroup));
    Indices result = all_dimensions(counts.size());
    result.push_back(kGroup);
    return {reshape(concatenate(sums, 0), shape), std::move(result)};
  }

  Way way_;
  std::vector<SlidingWindow> windows_;
  std::vector<std::optional<Periods>> periods_;
  bool is_kernel_first_;
  DType dtype_;
};

}  // namespace

Tensor convolve(const Convolution& convolution, Tensor image, Tensor kernel, DType dtype) {
  const Shape shape = convolution.result_shape(image.shape(), kernel.shape());
  if (TensorType{dtype, shape}.elements() == 0 || kernel.type().elements() == 0) {
    return broadcast(image.builder->number(dtype, 0), shape, {});
  }
  const Indices spatial = all_dimensions(convolution.windows.size());
  std::vector<SlidingWindow> windows = convolution.windows;
  std::vector<std::optional<Periods>> periods;
  Indices reversed;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    periods.push_back(take_periods(windows[d], image.shape()[at(convolution.image.spatial[d])]));
    if (convolution.reversed[d]) reversed.push_back(convolution.kernel.spatial[d]);
  }
  const Way way = way_of(convolution, image.shape(), kernel.shape());
  const std::int64_t groups = convolution.feature_groups * convolution.batch_groups;
  NamedTensor seen = NamedTensor(image, convolution.image)
                         .grouped(convolution.feature_groups > 1 ? kSecond : kFirst, groups);
  if (way != Way::kProduct && !spatial.empty() && seen.place_of(kGroup) > seen.place_of(0)) {
    // One number for many neighbours, or a sum of them.
    Indices order = {kGroup, kFirst, kSecond};
    order.insert(order.end(), spatial.begin(), spatial.end());
    seen = seen.ordered(order);
  }
  if (!reversed.empty()) kernel = reverse(kernel, reversed);
  const bool is_output_last =
      convolution.result.second == static_cast<std::int64_t>(windows.size()) + 1;
  const NamedTensor result =
      Convolved(way, windows, periods, !is_output_last, dtype)
          .of(seen.padded(windows),
              NamedTensor(kernel, convolution.kernel).grouped(kSecond, groups));
  Indices names(shape.size());
  names[at(convolution.result.first)] = kFirst;
  names[at(convolution.result.second)] = kSecond;
  for (const std::int64_t d : spatial) names[at(convolution.result.spatial[at(d)])] = d;
  if (groups > 1) names.insert(std::ranges::find(names, kSecond), kGroup);
  // Periods with their windows, of which the first ones may not be wanted, or only the last of
  // each.
  const Indices none(shape.size());
  Indices first = none, low = none, high = none, interior = none;
  Shape in_periods = shape;
  for (const std::int64_t d : spatial) {
    if (!periods[at(d)]) continue;
    const auto [length, front, count] = *periods[at(d)];
    const std::size_t of_result = at(convolution.result.spatial[at(d)]);
    if (convolution.windows[at(d)].size == 1) {
      in_periods[of_result] = count;
      low[of_result] = length - 1 - front;
      high[of_result] = front + shape[of_result] - count * length;
      interior[of_result] = length - 1;
    } else {
      names.insert(std::ranges::find(names, d) + 1, kernels_along(d));
      in_periods[of_result] = count * length;
      first[of_result] = front;
    }
  }
  Tensor all = reshape(result.ordered(names).tensor(), in_periods);
  if (interior != none) all = pad(all, all.builder->number(dtype, 0), low, high, interior);
  return window(all, first, shape);
}

}  // namespace superstep
