#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
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

MachineConfig small_tiles() { return load_machine("tiny4", {"tile.memory=256 KiB"}); }

/// `count` updates of `width` elements of a table of so many positions; `combine` returns
/// what it makes of %a of the table and %b. `made` makes the updates %v of the argument %u.
struct Scatter {
  int count, positions, width;
  std::string dtype, combine;
  std::string updates, made;

  [[nodiscard]] std::string text() const {
    return fmt::format(R"(
func.func @main(%i: tensor<{0}x1xi32>, %t: tensor<{1}x{2}x{3}>, %u: tensor<{4}{3}>)
    -> tensor<{1}x{2}x{3}> {{
  {5}
  %r = "stablehlo.scatter"(%t, %i, %v) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}}> ({{
    ^bb0(%a: tensor<{3}>, %b: tensor<{3}>):
      {6}
    }}) : (tensor<{1}x{2}x{3}>, tensor<{0}x1xi32>, tensor<{0}x{2}x{3}>) -> tensor<{1}x{2}x{3}>
  return %r : tensor<{1}x{2}x{3}>
}})",
                       count, positions, width, dtype, updates, made, combine);
  }
};

Scatter scatter(int count, int positions, int width, const std::string& dtype,
                const std::string& combine) {
  return {count,
          positions,
          width,
          dtype,
          fmt::format("%c = stablehlo.{0} %a, %b : tensor<{1}>\n stablehlo.return %c : tensor<{1}>",
                      combine, dtype),
          fmt::format("{}x{}x", count, width),
          fmt::format("%v = stablehlo.negate %u : tensor<{}x{}x{}>", count, width, dtype)};
}

/// Combines the magnitude of updates: two ops, which are not combined in parts.
Scatter scatter_magnitudes(int count, int positions, int width, const std::string& combine) {
  Scatter s = scatter(count, positions, width, "f32", "add");
  s.combine = fmt::format(
      "%d = stablehlo.abs %b : tensor<f32>\n %c = stablehlo.{} %a, %d : tensor<f32>\n "
      "stablehlo.return %c : tensor<f32>",
      combine);
  return s;
}

/// The last update stays.
Scatter replacing(int count, int positions, int width, const std::string& dtype) {
  Scatter s = scatter(count, positions, width, dtype, "add");
  s.combine = fmt::format("stablehlo.return %b : tensor<{}>", dtype);
  return s;
}

bool has_loop(const Graph& graph) {
  return std::ranges::any_of(
      graph.ops(), [](const Op& op) { return op.definition->traits.control == Control::kLoop; });
}

bool goes_in_passes(const Module& module, const MachineConfig& machine) {
  const Graph simple = fold_constants(apply_with_regions(module.main, expand_ops));
  return has_loop(divide_ops(simple, machine));
}

/// Indices that repeat, some of them beyond the table on both sides.
HostTensor indices(int count, int positions) {
  HostTensor all(TensorType{DType::kI32, {count, 1}});
  for (int n = 0; n < count; ++n) {
    all.set(static_cast<std::size_t>(n), (n * 7919 + n / 3) % (positions + 5) - 2);
  }
  return all;
}

template <typename T>
HostTensor numbers(const TensorType& type, int factor) {
  HostTensor all(type);
  for (std::size_t n = 0; n < static_cast<std::size_t>(type.elements()); ++n) {
    const int number = static_cast<int>(n) * factor % 1009 - 400;
    all.set(n, static_cast<T>(number) / static_cast<T>(std::is_integral_v<T> ? 1 : 7));
  }
  return all;
}

