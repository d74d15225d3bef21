#pragma once

#include <array>
#include <cstdint>

namespace superstep {

/// A worker of a tile that stands still.
struct WorkerView {
  bool is_running = false;
  std::uint32_t pc = 0;  ///< of its next instruction, while it is running
  /// $m0 to $m15 and $a0 to $a15. They go on from launch to launch.
  std::array<std::uint32_t, 16> m{}, a{};
};

}  // namespace superstep
