// How long does each model take to compile for a whole chip?

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

void compile_model(benchmark::State& state, const std::string& module) {
  const std::string text =
      read_text_file(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models" / module);
  const MachineConfig machine = load_machine("bow");
  for ([[maybe_unused]] auto iteration : state) {
    benchmark::DoNotOptimize(compile(import_stablehlo(text, module), machine));
  }
}
BENCHMARK_CAPTURE(compile_model, square_plus_one, "quickstart/square_plus_one.mlir")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_model, affine, "quickstart/affine.mlir")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_model, linear_regression, "linear_regression/train_step.mlir")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_model, digits, "digits_mlp/train_step.mlir")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_model, digits_accuracy, "digits_mlp/accuracy.mlir")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile_model, mnist, "mnist_mlp/train_step.mlir")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace superstep
