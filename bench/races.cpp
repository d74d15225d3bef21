// What does the check for races take of a call of mnist_mlp on bow, the first one and later ones?

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "sim/simulation.h"

namespace superstep {
namespace {

std::shared_ptr<const ProgramImage> compiled(const std::string& module) {
  const std::string text =
      read_text_file(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models" / module);
  return std::make_shared<const ProgramImage>(
      compile(import_stablehlo(text, module), load_machine("bow")));
}

/// Numbers below 1 of f32; classes of i32.
std::vector<HostTensor> random_arguments(const ProgramImage& image) {
  std::mt19937 random(1);
  std::vector<HostTensor> arguments;
  for (const TensorType& type : image.arguments) {
    HostTensor& tensor = arguments.emplace_back(type);
    for (std::size_t at = 0; at < tensor.data.size(); at += 4) {
      const auto value = static_cast<float>(random() % 1024) / 1024;
      const auto number = static_cast<std::int32_t>(random() % 10);
      std::memcpy(tensor.data.data() + at,
                  type.dtype == DType::kF32 ? static_cast<const void*>(&value) : &number, 4);
    }
  }
  return arguments;
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

double call(Simulation& simulation) {
  const double begin = processor_seconds();
  simulation.call();
  return processor_seconds() - begin;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Two simulations call in turn, one of them checks. Each iteration makes both anew, as where the
/// host puts them bears on their speed, and swaps who comes first.
void check_races(benchmark::State& state) {
  constexpr int kLaterCalls = 8;
  const auto image = compiled("mnist_mlp/train_step.mlir");
  const std::vector<HostTensor> arguments = random_arguments(*image);
  std::vector<double> first, first_checked, later, later_checked;
  bool checked_first = false;
  for ([[maybe_unused]] auto iteration : state) {
    std::unique_ptr<Simulation> plain, checked;
    for (const bool checks : {checked_first, !checked_first}) {
      SimulationOptions options;
      options.check_races = checks ? RaceChecks::kFirst : RaceChecks::kNever;
      auto& simulation = checks ? checked : plain;
      simulation = std::make_unique<Simulation>(image, options);
      simulation->set_arguments(arguments);
      (checks ? first_checked : first).push_back(call(*simulation));
    }
    for (int k = 0; k < kLaterCalls; ++k) {
      later.push_back(call(*plain));
      later_checked.push_back(call(*checked));
    }
    checked_first = !checked_first;
  }
  const double first_extra = median(first_checked) - median(first);
  const double later_extra = median(later_checked) - median(later);
  state.counters["first_call_ms"] = 1e3 * median(first);
  state.counters["first_extra_ms"] = 1e3 * first_extra;
  state.counters["later_call_ms"] = 1e3 * median(later);
  state.counters["later_extra_ms"] = 1e3 * later_extra;
  state.counters["share_of_50_calls"] =
      (first_extra + 49 * later_extra) / (median(first) + 49 * median(later));
}
BENCHMARK(check_races)->Unit(benchmark::kMillisecond)->Iterations(10);

}  // namespace
}  // namespace superstep
