#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/program/whole_numbers.h"

namespace superstep {
namespace {

/// Rows by columns by depth.
struct Gemm {
  int rows, columns, depth;
  const char* dtype = "f32";
  bool right_depth_inside = false;

  [[nodiscard]] std::string text() const {
    const std::string right = right_depth_inside ? fmt::format("{}x{}", columns, depth)
                                                 : fmt::format("{}x{}", depth, columns);
    return fmt::format(
        "func.func @main(%a: tensor<{0}x{1}x{4}>, %b: tensor<{3}x{4}>) -> tensor<{0}x{2}x{4}> {{\n"
        "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [{5}] : "
        "(tensor<{0}x{1}x{4}>, tensor<{3}x{4}>) -> tensor<{0}x{2}x{4}>\n"
        "return %c : tensor<{0}x{2}x{4}>\n}}",
        rows, depth, columns, right, dtype, right_depth_inside ? 1 : 0);
  }
};

/// Device cycles of a program that computes nothing: those of its visits to the host.
std::uint64_t cycles_of_visits(const MachineConfig& machine) {
  const std::string text =
      "func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {\nreturn %a : tensor<64xf32>\n}";
  const ProgramImage image = compile(import_stablehlo(text, "identity.mlir"), machine);
  const RunTotals totals = run_image(image, whole_numbers(image.arguments), {}).totals;
  return (totals.exchange + totals.compute + totals.sync).value();
}

/// Device cycles but for the visits to the host; the results are checked.
std::uint64_t cycles_of(const Module& module, const ProgramImage& image) {
  const std::vector<HostTensor> arguments = whole_numbers(image.arguments);
  const RunResult run = run_image(image, arguments, {});
  EXPECT_FALSE(run.trap) << run.trap->text();
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  for (std::size_t r = 0; r < expected.size(); ++r) {
    EXPECT_EQ(run.results.at(r).data, expected[r].data) << "result " << r;
  }
  const Cycles device = run.totals.exchange + run.totals.compute + run.totals.sync;
  return device.value() - cycles_of_visits(image.machine);
}

struct Measured {
  std::uint64_t cycles = 0;
  std::vector<CompileEvent> events;
};

Measured measure(const Gemm& gemm, const MachineConfig& machine) {
  const Module module = import_stablehlo(gemm.text(), "gemm.mlir");
  const ProgramImage image = compile(module, machine);
  return {cycles_of(module, image), image.info.events};
}

/// On small64 with one key overridden, or none.
Measured measure_with(const Gemm& gemm, const std::string& override = {}) {
  SCOPED_TRACE(override);
  return measure(gemm,
                 load_machine("small64", override.empty() ? std::vector<std::string>{}
                                                          : std::vector<std::string>{override}));
}

TEST(Planning, FollowsTheSizeOfRegion0) {
  const Gemm gemm{256, 256, 256};
  std::uint64_t before = measure_with(gemm).cycles;
  for (const char* base : {"0x70000", "0x64000", "0x5c000", "0x58000"}) {
    const Measured smaller = measure_with(gemm, fmt::format("tile.region1_base={}", base));
    EXPECT_TRUE(smaller.events.empty());
    EXPECT_LE(smaller.cycles, before * 3 / 2) << base;
    before = smaller.cycles;
  }
}

TEST(Planning, FollowsTheNumberOfWorkers) {
  const Gemm gemm{128, 96, 200};
  std::uint64_t before = measure_with(gemm).cycles;
  for (const int workers : {4, 3, 2, 1}) {
    const Measured fewer = measure_with(gemm, fmt::format("tile.workers={}", workers));
    EXPECT_TRUE(fewer.events.empty());
    EXPECT_GT(fewer.cycles, before) << workers;
    EXPECT_LE(fewer.cycles, before * 2) << workers;
    before = fewer.cycles;
  }
}

TEST(Planning, FollowsTheNumberOfAmpUnits) {
  const Gemm gemm{256, 256, 256};
  std::uint64_t before = measure_with(gemm).cycles;
  for (const int units : {8, 4, 0}) {
    const Measured fewer = measure_with(gemm, fmt::format("tile.amp_units={}", units));
    EXPECT_EQ(fewer.events.empty(), units > 0);
    EXPECT_GT(fewer.cycles, before);
    if (units > 0) {
      EXPECT_LE(fewer.cycles, before * 2) << units;
    }
    before = fewer.cycles;
  }
}

TEST(Planning, SaysWhenProductsAreNotOnTheAmp) {
  const Measured none = measure_with({64, 64, 64}, "tile.amp_units=0");
  ASSERT_EQ(none.events.size(), 1U);
  EXPECT_EQ(none.events[0].kind, CompileEvent::Kind::kNoAmp);
  EXPECT_NE(none.events[0].reason.find("tile.amp_units = 0"), std::string::npos);
  EXPECT_EQ(none.events[0].source.module.line, 2U);
  // The second one's depth is split.
  for (const Gemm& gemm : {Gemm{64, 64, 64}, Gemm{8, 4096, 8}}) {
    const Measured plain = measure_with(gemm, "tile.region1_base=0xe8000");
    ASSERT_EQ(plain.events.size(), 1U);
    EXPECT_EQ(plain.events[0].kind, CompileEvent::Kind::kNoAmp);
    EXPECT_NE(plain.events[0].reason.find("no interleaved memory"), std::string::npos);
  }
  const Measured small = measure_with({1, 1, 1});
  ASSERT_EQ(small.events.size(), 1U);
  EXPECT_EQ(small.events[0].kind, CompileEvent::Kind::kSmallProduct);
  EXPECT_NE(small.events[0].reason.find("estimated"), std::string::npos);
  EXPECT_TRUE(measure_with({64, 64, 64, "i32"}).events.empty());
}

TEST(Planning, SaysThatElementsAreCombinedOneAfterAnother) {
  const auto events = [](int initial, int elements) {
    return compile(
               import_stablehlo(
                   fmt::format(
                       "func.func @main(%a: tensor<{0}xi32>) -> (tensor<i32>, tensor<i32>) {{\n"
                       "  %c = stablehlo.constant dense<{1}> : tensor<i32>\n"
                       "  %0:2 = stablehlo.reduce(%a init: %c), (%a init: %c) across dimensions = "
                       "[0] : (tensor<{0}xi32>, tensor<{0}xi32>, tensor<i32>, tensor<i32>) -> "
                       "(tensor<i32>, tensor<i32>)\n"
                       "   reducer(%p: tensor<i32>, %q: tensor<i32>) (%r: tensor<i32>, %s: "
                       "tensor<i32>) {{\n"
                       "    %1 = stablehlo.add %p, %q : tensor<i32>\n"
                       "    %2 = stablehlo.maximum %r, %s : tensor<i32>\n"
                       "    stablehlo.return %1, %2 : tensor<i32>, tensor<i32>\n  }}\n"
                       "  return %0#0, %0#1 : tensor<i32>, tensor<i32>\n}}\n",
                       elements, initial),
                   "t.mlir"),
               load_machine("small64"))
        .info.events;
  };
  EXPECT_TRUE(events(0, 8192).empty());
  EXPECT_TRUE(events(5, 4).empty());
  const std::vector<CompileEvent> slow = events(5, 8192);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].kind, CompileEvent::Kind::kSlowRoute);
  EXPECT_NE(slow[0].reason.find("may take part only once"), std::string::npos);
  EXPECT_NE(slow[0].advice.find("that change nothing"), std::string::npos);
}

