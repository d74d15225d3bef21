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
  double chip = 0;              ///< cycles, without those of reading the counter
  std::uint64_t simulated = 0;  ///< of the call of the vertex alone
  bool listed = true;           ///< on the page

  /// How far the simulation is from the chip, relative to that.
  [[nodiscard]] double off() const { return static_cast<double>(simulated) / chip - 1; }
};

/// One kernel at several sizes.
struct HardwareKernel {
  std::string name;
  std::string type;    ///< of the vertex
  double percent = 0;  ///< within which the point of this kernel should be
  std::vector<HardwarePoint> points;

  /// Cycles that one more of n takes, from the least to the most.
  [[nodiscard]] double chip_slope() const;
  [[nodiscard]] double slope() const;
};

/// Runs every kernel that was timed on a chip; throws when one faults.
std::vector<HardwareKernel> run_hardware_kernels(const Codelets& codelets);

/// The part of docs/poplibs.md about them.
std::string hardware_text(const std::vector<HardwareKernel>& kernels);

}  // namespace superstep::poplibs
