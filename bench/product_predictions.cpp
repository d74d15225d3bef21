// How near are predictions to what products take? 12 shapes in f32 and f16 on three machines: the
// planner's estimate, which decides how each is split, and the prediction for the program that was
// made of it, against simulated device cycles besides the visits to the host. Arguments: names of
// machines, in place of these.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/program/program.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "sim/trace/tables.h"

namespace superstep {
namespace {

struct Errors {
  std::vector<double> all;

  void add(double predicted, double found) { all.push_back((predicted - found) / found); }
  [[nodiscard]] std::string text() const {
    std::vector<double> sizes;
    double sum = 0;
    for (const double error : all) {
      sizes.push_back(std::abs(error));
      sum += error;
    }
    std::ranges::sort(sizes);
    const auto at = [&](double share) {
      return 100 * sizes[static_cast<std::size_t>(share * static_cast<double>(sizes.size() - 1))];
    };
    return fmt::format("median {:.1f} %, 95th percentile {:.1f} %, mean of signed errors {:+.1f} %",
                       at(0.5), at(0.95), 100 * sum / static_cast<double>(all.size()));
  }
};

std::string product(int m, int k, int n, const std::string& dtype) {
  return fmt::format(
      "func.func @main(%a: tensor<{0}x{1}x{3}>, %b: tensor<{1}x{2}x{3}>) -> tensor<{0}x{2}x{3}> "
      "{{\n%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
      "(tensor<{0}x{1}x{3}>, tensor<{1}x{2}x{3}>) -> tensor<{0}x{2}x{3}>\n"
      "return %c : tensor<{0}x{2}x{3}>\n}}\n",
      m, k, n, dtype);
}

void run(const std::vector<std::string>& machines) {
  Errors planner, finished;
  fmt::print("{:>8} {:>4} {:>4} {:>4}  type {:>9} {:>9} {:>9}\n", "machine", "m", "k", "n",
             "planner", "predicted", "simulated");
  for (const std::string& name : machines) {
    const MachineConfig machine = load_machine(name);
    for (const int m : {16, 96, 384}) {
      for (const int k : {64, 512}) {
        for (const int n : {64, 200}) {
          for (const char* dtype : {"f32", "f16"}) {
            std::int64_t planned = 0;
            const auto keep = [&](const LoweredProgram& program) {
              planned = program.products.at(0).cycles;
            };
            const ProgramImage image =
                compile(import_stablehlo(product(m, k, n, dtype), "product.mlir"), machine,
                        {.on_steps = keep});
            std::vector<HostTensor> zeros;
            for (const TensorType& type : image.arguments) zeros.emplace_back(type);
            const RunTotals totals = run_image(image, zeros, {}).totals;
            const std::uint64_t visits =
                predicted_cycles(image, 1).value() - image.info.predicted_cycles;
            const std::uint64_t found =
                (totals.compute + totals.exchange + totals.sync).value() - visits;
            planner.add(static_cast<double>(planned), static_cast<double>(found));
            finished.add(static_cast<double>(image.info.predicted_cycles),
                         static_cast<double>(found));
            fmt::print("{:>8} {:>4} {:>4} {:>4}  {:<4} {:>9} {:>9} {:>9}\n", name, m, k, n, dtype,
                       planned, image.info.predicted_cycles, found);
          }
        }
      }
    }
  }
  fmt::print("{} products\nplanner:   {}\nprediction: {}\n", planner.all.size(), planner.text(),
             finished.text());
}

}  // namespace
}  // namespace superstep

int main(int count, char** words) {
  std::vector<std::string> machines(words + 1, words + count);
  if (machines.empty()) machines = {"tiny4", "small64", "bow"};
  superstep::run(machines);
}
