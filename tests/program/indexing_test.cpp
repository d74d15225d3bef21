#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/elements.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

constexpr std::int64_t kRows = 30'000, kColumns = 128, kLookups = 4096;

/// Whole numbers from 0 to 6, so that sums of some are exact.
HostTensor small_numbers(const TensorType& type) {
  HostTensor tensor(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    write_float(tensor, i, static_cast<double>((i * 5 + i / 128) % 7));
  }
  return tensor;
}

/// Rows with repetitions, anywhere in the table.
HostTensor rows() {
  HostTensor tensor(TensorType{DType::kI32, {kLookups}});
  for (std::size_t i = 0; i < static_cast<std::size_t>(kLookups); ++i) {
    const std::size_t other = i % 16 == 5 ? i - 1 : i;
    const std::size_t row = other * 7919 % static_cast<std::size_t>(kRows);
    tensor.set(i, static_cast<std::int32_t>(row));
  }
  return tensor;
}

constexpr const char* kLookup = R"(
  %i = stablehlo.reshape %ids : (tensor<4096xi32>) -> tensor<4096x1xi32>
  %rows = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 128>}>
      : (tensor<30000x128xf16>, tensor<4096x1xi32>) -> tensor<4096x128xf16>
)";

/// `%sum`: rows `%rows` added to `%into`.
std::string scatter_add(const std::string& into) {
  return R"(
  %sum = "stablehlo.scatter"()" +
         into + R"(, %i, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %c = stablehlo.add %a, %b : tensor<f16>
      stablehlo.return %c : tensor<f16>
    }) : (tensor<30000x128xf16>, tensor<4096x1xi32>, tensor<4096x128xf16>) -> tensor<30000x128xf16>
)";
}

struct Outcome {
  std::vector<HostTensor> results;
  std::uint64_t cycles = 0;  ///< of the device
};

Outcome run_on_bow(const std::string& text, const std::vector<HostTensor>& arguments) {
  const Module module = import_stablehlo(text, "embedding.mlir");
  RunResult run = run_image(compile(module, load_machine("bow")), arguments, {});
  EXPECT_FALSE(run.trap) << run.trap->text();
  const Cycles device = run.totals.exchange + run.totals.compute + run.totals.sync;
  return {std::move(run.results), device.value()};
}

TEST(EmbeddingOnBow, LooksUp4096RowsOf30000In32000Cycles) {
  const HostTensor table = small_numbers({DType::kF16, {kRows, kColumns}});
  const Outcome run = run_on_bow(
      std::string("func.func @main(%t: tensor<30000x128xf16>, %ids: tensor<4096xi32>) -> "
                  "tensor<4096x128xf16> {") +
          kLookup + "return %rows : tensor<4096x128xf16>\n}",
      {table, rows()});
  EXPECT_LE(run.cycles, 32'000U);
  const HostTensor ids = rows();
  for (std::size_t i = 0; i < static_cast<std::size_t>(kLookups * kColumns); ++i) {
    const auto row = static_cast<std::size_t>(ids.get<std::int32_t>(i / kColumns));
    ASSERT_EQ(read_bits(run.results[0], i), read_bits(table, row * kColumns + i % kColumns)) << i;
  }
}

TEST(EmbeddingOnBow, Adds4096RowsTo30000In50000Cycles) {
  const HostTensor table = small_numbers({DType::kF16, {kRows, kColumns}});
  const HostTensor updates = small_numbers({DType::kF16, {kLookups, kColumns}});
  const Outcome run = run_on_bow(
      "func.func @main(%t: tensor<30000x128xf16> {tf.aliasing_output = 0 : i32}, "
      "%ids: tensor<4096xi32>, %rows: tensor<4096x128xf16>) -> tensor<30000x128xf16> {\n"
      "%i = stablehlo.reshape %ids : (tensor<4096xi32>) -> tensor<4096x1xi32>\n" +
          scatter_add("%t") + "return %sum : tensor<30000x128xf16>\n}",
      {table, rows(), updates});
  EXPECT_LE(run.cycles, 50'000U);
  const HostTensor ids = rows();
  HostTensor expected = table;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kLookups * kColumns); ++i) {
    const auto row = static_cast<std::size_t>(ids.get<std::int32_t>(i / kColumns));
    const std::size_t at = row * kColumns + i % kColumns;
    write_float(expected, at, read_float(expected, at) + read_float(updates, i));
  }
  EXPECT_EQ(run.results[0].data, expected.data);
}

