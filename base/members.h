#pragma once

#include <cstddef>
#include <type_traits>

namespace superstep {

/// What any member can be initialised from, to count them.
struct AnyMember {
  template <class Member>
  operator Member() const;
};
/// Members of an aggregate without bases.
template <class Aggregate, class... Members>
consteval std::size_t count_members() {
  if constexpr (requires { Aggregate{Members{}..., AnyMember{}}; }) {
    return count_members<Aggregate, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

/// Calls `visit` with all members of an aggregate in their order.
template <class Aggregate, class Visit>
constexpr void visit_members(Aggregate& value, const Visit& visit) {
  constexpr std::size_t kCount = count_members<std::remove_const_t<Aggregate>>();
  static_assert(kCount <= 9, "one more case, for an aggregate with so many members");
  if constexpr (kCount == 1) {
    auto& [a] = value;
    visit(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = value;
    visit(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = value;
    visit(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = value;
    visit(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = value;
    visit(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = value;
    visit(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    visit(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    visit(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    visit(a, b, c, d, e, f, g, h, i);
  }
}

}  // namespace superstep
