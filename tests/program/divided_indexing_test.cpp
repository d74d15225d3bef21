#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

/// `count` updates of `width` elements, `combine`d into a table of so many positions that begins
/// with `initial`.
std::string scatter(int count, int positions, const std::string& dtype, const std::string& combine,
                    const std::string& initial) {
  return fmt::format(R"(
func.func @main(%i: tensor<{0}xi32>, %u: tensor<{0}x{2}>) -> tensor<{1}x{2}> {{
  %t = stablehlo.constant dense<{4}> : tensor<{1}x{2}>
  %j = stablehlo.reshape %i : (tensor<{0}xi32>) -> tensor<{0}x1xi32>
  %r = "stablehlo.scatter"(%t, %j, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
    ^bb0(%a: tensor<{2}>, %b: tensor<{2}>):
      %c = stablehlo.{3} %a, %b : tensor<{2}>
      stablehlo.return %c : tensor<{2}>
    }}) : (tensor<{1}x{2}>, tensor<{0}x1xi32>, tensor<{0}x{2}>) -> tensor<{1}x{2}>
  return %r : tensor<{1}x{2}>
}})",
                     count, positions, dtype, combine, initial);
}

std::string lookup(int count, int rows, int columns) {
  return fmt::format(R"(
func.func @main(%i: tensor<{0}xi32>, %t: tensor<{1}x{2}xf32>) -> tensor<{0}x{2}xf32> {{
  %j = stablehlo.reshape %i : (tensor<{0}xi32>) -> tensor<{0}x1xi32>
  %r = "stablehlo.gather"(%t, %j) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, {2}>}}>
      : (tensor<{1}x{2}xf32>, tensor<{0}x1xi32>) -> tensor<{0}x{2}xf32>
  return %r : tensor<{0}x{2}xf32>
}})",
                     count, rows, columns);
}

/// Of indices some beyond the table on both sides; of others, numbers of both signs.
std::vector<HostTensor> arguments_of(const Module& module, int positions) {
  std::vector<HostTensor> arguments;
  for (const ValueId v : module.main.arguments()) {
    HostTensor& tensor = arguments.emplace_back(module.main.type(v));
    for (std::size_t n = 0; n < static_cast<std::size_t>(tensor.type.elements()); ++n) {
      const auto number = static_cast<std::int32_t>(n);
      if (arguments.size() == 1) {
        tensor.set(n, number * 7919 % (positions + 5) - 2);
      } else if (tensor.type.dtype == DType::kF32) {
        tensor.set(n, static_cast<float>(number * 31 % 1009) / 16 - 20);
      } else {
        tensor.set(n, number * 31 % 1009 - 400);
      }
    }
  }
  return arguments;
}

Graph simple(const Module& module) {
  return fold_constants(apply_with_regions(module.main, expand_ops));
}

bool has_batches(const Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const Op& op) {
    const auto batching = op.attributes.find("batching");
    return batching != op.attributes.end() &&
           !std::get<std::vector<std::int64_t>>(batching->second).empty();
  });
}

struct DividedCase {
  std::string text;
  int positions;
};
const DividedCase kCases[] = {
    {scatter(500, 32, "i32", "add", "0"), 32},
    {scatter(499, 7, "i32", "multiply", "3"), 7},
    {scatter(640, 20, "f32", "maximum", "1.0"), 20},
    {scatter(640, 20, "f32", "add", "1.5"), 20},
    {scatter(300, 350, "f32", "add", "-0.0"), 350},
    {scatter(300, 11, "i32", "minimum", "5"), 11},
    {scatter(20'001, 30'001, "i32", "add", "3"), 30'001},
    {scatter(20'000, 40'000, "f32", "maximum", "0.0"), 40'000},
    {lookup(512, 9, 8), 9},
    {lookup(509, 16, 3), 16},
};

TEST(DividedIndexing, ComputesTheSameInBatches) {
  const MachineConfig machine = load_machine("small64");
  for (const DividedCase& c : kCases) {
    SCOPED_TRACE(c.text);
    const Module module = import_stablehlo(c.text, "indexing.mlir");
    const std::vector<HostTensor> arguments = arguments_of(module, c.positions);
    const Graph divided = divide_ops(simple(module), machine);
    EXPECT_TRUE(has_batches(divided));
    const HostTensor expected = evaluate(module.main, arguments)[0];
    EXPECT_EQ(evaluate(divided, arguments)[0].data, expected.data);
    RunResult run = run_image(compile(module, machine), arguments, {});
    ASSERT_FALSE(run.trap) << run.trap->text();
    EXPECT_EQ(run.results[0].data, expected.data);
  }
}

TEST(DividedIndexing, AddsAndMultipliesFloatsInParts) {
  for (const char* dtype : {"f16", "bf16", "f32"}) {
    for (const char* combine : {"add", "multiply"}) {
      const Module module = import_stablehlo(scatter(4096, 8, dtype, combine, "1.0"), "sum.mlir");
      EXPECT_TRUE(has_batches(divide_ops(simple(module), load_machine("bow")))) << dtype << combine;
    }
  }
}

TEST(DividedIndexing, LeavesOneWindowAlone) {
  const Module module = import_stablehlo(lookup(1, 64, 16), "row.mlir");
  EXPECT_FALSE(has_batches(divide_ops(simple(module), load_machine("bow"))));
}

/// Windows of 8 neighbours of a vector: taken, and added to it, some of them outside.
const char* const kLongVector = R"(
func.func @main(%i: tensor<40xi32>, %t: tensor<200000xf32>)
    -> (tensor<40x8xf32>, tensor<200000xf32>) {
  %j = stablehlo.reshape %i : (tensor<40xi32>) -> tensor<40x1xi32>
  %w = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 8>}>
      : (tensor<200000xf32>, tensor<40x1xi32>) -> tensor<40x8xf32>
  %r = "stablehlo.scatter"(%t, %j, %w) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<200000xf32>, tensor<40x1xi32>, tensor<40x8xf32>) -> tensor<200000xf32>
  return %w, %r : tensor<40x8xf32>, tensor<200000xf32>
})";