/// Runs on small tiles, in passes, and compares all bits with updates one after the other.
template <typename T>
void expect_in_order(const Scatter& s, DType dtype, const std::function<T(T, T)>& combine,
                     const std::function<T(T)>& made) {
  SCOPED_TRACE(s.text());
  const MachineConfig machine = small_tiles();
  const Module module = import_stablehlo(s.text(), "scatter.mlir");
  ASSERT_TRUE(goes_in_passes(module, machine));
  const HostTensor at = indices(s.count, s.positions);
  const HostTensor table = numbers<T>(module.main.type(module.main.arguments()[1]), 31);
  const HostTensor updates = numbers<T>(module.main.type(module.main.arguments()[2]), 17);
  HostTensor expected = table;
  const auto width = static_cast<std::size_t>(s.width);
  for (std::size_t n = 0; n < static_cast<std::size_t>(s.count); ++n) {
    const auto position = at.get<std::int32_t>(n);
    if (position < 0 || position >= s.positions) continue;
    for (std::size_t e = 0; e < width; ++e) {
      const std::size_t to = static_cast<std::size_t>(position) * width + e;
      const bool is_one = updates.type.shape.empty();
      const T update = updates.get<T>(is_one ? 0 : n * width + e);
      expected.set(to, combine(expected.get<T>(to), made(update)));
    }
  }
  RunResult run = run_image(compile(module, machine), {at, table, updates}, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  EXPECT_TRUE(run.results[0].type.dtype == dtype);
  EXPECT_EQ(run.results[0].data, expected.data);
  EXPECT_EQ(evaluate(module.main, std::vector{at, table, updates})[0].data, expected.data);
}

float negated(float x) { return -x; }

float add_magnitude(float a, float b) { return a + std::abs(b); }

TEST(PutInPasses, SumsOfFloatsAreInOrder) {
  const std::function<float(float, float)> add = add_magnitude;
  expect_in_order<float>(scatter_magnitudes(9001, 40, 3, "add"), DType::kF32, add, negated);
  expect_in_order<float>(scatter_magnitudes(8192, 30'000, 1, "add"), DType::kF32, add, negated);
}

TEST(PutInPasses, ProductsOfFloatsAreInOrder) {
  expect_in_order<float>(
      scatter_magnitudes(9000, 7000, 2, "multiply"), DType::kF32,
      [](float a, float b) { return a * std::abs(b); }, negated);
}

TEST(PutInPasses, ExtremesAreThoseOfAll) {
  expect_in_order<float>(
      scatter(9000, 30'000, 1, "f32", "maximum"), DType::kF32,
      [](float a, float b) { return std::max(a, b); }, negated);
  expect_in_order<std::int32_t>(
      scatter(9000, 30'000, 1, "i32", "minimum"), DType::kI32,
      [](std::int32_t a, std::int32_t b) { return std::min(a, b); }, std::negate<>());
}

TEST(PutInPasses, SumsOfIntegersAreThoseOfAll) {
  expect_in_order<std::int32_t>(scatter(9000, 30'000, 1, "i32", "add"), DType::kI32, std::plus<>(),
                                std::negate<>());
}

TEST(PutInPasses, TheLastOfEqualIndicesStays) {
  const auto second = [](auto, auto b) { return b; };
  expect_in_order<float>(replacing(9000, 40, 3, "f32"), DType::kF32, second, negated);
  expect_in_order<std::int32_t>(replacing(9000, 30'000, 1, "i32"), DType::kI32, second,
                                std::negate<>());
}

TEST(PutInPasses, UpdatesMayBeOneNumber) {
  Scatter counts = scatter(20'000, 30'000, 1, "i32", "add");
  counts.made = "%v = stablehlo.constant dense<1> : tensor<20000x1xi32>";
  expect_in_order<std::int32_t>(counts, DType::kI32, std::plus<>(), [](auto) { return 1; });
  Scatter halves = scatter_magnitudes(20'000, 50, 4, "add");
  halves.made = "%v = stablehlo.constant dense<0.5> : tensor<20000x4xf32>";
  expect_in_order<float>(halves, DType::kF32, add_magnitude, [](float) { return 0.5F; });
  Scatter sums = scatter_magnitudes(20'000, 50, 3, "add");
  sums.updates = "";
  sums.made =
      "%v = stablehlo.broadcast_in_dim %u, dims = [] : (tensor<f32>) -> tensor<20000x3xf32>";
  expect_in_order<float>(sums, DType::kF32, add_magnitude, [](float x) { return x; });
}

/// Two tables, of windows of two positions of each of three batches.
const char* const kBatches = R"(
func.func @main(%i: tensor<3x5000x1xi32>, %s: tensor<3x50xf32>, %t: tensor<3x50xi32>,
                %u: tensor<3x5000x2xf32>, %v: tensor<3x5000x2xi32>)
    -> (tensor<3x50xf32>, tensor<3x50xi32>) {
  %r:2 = "stablehlo.scatter"(%s, %t, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [2], input_batching_dims = [0], scatter_indices_batching_dims = [0],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
      %e = stablehlo.add %a, %c : tensor<f32>
      %f = stablehlo.maximum %b, %d : tensor<i32>
      stablehlo.return %e, %f : tensor<f32>, tensor<i32>
    }) : (tensor<3x50xf32>, tensor<3x50xi32>, tensor<3x5000x1xi32>, tensor<3x5000x2xf32>,
          tensor<3x5000x2xi32>) -> (tensor<3x50xf32>, tensor<3x50xi32>)
  return %r#0, %r#1 : tensor<3x50xf32>, tensor<3x50xi32>
})";

TEST(PutInPasses, SeveralTablesInBatchesAreCombinedAsTheyWouldBeAtOnce) {
  const Module module = import_stablehlo(kBatches, "batches.mlir");
  ASSERT_TRUE(goes_in_passes(module, small_tiles()));
  HostTensor at = indices(15'000, 50);
  at.type.shape = {3, 5000, 1};
  std::vector<HostTensor> arguments = {at};
  for (const DType dtype : {DType::kF32, DType::kI32, DType::kF32, DType::kI32}) {
    const TensorType type = module.main.type(module.main.arguments()[arguments.size()]);
    arguments.push_back(dtype == DType::kF32 ? numbers<float>(type, 13)
                                             : numbers<std::int32_t>(type, 29));
  }
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  RunResult run = run_image(compile(module, small_tiles()), arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  for (const std::size_t i : {0U, 1U}) EXPECT_EQ(run.results[i].data, expected[i].data);
}

TEST(PutInPasses, OneMayBeEnough) {
  const Module module = import_stablehlo(scatter(500, 40, 3, "f32", "add").text(), "few.mlir");
  EXPECT_FALSE(goes_in_passes(module, small_tiles()));
}

TEST(PutInPasses, NoUpdatesLeaveTheTable) {
  const Scatter none = scatter(0, 30'000, 1, "f32", "add");
  const Module module = import_stablehlo(none.text(), "none.mlir");
  const HostTensor table = numbers<float>(module.main.type(module.main.arguments()[1]), 31);
  const HostTensor updates(module.main.type(module.main.arguments()[2]));
  RunResult run =
      run_image(compile(module, small_tiles()), {indices(0, 30'000), table, updates}, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  EXPECT_EQ(run.results[0].data, table.data);
}

TEST(TakeInPasses, WindowsOfAllPassesComeInOrder) {
  const int count = 70'001, positions = 120'000, width = 4;
  const std::string text = fmt::format(R"(
func.func @main(%i: tensor<{0}x1xi32>, %t: tensor<{1}x{2}xf32>) -> tensor<{0}x{2}xf32> {{
  %r = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, {2}>}}>
      : (tensor<{1}x{2}xf32>, tensor<{0}x1xi32>) -> tensor<{0}x{2}xf32>
  return %r : tensor<{0}x{2}xf32>
}})",
                                       count, positions, width);
  const MachineConfig machine = load_machine("small64", {"tile.memory=256 KiB"});
  const Module module = import_stablehlo(text, "gather.mlir");
  ASSERT_TRUE(goes_in_passes(module, machine));
  const HostTensor at = indices(count, positions);
  const HostTensor table = numbers<float>(module.main.type(module.main.arguments()[1]), 31);
  HostTensor expected(module.main.type(module.main.results()[0]));
  for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
    const std::int32_t position = std::clamp(at.get<std::int32_t>(n), 0, positions - 1);
    for (std::size_t e = 0; e < width; ++e) {
      expected.set(n * width + e, table.get<float>(static_cast<std::size_t>(position) * width + e));
    }
  }
  RunResult run = run_image(compile(module, machine), {at, table}, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  EXPECT_EQ(run.results[0].data, expected.data);
}

}  // namespace
}  // namespace superstep
