#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hdf5.h"
#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "sim/trace/tables.h"
#include "tests/generated/gemm_sweep.h"
#include "tests/generated/program.h"

namespace superstep {
namespace {

/// Compute steps as the compiler predicted them and as they ran on critical tiles, and calls.
struct Predictions {
  struct One {
    double error = 0, cycles = 0;
  };
  std::vector<One> all;
  std::vector<One> calls;  ///< whole ones

  void add(const ProgramImage& image, const std::vector<HostTensor>& arguments) {
    RunOptions options;
    options.threads = 2;
    options.on_superstep = [&](const SuperstepRecord& record) {
      for (const ComputeShare& share : record.shares) {
        if (share.step >= image.info.steps.size() || share.cycles == 0) continue;
        const StepInfo& step = image.info.steps[share.step];
        if (step.kind != StepInfo::Kind::kCompute) continue;
        // Trips of a loop may go on without a barrier.
        const auto found = static_cast<double>(share.cycles),
                   predicted = static_cast<double>(step.predicted_cycles * share.runs);
        all.push_back({std::abs(predicted - found) / found, found});
      }
    };
    const RunResult result = run_image(image, arguments, options);
    ASSERT_FALSE(result.trap) << result.trap->text();
    const auto predicted = static_cast<double>(predicted_cycles(image, options.calls).value());
    const RunTotals& totals = result.totals;
    const Cycles device = totals.compute + totals.exchange + totals.sync;
    const auto found = static_cast<double>(device.value());
    calls.push_back({std::abs(predicted - found) / found, found});
  }

  /// The error that so many of these, or of their cycles, do not exceed.
  [[nodiscard]] static double percentile(std::vector<One> sorted, double part, bool by_cycles) {
    std::ranges::sort(sorted, {}, &One::error);
    const auto weight = [&](const One& one) { return by_cycles ? one.cycles : 1; };
    double total = 0, sum = 0;
    for (const One& one : sorted) total += weight(one);
    for (const One& one : sorted) {
      sum += weight(one);
      if (sum >= part * total) return one.error;
    }
    return 0;
  }