TEST(Planning, SaysThatCodeTakesTheOnlyMemoryElementOfRegion0) {
  const Measured one = measure_with({64, 64, 64}, "tile.region1_base=0x50000");
  ASSERT_EQ(one.events.size(), 1U);
  EXPECT_EQ(one.events[0].kind, CompileEvent::Kind::kNoAmp);
  EXPECT_NE(one.events[0].reason.find("whole memory elements of 16 KiB"), std::string::npos);
  EXPECT_NE(one.events[0].advice.find("tile.region1_base"), std::string::npos);
  EXPECT_TRUE(measure_with({64, 64, 64}, "tile.region1_base=0x54000").events.empty());
}

// Region 0 holds the code, and the operands of one product or little more.
TEST(Planning, TakesRoomFromOneProductAndLeavesTheOtherOnTheAmp) {
  for (const auto& [size, base] : {std::pair{384, "0x54000"}, {256, "0x58000"}, {384, "0x58000"}}) {
    SCOPED_TRACE(size);
    const std::string text = fmt::format(
        "func.func @main(%a: tensor<{0}x{0}xf32>, %b: tensor<{0}x{0}xf32>, %c: "
        "tensor<128x128xf32>) -> (tensor<{0}x{0}xf32>, tensor<128x128xf32>) {{\n"
        "%p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{0}x{0}xf32>, "
        "tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>\n"
        "%q = stablehlo.dot_general %c, %c, contracting_dims = [1] x [0] : (tensor<128x128xf32>, "
        "tensor<128x128xf32>) -> tensor<128x128xf32>\n"
        "return %p, %q : tensor<{0}x{0}xf32>, tensor<128x128xf32>\n}}",
        size);
    const Module module = import_stablehlo(text, "two.mlir");
    const MachineConfig machine =
        load_machine("small64", {fmt::format("tile.region1_base={}", base)});
    const ProgramImage image = compile(module, machine);
    EXPECT_LE(
        std::ranges::count(image.info.events, CompileEvent::Kind::kNoAmp, &CompileEvent::kind), 1);
    for (const CompileEvent& event : image.info.events) {
      EXPECT_NE(event.reason.find("has no place for"), std::string::npos) << event.reason;
    }
    EXPECT_GT(cycles_of(module, image), 0U);
  }
}

