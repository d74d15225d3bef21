#include "tests/poplibs/hardware.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/calibration/point.h"
#include "tests/poplibs/checkout.h"

namespace superstep::poplibs {
namespace {

constexpr const char* kAround =
    "machine: what the program around a vertex takes is not in its call, and not modelled";

class PopLibsHardware : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!poplibs_checkout()) GTEST_SKIP() << kNoPoplibs;
  }
  static const std::vector<HardwareKernel>& kernels() {
    static const std::vector<HardwareKernel> all = run_hardware_kernels(checkout_codelets());
    return all;
  }
  static void expect_points(const char* id, const HardwareKernel& kernel,
                            const std::vector<std::size_t>& sizes) {
    for (const HardwarePoint& point : kernel.points) {
      if (std::ranges::count(sizes, point.n) == 0) continue;
      test::expect_on_page(test::calibration_point(
          id, fmt::format("{}, n = {}, cycles", kernel.name, point.n), "Bow", point.chip,
          static_cast<double>(point.simulated), kernel.percent, kAround));
    }
  }
};

TEST_F(PopLibsHardware, ASlopeIsThatOfTheChip) {
  for (const HardwareKernel& kernel : kernels()) {
    EXPECT_NEAR(kernel.slope() / kernel.chip_slope(), 1, 0.002) << kernel.name;
  }
}

TEST_F(PopLibsHardware, AVertexTakesTenToFortyTwoCyclesLessThanItsProgramOnTheChip) {
  for (const HardwareKernel& kernel : kernels()) {
    for (const HardwarePoint& point : kernel.points) {
      const double missing = point.chip - static_cast<double>(point.simulated);
      EXPECT_GE(missing, 9.95) << kernel.name << ", n = " << point.n;
      EXPECT_LE(missing, 42.05) << kernel.name << ", n = " << point.n;
    }
  }
}

TEST_F(PopLibsHardware, V01ProductsAreOnThePage) {
  expect_points("V01", kernels().at(0), {16, 32, 128, 2048});
}

TEST_F(PopLibsHardware, V17ElementwiseKernelsAreOnThePage) {
  expect_points("V17", kernels().at(1), {10, 1024});
  expect_points("V17", kernels().at(2), {64, 128, 256, 512});
}

}  // namespace
}  // namespace superstep::poplibs