/// A module as lowering gets it.
LoweredProgram lowered(const std::string& text, const MachineConfig& machine) {
  Module module = import_stablehlo(text, "indexing.mlir");
  for (Graph (*pass)(Graph) : {expand_ops, fold_constants, remove_unused_ops}) {
    module.main = apply_with_regions(std::move(module.main), pass);
  }
  return lower(module, machine);
}

std::uint64_t words_moved(const Block& block) {
  std::uint64_t words = 0;
  for (const Step& step : block.steps) {
    if (const auto* superstep = std::get_if<Superstep>(&step)) {
      for (const Movement& movement : superstep->movements) words += movement.words;
    }
    if (const auto* loop = std::get_if<Loop>(&step)) words += words_moved(loop->body);
  }
  return words;
}

/// Elements that the elementwise vertices of a block write.
std::int64_t elements_computed(const LoweredProgram& program, const Block& block) {
  std::int64_t elements = 0;
  for (const Step& step : block.steps) {
    const auto* superstep = std::get_if<Superstep>(&step);
    if (superstep == nullptr) continue;
    for (const ComputeSet& set : superstep->computes) {
      if (!std::holds_alternative<vertex::Elementwise>(program.codelets[set.codelet])) continue;
      for (const BufferId to : set.writes) elements += program.buffers[index(to)].type.elements();
    }
  }
  return elements;
}

TEST(EmbeddingOnBow, LiesOnMoreThan1000TilesWhereItsUpdateRunsWithoutMovingIt) {
  const MachineConfig bow = load_machine("bow");
  const LoweredProgram program = lowered(
      std::string("func.func @main(%t: tensor<30000x128xf16> {tf.aliasing_output = 0 : i32}, "
                  "%m: tensor<30000x128xf16> {tf.aliasing_output = 1 : i32}, "
                  "%ids: tensor<4096xi32>) -> (tensor<30000x128xf16>, tensor<30000x128xf16>) {\n"
                  "%z = stablehlo.constant dense<0.0> : tensor<30000x128xf16>\n") +
          kLookup + scatter_add("%z") +
          "%n = stablehlo.add %m, %sum : tensor<30000x128xf16>\n"
          "%q = stablehlo.sqrt %n : tensor<30000x128xf16>\n"
          "%u = stablehlo.subtract %t, %q : tensor<30000x128xf16>\n"
          "return %u, %n : tensor<30000x128xf16>, tensor<30000x128xf16>\n}",
      bow);
  const LayoutPtr layout = program.buffers[index(*program.arguments[0])].layout;
  EXPECT_GT(layout->intervals().size(), 1000U);
  EXPECT_EQ(program.buffers[index(*program.arguments[1])].layout, layout);
  EXPECT_EQ(program.results, (std::vector{program.arguments[0], program.arguments[1]}));
  // The gathered copies, offsets, candidates and rows: the table itself never goes anywhere else.
  EXPECT_LT(words_moved(program.main), std::uint64_t{8} * kRows * kColumns / 2);
}

