#pragma once

#include <cstdint>
#include <functional>

#include "poplar/Target.hpp"
#include "poplar/VertexIntrospector.hpp"

namespace poplar {

struct VertexPerfEstimate {
  VertexPerfEstimate(std::uint64_t cycle_count = 0, std::uint64_t flop_count = 0)  // NOLINT
      : cycles(cycle_count), flops(flop_count) {}
  std::uint64_t cycles;
  std::uint64_t flops;
};
using PerfEstimateFunc =
    std::function<VertexPerfEstimate(const VertexIntrospector&, const Target&)>;

}  // namespace poplar
