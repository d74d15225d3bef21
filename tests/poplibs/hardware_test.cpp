#include "tests/poplibs/hardware.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/poplibs/checkout.h"

namespace superstep::poplibs {
namespace {

TEST(PopLibsHardware, KernelsTakeTheCyclesOfTheChip) {
  if (!poplibs_checkout()) GTEST_SKIP() << kNoPoplibs;
  for (const HardwareKernel& kernel : run_hardware_kernels(checkout_codelets())) {
    for (const HardwarePoint& point : kernel.points) {
      EXPECT_LE(std::fabs(kernel.off(point)), kernel.limit)
          << kernel.name << ", n = " << point.n << ": " << point.simulated << " cycles, the chip "
          << kernel.kernel_cycles(point);
    }
  }
}

}  // namespace
}  // namespace superstep::poplibs