/// Elements of each of three vectors of its own.
const char* const kLongVectors = R"(
func.func @main(%i: tensor<3x20xi32>, %t: tensor<3x200000xf32>)
    -> (tensor<3x20xf32>, tensor<3x200000xf32>) {
  %j = stablehlo.reshape %i : (tensor<3x20xi32>) -> tensor<3x20x1xi32>
  %w = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<
      collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
      start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<3x200000xf32>, tensor<3x20x1xi32>) -> tensor<3x20xf32>
  %r = "stablehlo.scatter"(%t, %j, %w) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<3x200000xf32>, tensor<3x20x1xi32>, tensor<3x20xf32>) -> tensor<3x200000xf32>
  return %w, %r : tensor<3x20xf32>, tensor<3x200000xf32>
})";

void expect_same_by_position(const char* text) {
  SCOPED_TRACE(text);
  const MachineConfig machine = load_machine("small64");
  const Module module = import_stablehlo(text, "windows.mlir");
  const std::vector<HostTensor> arguments = arguments_of(module, 200'000);
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  const std::vector<HostTensor> divided = evaluate(divide_ops(simple(module), machine), arguments);
  RunResult run = run_image(compile(module, machine), arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(divided[i].data, expected[i].data);
    EXPECT_EQ(run.results[i].data, expected[i].data);
  }
}

TEST(DividedIndexing, WindowsOfATableThatNoTileHasRoomForAreTakenByPosition) {
  expect_same_by_position(kLongVector);
}

TEST(DividedIndexing, BatchesOfATableThatNoTileHasRoomForAreIndexed) {
  expect_same_by_position(kLongVectors);
}

/// Of the device, without visits to the host.
std::uint64_t cycles_on_bow(const std::string& text, int positions) {
  const Module module = import_stablehlo(text, "indexing.mlir");
  const std::vector<HostTensor> arguments = arguments_of(module, positions);
  const RunResult run = run_image(compile(module, load_machine("bow")), arguments, {});
  EXPECT_FALSE(run.trap) << run.trap->text();
  EXPECT_EQ(run.results[0].data, evaluate(module.main, arguments)[0].data);
  return (run.totals.exchange + run.totals.compute).value();
}

TEST(DividedIndexing, CountsOnManyTiles) {
  EXPECT_LE(cycles_on_bow(scatter(500, 32, "i32", "add", "0"), 32), 3'200U);
  EXPECT_LE(cycles_on_bow(scatter(100'000, 256, "i32", "add", "0"), 256), 10'500U);
  EXPECT_LE(cycles_on_bow(scatter(4096, 8, "f32", "add", "0.0"), 8), 3'200U);
}

TEST(DividedIndexing, LooksUpOnManyTiles) {
  EXPECT_LE(cycles_on_bow(lookup(4096, 64, 16), 64), 1'500U);
}

/// 10 trips that look up rows of a table six times, then compute the next table.
std::string looking_up_in_a_loop() {
  std::string lookups, sum = "%s";
  for (int k = 0; k < 6; ++k) {
    lookups += fmt::format(
        R"(
  %d{0} = stablehlo.constant dense<{1}> : tensor<64x1xi32>
  %j{0} = stablehlo.add %i, %d{0} : tensor<64x1xi32>
  %w{0} = "stablehlo.gather"(%x, %j{0}) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>}}>
      : (tensor<15000x2xf32>, tensor<64x1xi32>) -> tensor<64x2xf32>
  %s{0} = stablehlo.add {2}, %w{0} : tensor<64x2xf32>)",
        k, 7 * k, sum);
    sum = fmt::format("%s{}", k);
  }
  return fmt::format(R"(
func.func @main(%i0: tensor<64x1xi32>, %x0: tensor<15000x2xf32>, %s0: tensor<64x2xf32>)
    -> (tensor<64x2xf32>, tensor<15000x2xf32>) {{
  %n0 = stablehlo.constant dense<0> : tensor<i32>
  %r:4 = stablehlo.while(%n = %n0, %i = %i0, %x = %x0, %s = %s0)
      : tensor<i32>, tensor<64x1xi32>, tensor<15000x2xf32>, tensor<64x2xf32>
  cond {{
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %p = stablehlo.compare LT, %n, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{{0}
    %a = stablehlo.constant dense<1.25> : tensor<15000x2xf32>
    %b = stablehlo.constant dense<0.5> : tensor<15000x2xf32>
    %y = stablehlo.multiply %x, %a : tensor<15000x2xf32>
    %z = stablehlo.subtract %y, %b : tensor<15000x2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %m, %i, %z, {1}
        : tensor<i32>, tensor<64x1xi32>, tensor<15000x2xf32>, tensor<64x2xf32>
  }}
  return %r#3, %r#2 : tensor<64x2xf32>, tensor<15000x2xf32>
}})",
                     lookups, sum);
}

TEST(DividedIndexing, EachUseOfATableInALoopCountsForWhereItLies) {
  EXPECT_LE(cycles_on_bow(looking_up_in_a_loop(), 15'000), 440'000U);
}

}  // namespace
}  // namespace superstep
