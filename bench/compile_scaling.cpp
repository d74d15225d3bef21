// How does the time to compile grow with a program? The complexity is fitted over sizes: an
// exponent near 1 is wanted everywhere.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "compiler/compile.h"
#include "isa/machine_config.h"

namespace superstep {
namespace {

using Program = std::string (*)(std::int64_t);

/// `count` layers of a perceptron, unrolled.
std::string layers(std::int64_t count) {
  std::string text =
      "func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x64xf32>) -> tensor<32x64xf32> {\n";
  std::string last = "%a";
  for (std::int64_t i = 0; i < count; ++i) {
    text += fmt::format(
        "%p{0} = stablehlo.dot_general {1}, %b, contracting_dims = [1] x [0] : (tensor<32x64xf32>, "
        "tensor<64x64xf32>) -> "
        "tensor<32x64xf32>\n%t{0} = stablehlo.tanh %p{0} : tensor<32x64xf32>\n",
        i, last);
    last = fmt::format("%t{}", i);
  }
  return text + "return " + last + " : tensor<32x64xf32>\n}\n";
}

/// A chain of `count` elementwise ops, fused as far as code allows.
std::string powers(std::int64_t count) {
  std::string text =
      "func.func @main(%0: tensor<4096xf16>, %b: tensor<4096xf16>) -> tensor<4096xf16> {\n";
  for (std::int64_t i = 0; i < count; ++i) {
    text += fmt::format("%{} = stablehlo.power %{}, %b : tensor<4096xf16>\n", i + 1, i);
  }
  return text + fmt::format("return %{} : tensor<4096xf16>\n}}\n", count);
}

/// `count` independent tensors, each of a shape of its own.
std::string shapes(std::int64_t count) {
  std::string arguments, types, body, results;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string type = fmt::format("tensor<{}xf32>", 64 + i);
    const char* comma = i == 0 ? "" : ", ";
    arguments += fmt::format("{}%a{}: {}", comma, i, type);
    types += comma + type;
    body += fmt::format("%r{0} = stablehlo.tanh %a{0} : {1}\n", i, type);
    results += fmt::format("{}%r{}", comma, i);
  }
  return fmt::format("func.func @main({}) -> ({}) {{\n{}return {} : {}\n}}\n", arguments, types,
                     body, results, types);
}

/// Sums and scalings by turns, each a superstep of its own.
std::string supersteps(std::int64_t count) {
  std::string text =
      "func.func @main(%0: tensor<4096xf32>) -> tensor<4096xf32> {\n%z = stablehlo.constant "
      "dense<0.0> : tensor<f32>\n";
  for (std::int64_t i = 0; i < count; ++i) {
    text += fmt::format(
        "%s{0} = stablehlo.reduce(%{0} init: %z) applies stablehlo.add across dimensions = [0] : "
        "(tensor<4096xf32>, "
        "tensor<f32>) -> tensor<f32>\n"
        "%b{0} = stablehlo.broadcast_in_dim %s{0}, dims = [] : (tensor<f32>) -> tensor<4096xf32>\n"
        "%{1} = stablehlo.multiply %{0}, %b{0} : tensor<4096xf32>\n",
        i, i + 1);
  }
  return text + fmt::format("return %{} : tensor<4096xf32>\n}}\n", count);
}

void compile_program(benchmark::State& state, Program program, const char* machine_name) {
  const std::string text = program(state.range(0));
  const MachineConfig machine = load_machine(machine_name);
  for ([[maybe_unused]] auto iteration : state) {
    benchmark::DoNotOptimize(compile(import_stablehlo(text, "scaling.mlir"), machine));
  }
  state.SetComplexityN(state.range(0));
}

/// Fits time = c * n; a large error (RMS) tells another exponent.
void sizes(benchmark::internal::Benchmark* of, std::int64_t first, std::int64_t last) {
  of->RangeMultiplier(2)->Range(first, last)->Unit(benchmark::kMillisecond)->Complexity();
}

BENCHMARK_CAPTURE(compile_program, layers_on_bow, layers, "bow")->Apply([](auto* b) {
  sizes(b, 4, 64);
});
BENCHMARK_CAPTURE(compile_program, layers_on_small64, layers, "small64")->Apply([](auto* b) {
  sizes(b, 4, 64);
});
BENCHMARK_CAPTURE(compile_program, f16_powers_on_small64, powers, "small64")->Apply([](auto* b) {
  sizes(b, 3, 24);
});
BENCHMARK_CAPTURE(compile_program, shapes_on_bow, shapes, "bow")->Apply([](auto* b) {
  sizes(b, 8, 512);
});
BENCHMARK_CAPTURE(compile_program, supersteps_on_small64, supersteps, "small64")
    ->Apply([](auto* b) { sizes(b, 8, 128); });

}  // namespace
}  // namespace superstep