  void expect_close() const {
    ASSERT_FALSE(all.empty());
    for (const bool by_cycles : {false, true}) {
      SCOPED_TRACE(by_cycles ? "by cycles" : "by steps");
      EXPECT_LE(percentile(all, 0.5, by_cycles), 0.05);
      EXPECT_LE(percentile(all, 0.95, by_cycles), 0.20);
      EXPECT_LE(percentile(calls, 0.5, by_cycles), 0.05);
      EXPECT_LE(percentile(calls, 0.95, by_cycles), 0.10);
    }
  }
};

const std::filesystem::path kModels = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";

void add_model(Predictions& predictions, const std::string& module, const std::string& input,
               const std::string& machine) {
  std::ifstream file(kModels / module);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const ProgramImage image = compile(import_stablehlo(text, module), load_machine(machine));
  std::vector<HostTensor> arguments;
  if (!input.empty()) {
    const TensorFile tensors = read_tensors(kModels / input);
    for (std::size_t a = 0; a < image.arguments.size(); ++a) {
      const HostTensor& given = tensors.at(fmt::format("arg{}", a));
      // One call: of what is sent call by call, the first slice.
      HostTensor one(image.arguments[a]);
      std::copy_n(given.data.begin(), one.data.size(), one.data.begin());
      arguments.push_back(std::move(one));
    }
  } else {
    for (const TensorType& type : image.arguments) arguments.emplace_back(type);
  }
  predictions.add(image, arguments);
}

TEST(PredictedCycles, OfTheModelsAreClose) {
  Predictions predictions;
  for (const char* machine : {"tiny4", "small64", "bow"}) {
    add_model(predictions, "quickstart/square_plus_one.mlir", "quickstart/square_plus_one_input.h5",
              machine);
    add_model(predictions, "quickstart/affine.mlir", "quickstart/affine_input.h5", machine);
    add_model(predictions, "linear_regression/train_step.mlir", "linear_regression/train.h5",
              machine);
    add_model(predictions, "digits_mlp/train_step.mlir", "digits_mlp/train.h5", machine);
    add_model(predictions, "digits_mlp/accuracy.mlir", "", machine);
  }
  for (const char* machine : {"small64", "bow"}) {
    add_model(predictions, "encoder/encoder.mlir", "encoder/input.h5", machine);
  }
  // Its arguments do not matter: no data decides.
  add_model(predictions, "mnist_mlp/train_step.mlir", "", "bow");
  predictions.expect_close();
}

TEST(PredictedCycles, OfTheGemmSweepAreClose) {
  Predictions predictions;
  for (const auto& [name, module] : gemm_sweep()) {
    const ProgramImage image = compile(module, load_machine("small64"));
    std::vector<HostTensor> zeros;
    for (const TensorType& type : image.arguments) zeros.emplace_back(type);
    predictions.add(image, zeros);
  }
  predictions.expect_close();
}

/// Loops and branches, those of the library and of powers of integers too; remainders, which divide
/// in as many turns as exponents are apart, and so functions of f64 in software; indexing, where
/// random indices say which tile has something to do: predictions are for even ones.
bool takes_what_data_asks(const Op& op, const Graph& graph) {
  constexpr std::array<std::string_view, 8> kNames = {"stablehlo.custom_call",
                                                      "stablehlo.dynamic_slice",
                                                      "stablehlo.dynamic_update_slice",
                                                      "stablehlo.gather",
                                                      "stablehlo.power",
                                                      "stablehlo.remainder",
                                                      "stablehlo.scatter",
                                                      "stablehlo.select_and_scatter"};
  const auto is_f64 = [&](ValueId v) { return real_of(graph.type(v).dtype) == DType::kF64; };
  return op.definition->traits.control != Control::kNone ||
         std::ranges::find(kNames, op.definition->name) != kNames.end() ||
         std::ranges::any_of(op.operands, is_f64);
}

TEST(PredictedCycles, OfAHundredGeneratedProgramsAreClose) {
  Predictions predictions;
  for (const char* machine : {"tiny4", "small64"}) {
    std::size_t programs = 0;
    for (std::uint64_t seed = 1; programs < 100; ++seed) {
      const Program program = generate_program(seed);
      const Graph& graph = program.module.main;
      const bool is_other = std::ranges::any_of(
          graph.ops(), [&](const Op& op) { return takes_what_data_asks(op, graph); });
      if (is_other) continue;
      predictions.add(compile(program.module, load_machine(machine)), program.arguments);
      ++programs;
    }
  }
  predictions.expect_close();
}

/// A table of `rows` of `columns`, and as many offsets as `count`, which name each row as often as
/// any other.
struct Indexing {
  int rows, columns, count;
  std::string op;  ///< `gather`, or what a scatter combines with
};

std::string text_of(const Indexing& c) {
  const std::string table = fmt::format("tensor<{}x{}xf32>", c.rows, c.columns);
  const std::string windows = fmt::format("tensor<{}x{}xf32>", c.count, c.columns);
  const std::string indices = fmt::format("tensor<{}x1xi32>", c.count);
  if (c.op == "gather") {
    return fmt::format(R"(
func.func @main(%i: {2}, %t: {0}) -> {1} {{
  %r = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, {3}>}}> : ({0}, {2}) -> {1}
  return %r : {1}
}})",
                       table, windows, indices, c.columns);
  }
  return fmt::format(R"(
func.func @main(%i: {2}, %t: {0} {{tf.aliasing_output = 0 : i32}}, %u: {1}) -> {0} {{
  %r = "stablehlo.scatter"(%t, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.{3} %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }}) : ({0}, {2}, {1}) -> {0}
  return %r : {0}
}})",
                     table, windows, indices, c.op);
}

TEST(PredictedCycles, OfIndexingWithOffsetsSpreadEvenlyAreClose) {
  Predictions predictions;
  const std::vector<Indexing> cases = {
      {64, 16, 512, "gather"},  {300, 8, 1200, "gather"},    {2000, 4, 2000, "gather"},
      {64, 16, 512, "add"},     {12, 1, 600, "add"},         {24, 2, 960, "add"},
      {64, 16, 512, "maximum"}, {400, 24, 800, "multiply"},  {48, 1, 4800, "minimum"},
      {20'000, 2, 4000, "add"}, {20'000, 8, 4000, "gather"}, {20'000, 12, 2000, "add"}};
  for (const Indexing& c : cases) {
    const ProgramImage image =
        compile(import_stablehlo(text_of(c), "indexing.mlir"), load_machine("small64"));
    std::vector<HostTensor> arguments;
    for (const TensorType& type : image.arguments) arguments.emplace_back(type);
    // A prime that no number of rows has: each part of the rows comes up again and again.
    constexpr int kStep = 7919;
    for (int n = 0; n < c.count; ++n) {
      arguments[0].set(static_cast<std::size_t>(n), n * kStep % c.rows);
    }
    predictions.add(image, arguments);
  }
  predictions.expect_close();
}

}  // namespace
}  // namespace superstep
