#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/dtype.h"

namespace superstep::vertex {

/// A tensor of the special values of a dtype of four bytes or less, small numbers and arbitrary
/// bits (i1: 0 and 1), equal for equal seeds.
inline HostTensor sample(const TensorType& type, std::uint32_t seed) {
  static const std::vector<std::uint32_t> kF32 = {
      0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
      0x3f000000, 0xbf000000, 0x40200000, 0xc0200000, 0x00000001, 0x807fffff, 0x7f7fffff,
      0x4f000000, 0xcf000000, 0x4f800000, 0x42fe0000, 0x43000000, 0x477fff00, 0x4b000001};
  static const std::vector<std::uint32_t> kF16 = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00,
                                                  0x7e00, 0x3800, 0xb800, 0x4100, 0xc100, 0x0001,
                                                  0x83ff, 0x7bff, 0x5800, 0xd800, 0x57f0, 0x7e01};
  static const std::vector<std::uint32_t> kIntegers = {
      0, 1, 0xffffffff, 2,  0x80000000, 0x7fffffff, 0x80, 0x7f,       0x8000,  0x7fff,
      7, 8, 15,         16, 31,         32,         3,    0xfffffffd, 0x10000, 0xffff};
  HostTensor tensor(type);
  std::mt19937 random(seed);
  const std::size_t size = size_of(type.dtype);
  const std::vector<std::uint32_t>& special = type.dtype == DType::kF32   ? kF32
                                              : type.dtype == DType::kF16 ? kF16
                                                                          : kIntegers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    const auto kind = static_cast<std::uint32_t>(random() % 4),
               bits = static_cast<std::uint32_t>(random());
    std::uint32_t value = bits;
    if (kind < 2 || (kind == 2 && type.dtype == DType::kF16)) {
      value = special[bits % special.size()];
    } else if (kind == 2 && type.dtype == DType::kF32) {
      const float small = static_cast<float>(static_cast<std::int32_t>(bits)) / 1e8F;
      std::memcpy(&value, &small, 4);
    } else if (kind == 2) {
      value = bits % 41 - 20;
    }
    if (type.dtype == DType::kI1) value = bits & 1;
    std::memcpy(tensor.data.data() + i * size, &value, size);
  }
  return tensor;
}

/// An element's bits.
inline std::string hex(const HostTensor& tensor, std::size_t i) {
  const std::size_t size = size_of(tensor.type.dtype);
  std::uint32_t bits = 0;
  std::memcpy(&bits, tensor.data.data() + i * size, size);
  return fmt::format(" {:#x}", bits);
}

}  // namespace superstep::vertex
