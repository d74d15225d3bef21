#include "tests/poplibs/hardware.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/poplibs/recipe.h"

namespace poplin {
// PopLibs, lib/poplin/ConvPartialsStridesPacking.cpp.
int getTransformedOutStride(int stride, unsigned out_channels, unsigned units, bool float_partials,
                            bool flip);
}  // namespace poplin

namespace superstep::poplibs {
namespace {

// graphcore-research/tessellate-ipu times a vertex on a Bow by reading the tile's cycle counter in
// a supervisor vertex before and after it. Without the vertex between them two readings are 45
// cycles apart (ipu_cycle_count_overhead).
constexpr double kCounter = 45;
// What the program around a vertex costs for one more compute set, where the workers run it or the
// supervisor calls it. Not published: the middle of what the points below leave.
constexpr double kWorkersComputeSet = 13;
constexpr double kSupervisorComputeSet = 36;

/// [n, 16] x [16, 16] in f16 with f16 partials, rows divided among the workers.
void product(Case& run, std::size_t n) {
  constexpr std::size_t kWorkers = 6;
  constexpr std::size_t kChannels = 16;
  run.value("transformedInStride", 1);
  run.value("transformedOutStride",
            poplin::getTransformedOutStride(1, kChannels, kChannels, false, false));
  std::vector<double> work;
  std::size_t begin = 0;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    const std::size_t count = n / kWorkers + (worker < n % kWorkers ? 1 : 0);
    // Offsets count 8 bytes, numbers of rows are 3 less.
    const auto offset = static_cast<double>(begin * kChannels * 2 / 8);
    work.insert(work.end(), {offset, static_cast<double>(count) - 3, offset});
    begin += count;
  }
  run.elements("worklists", work);
  run.value("numConvGroupsM1", 0);
  run.value("numOutGroupsM1", 0);
  run.value("numInGroups", 1);
  run.value("inChansPerGroup", kChannels);
  run.value("outChansPerGroup", kChannels);
  run.random("in", {n * kChannels}, -1, 1);
  run.random("weights", {kChannels * kChannels}, -1, 1);
  run.random("out", {n * kChannels}, -1, 1);
}

struct Measured {
  std::string name;
  std::string type;
  double limit;
  std::function<void(Case&, std::size_t)> fill;
  std::vector<HardwarePoint> points;
};

/// Graphcore/tessellate-ipu's, at 3ab241f.
std::vector<Measured> measured_kernels() {
  Recipes recipes;
  add_popops(recipes);
  // notebooks/IPU Peak Flops.ipynb: cycles from TFLOP/s, means of 1,472 tiles. Every 48 rows more
  // take 192 cycles more in all its 128 sizes, but for the first. Its program takes the reading of
  // the counter off.
  constexpr std::size_t kStep = 16;
  constexpr std::size_t kMost = 2048;
  constexpr std::array<double, 3> kFirst = {392, 461.3, 524};
  std::vector<HardwarePoint> products;
  for (std::size_t n = kStep; n <= kMost; n += kStep) {
    const std::size_t i = n / kStep - 1;
    const double cycles = i == 0 ? 402 : kFirst[i % 3] + 192 * static_cast<double>(i / 3);
    products.push_back({n, cycles + kCounter, 0, n <= 96 || std::has_single_bit(n)});
  }
  return {
      {"f16 product [n, 16] x [16, 16]",
       "poplin::ConvPartial1x1Out<half,half,true,true,16,4,false>", 0.02, product, products},
      // notebooks/01-tessellate-ipu-tile-api-basics.ipynb.
      {"f32 addition",
       "popops::BinaryOp1D<popops::expr::BinaryOpType::ADD,float>",
       0.05,
       recipes.at("popops::BinaryOp1D").fill,
       {{10, 330, 0}, {1024, 1860, 0}}},
      // tests/linalg/test_tile_linalg_jacobi.py, in a comment.
      {"f32 scaled addition",
       "popops::ScaledAddSupervisor<float,float,float,false>",
       0.05,
       recipes.at("popops::ScaledAddSupervisor").fill,
       {{64, 375, 0}, {128, 467, 0}, {256, 665, 0}, {512, 1043, 0}}},
  };
}

const Entry& entry_of(const std::string& type) {
  for (const Entry& entry : all_entries()) {
    if (entry.type == type) return entry;
  }
  throw std::runtime_error("no vertex " + type);
}

}  // namespace

double HardwareKernel::kernel_cycles(const HardwarePoint& point) const {
  return point.chip - kCounter - compute_set;
}

double HardwareKernel::off(const HardwarePoint& point) const {
  return (static_cast<double>(point.simulated) - kernel_cycles(point)) / point.chip;
}

std::vector<HardwareKernel> run_hardware_kernels(const Codelets& codelets) {
  std::vector<HardwareKernel> kernels;
  for (Measured& kernel : measured_kernels()) {
    const Entry& entry = entry_of(kernel.type);
    const LinkedCode code = codelets.link_entry(entry.symbol);
    const CodeletKind kind =
        codelets.is_supervisor(entry.symbol) ? CodeletKind::kSupervisor : CodeletKind::kMultiVertex;
    for (HardwarePoint& point : kernel.points) {
      Case run(entry, point.n);
      kernel.fill(run, point.n);
      run.place();
      const DeviceResult result = run_on_tile(run, code, kind);
      if (!result.fault.empty()) throw std::runtime_error(kernel.type + ": " + result.fault);
      point.simulated = result.cost.cycles;
    }
    const double compute_set =
        kind == CodeletKind::kSupervisor ? kSupervisorComputeSet : kWorkersComputeSet;
    kernels.push_back({kernel.name, kernel.type, kernel.limit, compute_set, kernel.points});
  }
  return kernels;
}

namespace {

double worst(const HardwareKernel& kernel) {
  double most = 0;
  for (const HardwarePoint& point : kernel.points) {
    most = std::max(most, std::fabs(kernel.off(point)));
  }
  return most;
}

}  // namespace

std::string hardware_text(const std::vector<HardwareKernel>& kernels) {
  std::string text = fmt::format(
      R"(
## Against hardware

Cycles of a Bow as graphcore-research/tessellate-ipu (3ab241f) measured them, less {} for reading the
counter (published) and what the program around one compute set takes ({} where workers run the
vertex, {} where the supervisor calls it: derived, the middle of what these points leave), against
the call of the vertex on the simulated tile. Slopes do not depend on the derived numbers. Where all
workers of the product end together (n a multiple of 48, and 16) the chip takes 10 cycles more than
where some end a row earlier; the simulated tile does not. Of the 128 sizes of the product (16 to
2,048 by 16) a few are listed; all are within {:.1f} %. Its other measured kernels (Jacobi rotations,
rows of a QR decomposition) are C++ vertices of its own, which only the vendor's compiler compiles.

| kernel | vertex | n | chip | less both | simulated | off |
|---|---|---|---|---|---|---|
)",
      kCounter, kWorkersComputeSet, kSupervisorComputeSet, 100 * worst(kernels.at(0)));
  for (const HardwareKernel& kernel : kernels) {
    for (const HardwarePoint& point : kernel.points) {
      if (!point.listed) continue;
      text += fmt::format("| {} | `{}` | {} | {:.1f} | {:.1f} | {} | {:+.1f} % |\n", kernel.name,
                          kernel.type, point.n, point.chip, kernel.kernel_cycles(point),
                          point.simulated, 100 * kernel.off(point));
    }
  }
  return text;
}

}  // namespace superstep::poplibs
