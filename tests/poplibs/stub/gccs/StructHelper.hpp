#pragma once

#include <cstddef>

namespace gccs {

/// Comparison of structs by members; estimators never compare any.
class StructHelper {
 public:
  template <class... Members>
  constexpr explicit StructHelper(Members...) {}
  template <class T>
  bool lt(const T&, const T&) const {
    return false;
  }
  template <class T>
  bool eq(const T&, const T&) const {
    return false;
  }
  template <class T>
  std::size_t hash(const T&) const {
    return 0;
  }
};
template <class... Members>
constexpr StructHelper makeStructHelper(Members... members) {
  return StructHelper(members...);
}

}  // namespace gccs
