// Sums of products: dot_general and convolution.

#include <algorithm>
#include <array>
#include <string>

#include "tests/generated/op_kind.h"

namespace superstep {
namespace {

constexpr std::int64_t kMostElements = 2000;

/// As what products of a type may be added.
DType wider(DType dtype) {
  if (is_short_float(dtype) || is_narrow_float(dtype)) return DType::kF32;
  if (is_float(dtype) || is_complex(dtype) || size_of(dtype) > 2) return dtype;
  return is_signed(dtype) ? DType::kI32 : DType::kU32;
}

bool dot(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId lhs = builder.any(kind.dtypes, [](const TensorType& type) {
    return type.shape.size() >= 1 && type.shape.size() <= 4;
  });
  const DType dtype = builder.type(lhs).dtype;
  const Shape left = builder.type(lhs).shape;

  // The right side: dimensions shared with the left in random places among up to two of its own.
  const Indices order = shuffled(random, left.size());
  const std::size_t contracting = random.below(std::min<std::size_t>(left.size(), 2) + 1);
  const std::size_t batching = random.below(left.size() - contracting + 1);
  const std::size_t shared = contracting + batching;
  const std::size_t rank = shared + random.below(3);
  const Indices places = shuffled(random, rank);
  Shape right(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    right[static_cast<std::size_t>(places[i])] =
        i < shared ? left[static_cast<std::size_t>(order[i])] : random.between(1, 9);
  }
  const auto part = [](const Indices& all, std::size_t begin, std::size_t count) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return Indices(first, first + static_cast<std::ptrdiff_t>(count));
  };
  const TensorType right_type{dtype, right};
  if (right_type.elements() > kMostElements) return false;
  const ValueId rhs = builder.of_type(right_type);

  Shape result;
  const Indices batch = part(order, contracting, batching);
  for (const std::int64_t d : batch) result.push_back(left[static_cast<std::size_t>(d)]);
  for (std::size_t d = 0; d < left.size(); ++d) {
    const auto used = order.begin() + static_cast<std::ptrdiff_t>(shared);
    if (std::find(order.begin(), used, static_cast<std::int64_t>(d)) == used) {
      result.push_back(left[d]);
    }
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const auto used = places.begin() + static_cast<std::ptrdiff_t>(shared);
    if (std::find(places.begin(), used, static_cast<std::int64_t>(d)) == used) {
      result.push_back(right[d]);
    }
  }
  const DType wide = random.chance(50) ? wider(dtype) : dtype;
  return builder.add(kind.op, {lhs, rhs},
                     {{"lhs_batching_dimensions", batch},
                      {"rhs_batching_dimensions", part(places, contracting, batching)},
                      {"lhs_contracting_dimensions", part(order, 0, contracting)},
                      {"rhs_contracting_dimensions", part(places, 0, contracting)}},
                     {}, {{wide, result}});
}

/// The labels of dimensions, `[b, 0, 1, f]`, by the places where they are.
std::string labels(const Indices& places, char first, char second) {
  std::vector<std::string> all(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    all[static_cast<std::size_t>(places[i])] = i == 0   ? std::string(1, first)
                                               : i == 1 ? std::string(1, second)
                                                        : std::to_string(i - 2);
  }
  std::string text;
  for (const std::string& label : all) text += (text.empty() ? "[" : ", ") + label;
  return text + "]";
}

/// Sizes, the first and second of which are features and the like, at their places.
Shape placed(const Shape& sizes, const Indices& places) {
  Shape shape(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape[static_cast<std::size_t>(places[i])] = sizes[i];
  }
  return shape;
}

bool convolution(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const std::size_t spatial = random.below(4);
  const std::size_t rank = spatial + 2;
  const Indices image_places = shuffled(random, rank), kernel_places = shuffled(random, rank);
  const bool in_place = random.chance(50);
  const Indices result_places = in_place ? image_places : shuffled(random, rank);
  const std::int64_t feature_groups = random.chance(70) ? 1 : random.between(2, 3);
  const std::int64_t batch_groups = feature_groups > 1 || random.chance(80) ? 1 : 2;
  const std::int64_t inputs = random.between(1, 4);
  const std::int64_t outputs = feature_groups * batch_groups * random.between(1, 4);
  const bool is_plain = random.chance(40);
  Shape image{batch_groups * random.between(1, 3), inputs * feature_groups};
  Shape kernel{inputs, outputs}, result{image[0] / batch_groups, outputs};
  Shape strides, padding, base, dilations, reversal;
  for (std::size_t d = 0; d < spatial; ++d) {
    image.push_back(random.between(spatial > 2 ? 2 : 3, spatial > 1 ? 6 : 20));
    kernel.push_back(random.between(1, 4));
    strides.push_back(random.chance(60) ? 1 : random.between(1, 3));
    base.push_back(is_plain || random.chance(70) ? 1 : 2);
    dilations.push_back(is_plain || random.chance(70) ? 1 : 2);
    reversal.push_back(!is_plain && random.chance(30) ? 1 : 0);
    std::int64_t places = (image.back() - 1) * base.back() + 1;
    for (int side = 0; side < 2; ++side) {
      padding.push_back(random.chance(50) ? 0 : random.between(is_plain ? 0 : -1, 3));
      places += padding.back();
    }
    const std::int64_t span = (kernel.back() - 1) * dilations.back() + 1;
    result.push_back(places <= 0 || places < span ? 0 : (places - span) / strides.back() + 1);
  }
  const ValueId x = builder.any(kind.dtypes);
  const DType dtype = builder.type(x).dtype;
  const ValueId lhs = builder.of_type({dtype, placed(image, image_places)});
  const ValueId rhs = builder.of_type({dtype, placed(kernel, kernel_places)});
  Attributes attributes{
      {"dimension_numbers", labels(image_places, 'b', 'f') + "x" + labels(kernel_places, 'i', 'o') +
                                "->" + labels(result_places, 'b', 'f')},
      {"feature_group_count", feature_groups},
      {"batch_group_count", batch_groups}};
  if (spatial > 0) {
    attributes["window_strides"] = strides;
    attributes["padding"] = padding;
    if (!is_plain) {
      attributes["lhs_dilation"] = base;
      attributes["rhs_dilation"] = dilations;
      attributes["window_reversal"] = reversal;
    }
  }
  const DType to = random.chance(30) ? wider(dtype) : dtype;
  return builder.add(kind.op, {lhs, rhs}, std::move(attributes), {},
                     {{to, placed(result, result_places)}});
}

constexpr DTypeSet kUsual = kTileFloats | only(DType::kI8) | only(DType::kI32) | only(DType::kU8);

constexpr std::array kKinds = {
    OpKind{"stablehlo.convolution", convolution, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.dot_general", dot, kUsual, Wants::kAnything, 7},
    OpKind{"stablehlo.dot_general", dot, kAnyDType, Wants::kAnything, 3},
};

}  // namespace

std::span<const OpKind> product_kinds() { return kKinds; }

}  // namespace superstep
