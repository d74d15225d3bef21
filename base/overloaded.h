#pragma once

namespace superstep {

/// One function of several for std::visit: it does not compile while a kind is missing.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace superstep
