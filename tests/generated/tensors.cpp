#include "tests/generated/tensors.h"

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/ops/elements.h"

namespace superstep {
namespace {

enum class Flavour : std::uint8_t { kSmall, kOrdinary, kWide, kSpecial };

// Canonical and other quiet NaN, infinities, zeros, subnormals, the largest and 1.
constexpr std::array<std::uint32_t, 13> kSpecialF32 = {
    0x7fc00000, 0x7fc01234, 0xffc00001, 0x7f800000, 0xff800000, 0x00000000, 0x80000000,
    0x00000001, 0x80012345, 0x007fffff, 0x7f7fffff, 0xff7fffff, 0x3f800000};
constexpr std::array<std::uint32_t, 13> kSpecialBF16 = {0x7fc0, 0x7fd2, 0xffc1, 0x7f80, 0xff80,
                                                        0x0000, 0x8000, 0x0001, 0x8012, 0x007f,
                                                        0x7f7f, 0xff7f, 0x3f80};
constexpr std::array<std::uint32_t, 13> kSpecialF16 = {0x7e00, 0x7e12, 0xfe01, 0x7c00, 0xfc00,
                                                       0x0000, 0x8000, 0x0001, 0x8123, 0x03ff,
                                                       0x7bff, 0xfbff, 0x3c00};

constexpr std::array<std::uint64_t, 13> kSpecialF64 = {
    0x7ff8000000000000, 0x7ff8000000001234, 0xfff8000000000001, 0x7ff0000000000000,
    0xfff0000000000000, 0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
    0x8001234567890123, 0x000fffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff,
    0x3ff0000000000000};

std::uint64_t special_float(Random& random, DType dtype) {
  // Of narrow ones each code is special.
  if (is_narrow_float(dtype)) return random.below(256);
  if (dtype == DType::kF64) return random.pick(kSpecialF64);
  return dtype == DType::kBF16  ? random.pick(kSpecialBF16)
         : dtype == DType::kF16 ? random.pick(kSpecialF16)
                                : random.pick(kSpecialF32);
}

/// The exponents of wide numbers, which squared are still numbers of most types.
std::pair<int, int> exponents(DType dtype) {
  if (is_narrow_float(dtype)) return {-8, 3};
  return {-20, dtype == DType::kF16 ? 8 : 20};
}

std::uint64_t random_float(Random& random, DType dtype, Flavour flavour) {
  HostTensor scalar(TensorType{dtype, {}});
  // Its numbers have no sign.
  const bool is_power = dtype == DType::kF8E8M0FNU;
  const double sign = !is_power && random.chance(50) ? -1 : 1;
  switch (flavour) {
    case Flavour::kSmall:
      write_float(scalar, 0, static_cast<double>(random.between(is_power ? 1 : -8, 8)) / 2);
      break;
    case Flavour::kSpecial:
      if (random.chance(50)) return special_float(random, dtype);
      [[fallthrough]];
    case Flavour::kOrdinary:
      write_float(scalar, 0, sign * 4 * random.unit());
      break;
    case Flavour::kWide: {
      const auto [low, high] = exponents(dtype);
      const auto exponent = static_cast<int>(random.between(low, high));
      write_float(scalar, 0, sign * std::ldexp(1 + random.unit(), exponent));
      break;
    }
  }
  return read_bits(scalar, 0);
}

std::int64_t random_integer(Random& random, Flavour flavour) {
  constexpr std::array<std::int64_t, 12> kEdges = {0,
                                                   1,
                                                   -1,
                                                   2,
                                                   127,
                                                   -128,
                                                   32767,
                                                   -32768,
                                                   2147483647,
                                                   -2147483648,
                                                   std::numeric_limits<std::int64_t>::max(),
                                                   std::numeric_limits<std::int64_t>::min()};
  if (flavour == Flavour::kSmall) return random.between(-8, 8);
  if (flavour == Flavour::kOrdinary) return random.between(-100, 100);
  if (flavour == Flavour::kSpecial && random.chance(50)) return random.pick(kEdges);
  return static_cast<std::int64_t>(random.bits());
}

}  // namespace

DType random_dtype(Random& random, DTypeSet among) {
  constexpr std::array kUsual = {DType::kF32, DType::kF32,  DType::kF32, DType::kF32, DType::kF16,
                                 DType::kF16, DType::kBF16, DType::kI1,  DType::kI8,  DType::kI16,
                                 DType::kI32, DType::kI32,  DType::kU8,  DType::kU16, DType::kU32};
  constexpr unsigned kUnusual = 25;  // percent
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const DType dtype = random.chance(kUnusual) ? random.pick(kAllDTypes) : random.pick(kUsual);
    if ((only(dtype) & among) != 0) return dtype;
  }
  std::vector<DType> all;
  for (const DType dtype : kAllDTypes) {
    if ((only(dtype) & among) != 0) all.push_back(dtype);
  }
  return random.pick(all);
}

Shape random_shape(Random& random, std::int64_t most) {
  constexpr std::array<std::int64_t, 14> kSizes = {1, 1, 2, 3, 3, 4, 5, 7, 8, 13, 16, 17, 33, 257};
  Shape shape(random.below(6));
  std::int64_t elements = 1;
  for (std::int64_t& size : shape) {
    size = random.pick(kSizes);
    if (elements * size > most) size = 1;
    elements *= size;
    if (random.chance(1)) size = 0;
  }
  for (std::size_t i = shape.size(); i > 1; --i) std::swap(shape[i - 1], shape[random.below(i)]);
  return shape;
}

HostTensor random_tensor(Random& random, const TensorType& type, bool is_moderate) {
  constexpr std::array kFlavours = {Flavour::kSmall, Flavour::kOrdinary, Flavour::kOrdinary,
                                    Flavour::kWide, Flavour::kSpecial};
  const Flavour flavour = kFlavours.at(random.below(is_moderate ? 3 : kFlavours.size()));
  if (is_complex(type.dtype)) {
    TensorType parts{real_of(type.dtype), type.shape};
    parts.shape.push_back(2);
    HostTensor tensor = random_tensor(random, parts, is_moderate);
    tensor.type = type;
    return tensor;
  }
  HostTensor tensor(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    if (is_float(type.dtype)) {
      write_bits(tensor, i, random_float(random, type.dtype, flavour));
    } else if (type.dtype == DType::kI1) {
      write_int(tensor, i, random.chance(50) ? 1 : 0);
    } else {
      write_int(tensor, i, random_integer(random, flavour));
    }
  }
  return tensor;
}

bool is_moderate(const HostTensor& tensor) {
  constexpr double kMost = 200;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.type.elements()); ++i) {
    const DType dtype = tensor.type.dtype;
    const double size = is_float(dtype) || is_complex(dtype)
                            ? std::abs(read_number(tensor, i))
                            : std::abs(static_cast<double>(read_int(tensor, i)));
    if (!(size <= kMost)) return false;
  }
  return true;
}

}  // namespace superstep
