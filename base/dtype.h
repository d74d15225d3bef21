#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace superstep {

/// Element types of tensors. i1 is stored as a byte, 0 or 1, an integer of 2 or 4 bits as one of 8
/// that has its number, a float of 4 or 6 bits in the lower bits of a byte; c64 as two f32 and c128
/// as two f64, the real part first.
enum class DType : std::uint8_t {
  kI1,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBF16,
  kF16,
  kF32,
  kF64,
  kC64,
  kC128,
  kI2,
  kI4,
  kU2,
  kU4,
  kF4E2M1FN,
  kF6E2M3FN,
  kF6E3M2FN,
  kF8E3M4,
  kF8E4M3,
  kF8E4M3B11FNUZ,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0FNU
};
inline constexpr std::array kAllDTypes = {
    DType::kI1,       DType::kI8,         DType::kI16,    DType::kI32,        DType::kI64,
    DType::kU8,       DType::kU16,        DType::kU32,    DType::kU64,        DType::kBF16,
    DType::kF16,      DType::kF32,        DType::kF64,    DType::kC64,        DType::kC128,
    DType::kI2,       DType::kI4,         DType::kU2,     DType::kU4,         DType::kF4E2M1FN,
    DType::kF6E2M3FN, DType::kF6E3M2FN,   DType::kF8E3M4, DType::kF8E4M3,     DType::kF8E4M3B11FNUZ,
    DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ, DType::kF8E8M0FNU};

/// Whether it is a float of at most 8 bits.
[[nodiscard]] constexpr bool is_narrow_float(DType dtype) {
  return dtype >= DType::kF4E2M1FN && dtype <= DType::kF8E8M0FNU;
}
/// Whether it is an integer of 2 or 4 bits.
[[nodiscard]] constexpr bool is_narrow_integer(DType dtype) {
  return dtype >= DType::kI2 && dtype <= DType::kU4;
}
/// Whether tiles have it as a storage format only: they compute with other types.
[[nodiscard]] constexpr bool is_narrow(DType dtype) {
  return is_narrow_integer(dtype) || is_narrow_float(dtype);
}
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kI1:
    case DType::kI8:
    case DType::kU8:
    case DType::kI2:
    case DType::kI4:
    case DType::kU2:
    case DType::kU4:
    case DType::kF4E2M1FN:
    case DType::kF6E2M3FN:
    case DType::kF6E3M2FN:
    case DType::kF8E3M4:
    case DType::kF8E4M3:
    case DType::kF8E4M3B11FNUZ:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0FNU:
      return 1;
    case DType::kI16:
    case DType::kU16:
    case DType::kBF16:
    case DType::kF16:
      return 2;
    case DType::kI32:
    case DType::kU32:
    case DType::kF32:
      return 4;
    case DType::kI64:
    case DType::kU64:
    case DType::kF64:
    case DType::kC64:
      return 8;
    case DType::kC128:
      return 16;
  }
  return 0;
}
[[nodiscard]] constexpr bool is_float(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF32 ||
         dtype == DType::kF64 || is_narrow_float(dtype);
}
/// Whether it is a float of 16 bits.
[[nodiscard]] constexpr bool is_short_float(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16;
}
[[nodiscard]] constexpr bool is_complex(DType dtype) {
  return dtype == DType::kC64 || dtype == DType::kC128;
}
/// The float that the parts of a complex dtype are; any other one itself.
[[nodiscard]] constexpr DType real_of(DType dtype) {
  return dtype == DType::kC64 ? DType::kF32 : dtype == DType::kC128 ? DType::kF64 : dtype;
}
/// The complex dtype with parts of a float.
[[nodiscard]] constexpr DType complex_of(DType dtype) {
  return dtype == DType::kF64 ? DType::kC128 : DType::kC64;
}
/// Whether an element is more than a register holds.
[[nodiscard]] constexpr bool is_wide(DType dtype) { return size_of(dtype) > 4; }
/// The bits that say a number: fewer than are stored of booleans and of types below 8 bits.
[[nodiscard]] constexpr int bit_width(DType dtype) {
  if (dtype == DType::kI1) return 1;
  if (dtype == DType::kI2 || dtype == DType::kU2) return 2;
  if (dtype == DType::kI4 || dtype == DType::kU4 || dtype == DType::kF4E2M1FN) return 4;
  if (dtype == DType::kF6E2M3FN || dtype == DType::kF6E3M2FN) return 6;
  return static_cast<int>(8 * size_of(dtype));
}
/// The unsigned integer whose elements have 1, 2, 4 or 8 bytes.
[[nodiscard]] constexpr DType unsigned_of_size(std::size_t bytes) {
  return bytes == 1   ? DType::kU8
         : bytes == 2 ? DType::kU16
         : bytes == 4 ? DType::kU32
                      : DType::kU64;
}
[[nodiscard]] constexpr bool is_signed(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 ||
         dtype == DType::kI64 || dtype == DType::kI2 || dtype == DType::kI4 || is_float(dtype);
}
[[nodiscard]] constexpr bool is_integer(DType dtype) {
  return !is_float(dtype) && !is_complex(dtype) && dtype != DType::kI1;
}

/// StableHLO's spelling: i1, i8, ui16, f32, …
[[nodiscard]] constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view kNames[] = {
      "i1",       "i8",         "i16",    "i32",          "i64",
      "ui8",      "ui16",       "ui32",   "ui64",         "bf16",
      "f16",      "f32",        "f64",    "complex<f32>", "complex<f64>",
      "i2",       "i4",         "ui2",    "ui4",          "f4E2M1FN",
      "f6E2M3FN", "f6E3M2FN",   "f8E3M4", "f8E4M3",       "f8E4M3B11FNUZ",
      "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ",   "f8E8M0FNU"};
  return kNames[static_cast<std::size_t>(dtype)];
}

using Shape = std::vector<std::int64_t>;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t d : shape) n *= d;
    return n;
  }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(elements()) * size_of(dtype);
  }
  /// `tensor<2x3xf32>`
  [[nodiscard]] std::string text() const {
    std::string out = "tensor<";
    for (const std::int64_t d : shape) out += std::to_string(d) + "x";
    return out + std::string(name_of(dtype)) + ">";
  }
  bool operator==(const TensorType&) const = default;
};

/// A dense tensor in host memory, row-major, elements packed at their size (little endian).
struct HostTensor {
  TensorType type;
  std::vector<std::byte> data;

  HostTensor() = default;
  explicit HostTensor(TensorType t) : type(std::move(t)), data(type.bytes()) {}

  template <class T>
  [[nodiscard]] T get(std::size_t i) const {
    T v;
    __builtin_memcpy(&v, data.data() + i * sizeof(T), sizeof(T));
    return v;
  }
  template <class T>
  void set(std::size_t i, T v) {
    __builtin_memcpy(data.data() + i * sizeof(T), &v, sizeof(T));
  }
};

}  // namespace superstep
