#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "tests/generated/gemm_sweep.h"
#include "tests/generated/program.h"

namespace superstep {
namespace {

/// What was estimated of a phase, and what it takes.
struct Estimate {
  std::string of;
  double estimated, cycles;

  [[nodiscard]] double error() const { return std::abs(estimated - cycles) / cycles; }
};

void add_phases(const Module& module, const std::string& name, const MachineConfig& machine,
                std::vector<Estimate>& phases) {
  for (const StepInfo& step : compile(module, machine).info.steps) {
    if (step.kind != StepInfo::Kind::kExchange) continue;
    phases.push_back({name + " on " + machine.name + ", " + step.name,
                      static_cast<double>(step.estimated_cycles),
                      static_cast<double>(step.predicted_cycles)});
  }
}

/// The error that `share` of the phases, or of their cycles, do not exceed.
const Estimate& quantile(std::vector<Estimate>& phases, double share, bool by_cycles) {
  std::ranges::sort(phases, {}, &Estimate::error);
  double all = 0, sum = 0;
  for (const Estimate& phase : phases) all += by_cycles ? phase.cycles : 1;
  for (const Estimate& phase : phases) {
    sum += by_cycles ? phase.cycles : 1;
    if (sum >= share * all) return phase;
  }
  return phases.back();
}

TEST(Estimates, OfPhasesAreNearTheirSchedules) {
  const MachineConfig bow = load_machine("bow"), small = load_machine("small64");
  const std::filesystem::path models = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";
  std::vector<Estimate> phases;
  for (const char* model :
       {"quickstart/affine", "linear_regression/train_step", "digits_mlp/train_step",
        "digits_mlp/accuracy", "mnist_mlp/train_step", "encoder/encoder"}) {
    const std::string file = (models / model).string() + ".mlir";
    const Module module = import_stablehlo(read_text_file(file), file);
    add_phases(module, model, bow, phases);
    add_phases(module, model, small, phases);
  }
  for (const auto& [name, module] : gemm_sweep()) add_phases(module, name, small, phases);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    add_phases(generate_program(seed).module, fmt::format("program {}", seed), small, phases);
  }
  ASSERT_GT(phases.size(), 200U);
  for (const bool by_cycles : {false, true}) {
    for (const auto& [share, most] : {std::pair{0.5, 0.15}, {0.95, 0.5}}) {
      const Estimate& at = quantile(phases, share, by_cycles);
      RecordProperty(fmt::format("error_{}_{}", share, by_cycles ? "of_cycles" : "of_phases"),
                     fmt::format("{:.3f}", at.error()));
      EXPECT_LE(at.error(), most) << "of " << share << (by_cycles ? " of cycles" : " of phases")
                                  << ": " << at.of << ", estimated " << at.estimated << ", takes "
                                  << at.cycles;
    }
  }
}

}  // namespace
}  // namespace superstep
