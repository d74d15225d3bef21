#pragma once

#include "poplar/HalfFloat.hpp"
#include "poplar/Type.hpp"

namespace poplar {

template <class T>
struct equivalent_device_type;
template <>
struct equivalent_device_type<float> {
  Type value = FLOAT;
};
template <>
struct equivalent_device_type<half> {
  Type value = HALF;
};
template <>
struct equivalent_device_type<int> {
  Type value = INT;
};
template <>
struct equivalent_device_type<unsigned> {
  Type value = UNSIGNED_INT;
};
template <>
struct equivalent_device_type<bool> {
  Type value = BOOL;
};

struct TypeTraits {
  std::size_t size = 0;
  template <class T>
  static TypeTraits make() {
    return {sizeof(T)};
  }
  template <class T>
  static constexpr bool isSimpleType() {
    return std::is_arithmetic_v<T> || std::is_same_v<T, half>;
  }
};

}  // namespace poplar