/// A scan over 128 rows of stacked inputs and outputs, as JAX prints it.
std::string scan(int columns) {
  return fmt::format(R"(
func.func @main(%xs: tensor<128x{0}xf32>) -> (tensor<{0}xf32>, tensor<128x{0}xf32>) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<{0}xf32>
  %ys0 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<128x{0}xf32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %r:4 = stablehlo.while(%x = %xs, %i = %i0, %c = %c0, %ys = %ys0)
      : tensor<128x{0}xf32>, tensor<i32>, tensor<{0}xf32>, tensor<128x{0}xf32>
  cond {{
    %n = stablehlo.constant dense<128> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %o = stablehlo.constant dense<0> : tensor<i32>
    %s = stablehlo.dynamic_slice %x, %i, %o, sizes = [1, {0}] : (tensor<128x{0}xf32>, tensor<i32>, tensor<i32>) -> tensor<1x{0}xf32>
    %v = stablehlo.reshape %s : (tensor<1x{0}xf32>) -> tensor<{0}xf32>
    %d = stablehlo.add %c, %v : tensor<{0}xf32>
    %e = stablehlo.multiply %d, %v : tensor<{0}xf32>
    %f = stablehlo.reshape %e : (tensor<{0}xf32>) -> tensor<1x{0}xf32>
    %y = stablehlo.dynamic_update_slice %ys, %f, %i, %o : (tensor<128x{0}xf32>, tensor<1x{0}xf32>, tensor<i32>, tensor<i32>) -> tensor<128x{0}xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %x, %j, %d, %y : tensor<128x{0}xf32>, tensor<i32>, tensor<{0}xf32>, tensor<128x{0}xf32>
  }}
  return %r#2, %r#3 : tensor<{0}xf32>, tensor<128x{0}xf32>
}})",
                     columns);
}

TEST(Scan, MovesOnlyTheIndexOfStacksThatLieAsTheirSlicesDo) {
  for (const int columns : {64, 1024, 100}) {
    const LoweredProgram program = lowered(scan(columns), load_machine("bow"));
    std::size_t loops = 0;
    for (const Step& step : program.main.steps) {
      const auto* loop = std::get_if<Loop>(&step);
      if (loop == nullptr) continue;
      ++loops;
      EXPECT_LT(words_moved(loop->body), 8U) << columns;
      // Two ops on a slice and arithmetic of the index: no copy of a stack.
      EXPECT_LT(elements_computed(program, loop->body), 4 * columns + 64);
      for (const Step& inner : loop->body.steps) {
        const auto* superstep = std::get_if<Superstep>(&inner);
        if (superstep == nullptr) continue;
        for (const ComputeSet& set : superstep->computes) {
          if (set.name.find(".copy") == std::string::npos) continue;
          for (const BufferId copied : set.reads) {
            EXPECT_LT(program.buffers[index(copied)].type.elements(), 128 * columns) << set.name;
          }
        }
      }
    }
    EXPECT_EQ(loops, 1U);
  }
}

// A block of the table has columns that nothing is written to, so that it has more elements than
// are written twice.
TEST(DynamicSlice, OfWhatIsPaddedBetweenItsRows) {
  const Module module = import_stablehlo(R"(
    func.func @main(%x: tensor<13x17xf32>, %i: tensor<i32>) -> tensor<22x18xf32> {
      %c = stablehlo.constant dense<0.5> : tensor<f32>
      %p = stablehlo.pad %x, %c, low = [0, 0], high = [3, 1], interior = [1, 0]
          : (tensor<13x17xf32>, tensor<f32>) -> tensor<28x18xf32>
      %r = stablehlo.dynamic_slice %p, %i, %i, sizes = [22, 18]
          : (tensor<28x18xf32>, tensor<i32>, tensor<i32>) -> tensor<22x18xf32>
      return %r : tensor<22x18xf32>
    })",
                                         "padded.mlir");
  HostTensor start(TensorType{DType::kI32, {}});
  start.set(0, std::int32_t{3});
  const std::vector<HostTensor> arguments{small_numbers({DType::kF32, {13, 17}}), start};
  const RunResult run = run_image(compile(module, load_machine("tiny4")), arguments, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  EXPECT_EQ(run.results[0].data, evaluate(module.main, arguments)[0].data);
}

