#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ops/convolution.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/unfold.h"

namespace superstep {

/// What a dimension of a convolution's tensors is: spatial ones have their number. `kFirst` and
/// `kSecond` are those of `Convolution::Dimensions`.
constexpr std::int64_t kGroup = -1, kFirst = -2, kSecond = -3;
/// Of a spatial dimension `d` that windows slide along: their places. Of one with gaps: kernels
/// that see the same elements.
[[nodiscard]] constexpr std::int64_t places_along(std::int64_t d) { return -4 - 2 * d; }
[[nodiscard]] constexpr std::int64_t kernels_along(std::int64_t d) { return -5 - 2 * d; }

/// A tensor whose dimensions have names.
class NamedTensor {
 public:
  NamedTensor(Tensor tensor, Indices names) : tensor_(tensor), names_(std::move(names)) {}
  NamedTensor(Tensor tensor, const Convolution::Dimensions& dimensions);

  [[nodiscard]] Tensor tensor() const { return tensor_; }
  [[nodiscard]] const Indices& names() const { return names_; }
  [[nodiscard]] std::int64_t place_of(std::int64_t name) const;
  [[nodiscard]] Indices places_of(const Indices& names) const;
  [[nodiscard]] std::int64_t size(std::int64_t name) const;

  /// A dimension as groups, and what each has of it.
  [[nodiscard]] NamedTensor grouped(std::int64_t name, std::int64_t groups) const;
  /// The dimensions in this order; those of one element may be missing on either side.
  [[nodiscard]] NamedTensor ordered(const Indices& names) const;
  /// Elements of a dimension from `first` on, every `step`-th.
  [[nodiscard]] NamedTensor part(std::int64_t name, std::int64_t first, std::int64_t count,
                                 std::int64_t step = 1) const;
  /// With the padding and the gaps that windows along the spatial dimensions see, as zeros.
  [[nodiscard]] NamedTensor padded(const std::vector<SlidingWindow>& windows) const;
  /// Seen through windows without gaps along dimensions, whose places get names.
  struct Seen {
    std::int64_t name, places_name, size, stride = 1, dilation = 1;
  };
  [[nodiscard]] NamedTensor through(const std::vector<Seen>& windows) const;
  [[nodiscard]] NamedTensor reversed(std::int64_t name) const;

 private:
  Tensor tensor_;
  Indices names_;
};

/// Tensors with dimensions alike behind each other along one of them.
[[nodiscard]] NamedTensor joined(const std::vector<NamedTensor>& parts, std::int64_t name);

}  // namespace superstep
