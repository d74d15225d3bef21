#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/poplibs/device.h"

namespace superstep::poplibs {

/// One kernel of PopLibs at one size, timed on a chip.
struct HardwarePoint {
  std::size_t n = 0;
  double chip = 0;              ///< cycles between the two readings of the tile's counter
  std::uint64_t simulated = 0;  ///< of the call of the vertex alone
  bool listed = true;           ///< on the page; else it only counts for the worst
};

/// One kernel at several sizes.
struct HardwareKernel {
  std::string name;
  std::string type;        ///< of the vertex
  double limit = 0;        ///< that the simulation must keep, relative
  double compute_set = 0;  ///< what the program around the vertex takes
  std::vector<HardwarePoint> points;

  /// What the chip took but for the reading of the counter and the call of one more compute set.
  [[nodiscard]] double kernel_cycles(const HardwarePoint& point) const;
  /// How far the simulation is from that, relative to what the chip took.
  [[nodiscard]] double off(const HardwarePoint& point) const;
};

/// Runs every kernel that was timed on a chip; throws when one faults.
std::vector<HardwareKernel> run_hardware_kernels(const Codelets& codelets);

/// The part of docs/validation.md about them.
std::string hardware_text(const std::vector<HardwareKernel>& kernels);

}  // namespace superstep::poplibs