/// Three rows of a table replaced, one after another.
std::string chain(const std::string& attributes, const std::string& results) {
  return fmt::format(
      R"(
func.func @main(%x: tensor<64x256xf32> {0}, %a: tensor<1x256xf32>, %b: tensor<1x256xf32>,
                %i: tensor<i32>, %j: tensor<i32>) -> ({2}) {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.dynamic_update_slice %x, %a, %i, %z : (tensor<64x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<64x256xf32>
  %2 = stablehlo.dynamic_update_slice %1, %b, %j, %z : (tensor<64x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<64x256xf32>
  %3 = stablehlo.dynamic_update_slice %2, %a, %j, %z : (tensor<64x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<64x256xf32>
  return {1} : {2}
}})",
      attributes, results,
      results == "%3" ? "tensor<64x256xf32>" : "tensor<64x256xf32>, tensor<64x256xf32>");
}

/// Copies of whole tables.
std::size_t copies(const Block& block) {
  std::size_t count = 0;
  for (const Step& step : block.steps) {
    const auto* superstep = std::get_if<Superstep>(&step);
    if (superstep == nullptr) continue;
    for (const ComputeSet& set : superstep->computes) {
      if (set.name.find(".copy") != std::string::npos && !set.launches.empty()) ++count;
    }
  }
  return count;
}

TEST(ChainOfUpdates, CopiesItsTableOnceUnlessThatIsDonatedOrReadLater) {
  const MachineConfig bow = load_machine("bow");
  EXPECT_EQ(copies(lowered(chain("", "%3"), bow).main), 1U);
  EXPECT_EQ(copies(lowered(chain("{tf.aliasing_output = 0 : i32}", "%3"), bow).main), 0U);
  EXPECT_EQ(copies(lowered(chain("", "%1, %3"), bow).main), 2U);
}

TEST(ChainOfUpdates, KeepsWhatIsReadOfTheTableBetween) {
  for (const char* results : {"%3", "%1, %3", "%2, %3", "%x, %3", "%3, %3"}) {
    SCOPED_TRACE(results);
    const Module module = import_stablehlo(chain("", results), "chain.mlir");
    std::vector<HostTensor> arguments;
    for (const ValueId v : module.main.arguments()) {
      arguments.push_back(small_numbers(module.main.type(v).dtype == DType::kI32
                                            ? TensorType{DType::kF32, {}}
                                            : module.main.type(v)));
    }
    for (std::size_t i : {3U, 4U}) {
      arguments[i] = HostTensor(TensorType{DType::kI32, {}});
      arguments[i].set(0, static_cast<std::int32_t>(5 * i));
    }
    const RunResult run = run_image(compile(module, load_machine("small64")), arguments, {});
    ASSERT_FALSE(run.trap) << run.trap->text();
    const std::vector<HostTensor> expected = evaluate(module.main, arguments);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      EXPECT_EQ(run.results[r].data, expected[r].data) << r;
    }
  }
}

TEST(ChainOfUpdates, CopiesNothingInALoop) {
  const LoweredProgram program = lowered(R"(
func.func @main(%x: tensor<64x256xf32>, %a: tensor<1x256xf32>) -> tensor<64x256xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %i0, %t = %x, %b = %a) : tensor<i32>, tensor<64x256xf32>, tensor<1x256xf32>
  cond {
    %n = stablehlo.constant dense<20> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %t, %b, %i, %o : (tensor<64x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<64x256xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.dynamic_slice %1, %j, %o, sizes = [1, 256] : (tensor<64x256xf32>, tensor<i32>, tensor<i32>) -> tensor<1x256xf32>
    %m = stablehlo.add %s, %b : tensor<1x256xf32>
    %k = stablehlo.add %j, %one : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %1, %m, %k, %o : (tensor<64x256xf32>, tensor<1x256xf32>, tensor<i32>, tensor<i32>) -> tensor<64x256xf32>
    stablehlo.return %j, %2, %b : tensor<i32>, tensor<64x256xf32>, tensor<1x256xf32>
  }
  return %r#1 : tensor<64x256xf32>
})",
                                         load_machine("bow"));
  std::size_t loops = 0;
  for (const Step& step : program.main.steps) {
    const auto* loop = std::get_if<Loop>(&step);
    if (loop == nullptr) continue;
    ++loops;
    EXPECT_EQ(copies(loop->body), 0U);
  }
  EXPECT_EQ(loops, 1U);
}

}  // namespace
}  // namespace superstep