// The sample took no part in any constant.
TEST(Planning, EstimatesProductsAsTheyRun) {
  const MachineConfig machine = load_machine("small64");
  struct Row {
    std::string text;
    double error;
  };
  std::vector<Row> rows;
  for (const int size : {64, 160, 320}) {
    for (const auto& [m, n] : {std::pair{size, size}, {size, 48}, {17, size}}) {
      for (const int k : {72, 400}) {
        for (const char* dtype : {"f16", "f32"}) {
          for (const bool inside : {false, true}) {
            const Gemm gemm{m, n, k, dtype, inside};
            const Module module = import_stablehlo(gemm.text(), "gemm.mlir");
            const auto estimate = static_cast<double>(lower(module, machine).products.at(0).cycles);
            const auto cycles = static_cast<double>(cycles_of(module, compile(module, machine)));
            rows.push_back({fmt::format("{}x{}x{} {}{}: estimated {}, takes {}", m, n, k, dtype,
                                        inside ? " transposed" : "", estimate, cycles),
                            std::abs(estimate - cycles) / cycles});
          }
        }
      }
    }
  }
  std::ranges::sort(rows, {}, &Row::error);
  for (const auto& [share, most] : {std::pair{0.5, 0.15}, {0.95, 0.4}}) {
    const Row& row = rows[static_cast<std::size_t>(share * static_cast<double>(rows.size() - 1))];
    RecordProperty(fmt::format("error_{}", share), fmt::format("{:.3f}", row.error));
    EXPECT_LE(row.error, most) << row.text;
  }
  if (HasFailure() || std::getenv("SUPERSTEP_SHOW_ESTIMATES") != nullptr) {
    for (const Row& row : rows) fmt::print("{:.2f} {}\n", row.error, row.text);
  }
}

}  // namespace
}  // namespace superstep
