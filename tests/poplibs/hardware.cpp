#include "tests/poplibs/hardware.h"

#include <array>
#include <bit>
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
  double percent;
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
    products.push_back({n, cycles, 0, n <= 96 || std::has_single_bit(n)});
  }
  return {
      {"f16 product [n, 16] x [16, 16]",
       "poplin::ConvPartial1x1Out<half,half,true,true,16,4,false>", 2, product, products},
      // notebooks/01-tessellate-ipu-tile-api-basics.ipynb.
      {"f32 addition",
       "popops::BinaryOp1D<popops::expr::BinaryOpType::ADD,float>",
       5,
       recipes.at("popops::BinaryOp1D").fill,
       {{10, 330 - kCounter}, {1024, 1860 - kCounter}}},
      // tests/linalg/test_tile_linalg_jacobi.py, in a comment.
      {"f32 scaled addition",
       "popops::ScaledAddSupervisor<float,float,float,false>",
       5,
       recipes.at("popops::ScaledAddSupervisor").fill,
       {{64, 375 - kCounter},
        {128, 467 - kCounter},
        {256, 665 - kCounter},
        {512, 1043 - kCounter}}},
  };
}

const Entry& entry_of(const std::string& type) {
  for (const Entry& entry : all_entries()) {
    if (entry.type == type) return entry;
  }
  throw std::runtime_error("no vertex " + type);
}

}  // namespace

double HardwareKernel::chip_slope() const {
  return (points.back().chip - points.front().chip) /
         static_cast<double>(points.back().n - points.front().n);
}

double HardwareKernel::slope() const {
  return (static_cast<double>(points.back().simulated) -
          static_cast<double>(points.front().simulated)) /
         static_cast<double>(points.back().n - points.front().n);
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
    kernels.push_back({kernel.name, kernel.type, kernel.percent, kernel.points});
  }
  return kernels;
}

std::string hardware_text(const std::vector<HardwareKernel>& kernels) {
  std::string text = fmt::format(
      R"(
## Against hardware

Cycles of a Bow as graphcore-research/tessellate-ipu (3ab241f) measured them, less {} for reading the
counter (published), against the call of the vertex alone on the simulated tile: what the program
around it takes on the chip is in the difference, and no number was chosen to take it off. Slopes
are free of it. Of the 128 sizes of the product (16 to 2,048 by 16), which the source gives as five
numbers, a few are listed. Where all workers of the product end together (n a multiple of 48, and
16) the chip takes 10 cycles more than where some end a row earlier; the simulated tile does not.
The other measured kernels of the source (Jacobi rotations, rows of a QR decomposition) are C++
vertices, which only the vendor's compiler compiles.

| kernel | vertex | n | chip | simulated | off |
|---|---|---|---|---|---|
)",
      kCounter);
  for (const HardwareKernel& kernel : kernels) {
    for (const HardwarePoint& point : kernel.points) {
      if (!point.listed) continue;
      text += fmt::format("| {} | `{}` | {} | {:.1f} | {} | {:+.1f} % |\n", kernel.name,
                          kernel.type, point.n, point.chip, point.simulated, 100 * point.off());
    }
    text += fmt::format("| {} | | one more | {:.3f} | {:.3f} | {:+.1f} % |\n", kernel.name,
                        kernel.chip_slope(), kernel.slope(),
                        100 * (kernel.slope() / kernel.chip_slope() - 1));
  }
  return text;
}

}  // namespace superstep::poplibs
