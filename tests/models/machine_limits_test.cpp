#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/compile.h"
#include "tests/models/jax_results.h"

namespace superstep {
namespace {

/// What JAX got from the same inputs, within a tolerance relative to the largest element.
void expect_as_jax(const std::vector<std::string>& settings, const std::string& program,
                   const std::string& input, const std::string& expected, std::uint32_t calls) {
  SCOPED_TRACE(fmt::format("{} with {}", program, fmt::join(settings, ", ")));
  const ProgramImage image = compile_file(kModels / program, load_machine("gc200", settings));
  RunOptions options;
  options.calls = calls;
  const RunResult run = run_on(image, read_tensors(kModels / input), options);
  const TensorFile results = read_tensors(kModels / expected);
  for (std::size_t r = 0; r < run.results.size(); ++r) {
    const HostTensor& want = results.at(fmt::format("result{}", r));
    float most = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(want.type.elements()); ++i) {
      most = std::max(most, std::abs(want.get<float>(i)));
    }
    expect_close(run.results[r], want, within(0, 1e-4F * most));
  }
}

TEST(MachineLimits, ProgramsGetJaxsResultsOnMachinesAtTheLimits) {
  const std::vector<std::string> kMachines[] = {
      {"grid.rows=24"},  // 1,536 tiles
      {"grid.rows=3", "tile.memory=720 KiB"},
      {"grid.rows=3", "tile.memory=720 KiB", "tile.region1_base=0xfc000"},
      {"grid.rows=3", "tile.memory_base=0x4000", "tile.memory=1008 KiB"},
      {"grid.rows=3", "tile.memory_base=0xf0000", "tile.memory=64 KiB",
       "tile.region1_base=0xf8000"},
      {"grid.rows=3", "tile.memory_base=0x40000", "tile.memory=768 KiB", "tile.element=256 KiB",
       "tile.region1_base=0x80000"},
      {"grid.rows=3", "tile.memory_base=0x10000", "tile.element=64 KiB", "tile.memory=600 KiB",
       "tile.region1_base=0x50000"},
      {"grid.rows=3", "tile.element=1 KiB", "tile.region1_base=0x7fc00"},
      // One region, two without interleaved memory, three.
      {"grid.rows=3", "tile.region1_base=0xe8000"},
      {"grid.rows=3", "tile.region2=416 KiB"},
      {"grid.rows=3", "tile.region2=384 KiB"},
      // A supervisor's result takes longer than a visit to the host.
      {"grid.rows=3", "costs.result_latency=64 cycles", "sync.external_latency=0 ns",
       "host.phase_latency=0 ns", "host.packet_overhead=0 ns", "host.bandwidth=10000 GB/s"},
      {"grid.rows=3", "exchange.same_side_latency=4096 cycles",
       "exchange.per_row_latency=4096 cycles", "sync.skew_per_row=4096 cycles"},
      // Beyond mk2.
      {"grid.rows=25"},
      {"grid.rows=40"},
      {"grid.rows=3", "tile.memory=1744 KiB"},
      {"grid.rows=3", "tile.memory=1744 KiB", "tile.region1_base=0x180000"},
      {"grid.rows=3", "tile.memory_base=0x1a0000", "tile.region1_base=0x1d0000",
       "tile.memory=384 KiB"},
      {"grid.rows=3", "tile.workers=16"},
      {"grid.rows=3", "isa.encoding=wide"},
      // Other fabrics.
      {"grid.tiles=100", "exchange.fabric=mesh"},
      {"grid.rows=2", "exchange.fabric=ring", "exchange.hop_latency=3 cycles"},
  };
  for (const std::vector<std::string>& settings : kMachines) {
    expect_as_jax(settings, "quickstart/affine.mlir", "quickstart/affine_input.h5",
                  "quickstart/affine_expected.h5", 1);
    expect_as_jax(settings, "quickstart/square_plus_one.mlir",
                  "quickstart/square_plus_one_input.h5", "quickstart/square_plus_one_expected.h5",
                  1);
  }
}

TEST(MachineLimits, DigitsAreLearntAsInJaxOnTheMostTiles) {
  expect_as_jax({"grid.rows=24"}, "digits_mlp/train_step.mlir", "digits_mlp/train.h5",
                "digits_mlp/expected.h5", 44);
}

TEST(MachineLimits, DigitsAreLearntAsInJaxBeyondMk2) {
  const std::vector<std::string> kMachines[] = {
      {"grid.rows=25"},
      {"grid.rows=2", "tile.memory_base=0x120000", "tile.memory=896 KiB",
       "tile.region1_base=0x180000"},
      {"grid.rows=2", "tile.workers=16"},
      {"grid.rows=1", "exchange.fabric=mesh"},
  };
  for (const std::vector<std::string>& settings : kMachines) {
    expect_as_jax(settings, "digits_mlp/train_step.mlir", "digits_mlp/train.h5",
                  "digits_mlp/expected.h5", 44);
  }
}

/// On 262,144 elements, so that there is work for 8,192 tiles, of which each receives from the
/// other end of the chip.
constexpr const char* kSquareAndReverse = R"(
func.func @main(%x: tensor<262144xf32>) -> tensor<262144xf32> {
  %y = stablehlo.multiply %x, %x : tensor<262144xf32>
  %r = stablehlo.reverse %x, dims = [0] : tensor<262144xf32>
  %z = stablehlo.add %y, %r : tensor<262144xf32>
  return %z : tensor<262144xf32>
})";

TEST(MachineLimits, AProgramRunsOnEightThousandTiles) {
  const ProgramImage image = compile(import_stablehlo(kSquareAndReverse, "fill.mlir"),
                                     load_machine("gc200", {"grid.rows=128"}));
  std::set<TileId> tiles;
  for (const std::uint32_t stream : image.last.results) {
    for (const StreamPiece& piece : image.streams[stream].pieces) tiles.insert(piece.tile);
  }
  EXPECT_EQ(tiles.size(), 8192U);
  HostTensor x(image.arguments.at(0));
  const auto elements = static_cast<std::size_t>(x.type.elements());
  const auto value = [](std::size_t i) { return static_cast<float>(i % 1021) - 510; };
  for (std::size_t i = 0; i < elements; ++i) x.set(i, value(i));
  const RunResult run = run_image(image, {x}, {});
  ASSERT_FALSE(run.trap) << run.trap->text();
  for (std::size_t i = 0; i < elements; ++i) {
    ASSERT_EQ(run.results.at(0).get<float>(i), value(i) * value(i) + value(elements - 1 - i)) << i;
  }
}

}  // namespace
}  // namespace superstep
