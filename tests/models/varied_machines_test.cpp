#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"
#include "tests/machine_values.h"
#include "tests/models/jax_results.h"
#include "tests/program/whole_numbers.h"

// Compiled programs on machines of which a key is varied, or many: what they compute stays, and
// a better machine is hardly slower.

namespace superstep {
namespace {

using testing::Better;
using testing::key_values;
using testing::kVariedMachine;
using testing::machine_of;
using testing::number_of;
using testing::settings_of;

/// A small program with a product, arithmetic, a movement and a sum, all of them exact.
const char* const kProgram = R"(
func.func @main(%a: tensor<24x40xf32>, %b: tensor<40x32xf32>, %c: tensor<32xf32>) ->
    (tensor<24x32xf32>, tensor<32x24xf32>, tensor<24xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<24x40xf32>, tensor<40x32xf32>) -> tensor<24x32xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<32xf32>) -> tensor<24x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<24x32xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<24x32xf32>) -> tensor<32x24xf32>
  %4 = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%2 init: %4) applies stablehlo.add across dimensions = [1] : (tensor<24x32xf32>, tensor<f32>) -> tensor<24xf32>
  return %2, %3, %5 : tensor<24x32xf32>, tensor<32x24xf32>, tensor<24xf32>
}
)";

/// A better machine may take so many times the cycles.
constexpr double kHardlySlower = 1.05;

/// Runs on a machine, checks the results, and returns the cycles of the device.
using Program = std::function<std::uint64_t(const MachineConfig&)>;

std::uint64_t device_cycles(const RunResult& run) {
  return (run.totals.exchange + run.totals.compute + run.totals.sync).value();
}

std::uint64_t run_small(const MachineConfig& machine) {
  const Module module = import_stablehlo(kProgram, "keys.mlir");
  const ProgramImage image = compile(module, machine);
  const std::vector<HostTensor> arguments = whole_numbers(image.arguments);
  const RunResult run = run_image(image, arguments, {});
  EXPECT_FALSE(run.trap) << run.trap->text();
  if (run.trap) return 0;
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  for (std::size_t r = 0; r < expected.size(); ++r) {
    EXPECT_EQ(run.results.at(r).data, expected[r].data) << "result " << r;
  }
  return device_cycles(run);
}

/// One that comes with Superstep, and JAX's results.
Program model(const std::string& folder, const std::string& name, const Tolerance& tolerance) {
  return [=](const MachineConfig& machine) {
    const RunResult run =
        run_on(compile_file(kModels / folder / name, machine), tensors(folder + "/input.h5"));
    expect_results(run, tensors(folder + "/expected.h5"), tolerance);
    return device_cycles(run);
  };
}

/// The latency of the two syncs that begin visits.
std::uint64_t visit_latency(const MachineConfig& machine) {
  const auto product =
      static_cast<unsigned __int128>(machine.sync.external_latency_ns) * machine.tile.clock_hz;
  return 2 * static_cast<std::uint64_t>((product + 999'999'999) / 1'000'000'000);
}

struct NamedProgram {
  std::string name;
  Program run;
};

class VariedMachines : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(VariedMachines, ChangeNoResultAndABetterOneIsHardlySlower) {
  const Program& run = GetParam().run;
  const MachineConfig small = load_machine(kVariedMachine);
  const std::uint64_t of_small = run(small);
  for (const auto& [key, varied] : key_values()) {
    std::vector<std::string> values = varied.values;
    if (key == "tile.amp_units") values.push_back("0");
    if (key == "tile.memory_base") values.push_back("0x50000");
    // The base has what a key needs besides itself.
    const bool has_order = varied.better != Better::kNeither;
    const std::vector<std::string> others = settings_of(key, "");
    const bool is_small = others.empty() || !has_order;
    const MachineConfig base = is_small ? small : load_machine(kVariedMachine, others);
    const std::uint64_t before = is_small ? of_small : run(base);
    for (const std::string& value : values) {
      SCOPED_TRACE(key + "=" + value);
      const MachineConfig machine = machine_of(key, value);
      const std::uint64_t cycles = run(machine);
      if (!has_order) continue;
      if (varied.better == Better::kSame) {
        EXPECT_EQ(cycles, before);
      } else if (varied.better == Better::kVisits) {
        EXPECT_EQ(cycles - visit_latency(machine), before - visit_latency(base));
      } else {
        const bool is_less = number_of(machine, key) < number_of(base, key);
        const bool is_better = is_less == (varied.better == Better::kLess);
        EXPECT_LE(static_cast<double>(is_better ? cycles : before),
                  static_cast<double>(is_better ? before : cycles) * kHardlySlower);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, VariedMachines,
    ::testing::Values(NamedProgram{"Small", run_small},
                      NamedProgram{"KMeans", model("kmeans", "kmeans.mlir", within(1e-5, 1e-6))},
                      NamedProgram{"ConjugateGradient",
                                   model("conjugate_gradient", "solve.mlir", within(1e-3, 1e-6))}),
    [](const ::testing::TestParamInfo<NamedProgram>& info) { return info.param.name; });

/// Machines with a fourth of their keys at any of their values, extremes too. Which ones make no
/// machine together, or one on which the program has no place, is told.
TEST(ManyVariedKeys, ChangeNoResult) {
  constexpr int kMachines = 400, kOneIn = 4;
  std::mt19937 random(1);
  int runs = 0;
  for (int number = 0; number < kMachines; ++number) {
    std::vector<std::string> settings;
    for (const auto& [key, varied] : key_values()) {
      if (random() % kOneIn != 0) continue;
      settings.push_back(key + "=" + varied.values[random() % varied.values.size()]);
    }
    SCOPED_TRACE(fmt::format("{}", fmt::join(settings, " ")));
    try {
      run_small(load_machine(kVariedMachine, settings));
      ++runs;
    } catch (const UserError& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
  EXPECT_GE(runs, kMachines / 10);
}

}  // namespace
}  // namespace superstep
