#pragma once

#include "isa/instruction.h"
#include "isa/numerics.h"

namespace superstep::isa {

/// One value in an auxiliary register as every lane of a `Vector`; `kLane` says which f16.
template <class Vector, unsigned kLane>
struct OneForAll {
  using Value = F16x2;
  static constexpr Vector of(F16x2 x) {
    Vector out;
    out.lane.fill(x.lane[kLane]);
    return out;
  }
};
template <>
struct OneForAll<F32x2, 0> {
  using Value = float;
  static constexpr F32x2 of(float x) { return {{x, x}}; }
};

}  // namespace superstep::isa
