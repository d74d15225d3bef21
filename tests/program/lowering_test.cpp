#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/files.h"
#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/moves/move.h"
#include "compiler/lower/moves/widen.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "compiler/program/blocks.h"
#include "compiler/passes/passes.h"
#include "tests/gc200.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

MachineConfig machine_of(std::uint32_t rows, std::uint32_t columns) {
  MachineConfig machine = gc200();
  machine.name = "test";
  machine.grid = {rows, columns, 4};
  machine.sync.column_skew.assign(columns, 0);
  return machine;
}

/// Small whole numbers, exact in every dtype and in any order of summation.
HostTensor random_tensor(const TensorType& type, std::uint32_t seed) {
  std::mt19937 random(seed);
  HostTensor tensor(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    const auto value = static_cast<std::int64_t>(random() % 7);
    if (is_float(type.dtype)) {
      write_float(tensor, i, static_cast<double>(value - 3));
    } else {
      write_int(tensor, i, type.dtype == DType::kI1 ? value % 2 : value);
    }
  }
  return tensor;
}

void expect_equal(const HostTensor& found, const HostTensor& expected, double tolerance) {
  ASSERT_EQ(found.type, expected.type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.type.elements()); ++i) {
    if (is_float(found.type.dtype)) {
      const double f = read_float(found, i), e = read_float(expected, i);
      ASSERT_NEAR(f, e, tolerance * std::max(1.0, std::abs(e))) << "element " << i;
    } else {
      ASSERT_EQ(read_int(found, i), read_int(expected, i)) << "element " << i;
    }
  }
}

Module simplified_module(Module module) {
  module.main = fold_constants(expand_ops(std::move(module.main)));
  module.main = compare_extremes(merge_equal_ops(std::move(module.main)));
  module.main = remove_unused_ops(module.main);
  return module;
}

void expect_plan_computes(const std::string& text, const MachineConfig& machine,
                          double tolerance = 0) {
  const Module module = import_stablehlo(text, "test.mlir");
  std::vector<HostTensor> arguments;
  for (const ValueId a : module.main.arguments()) {
    arguments.push_back(
        random_tensor(module.main.type(a), static_cast<std::uint32_t>(arguments.size() + 1)));
  }
  std::vector<TensorType> types;
  for (const ValueId r : module.main.results()) types.push_back(module.main.type(r));
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  const LoweredProgram program = lower(simplified_module(module), machine);
  const std::vector<HostTensor> found = PlanInterpreter(program).run(arguments, types);
  for (std::size_t r = 0; r < types.size(); ++r) {
    SCOPED_TRACE("result " + std::to_string(r));
    expect_equal(found[r], expected[r], tolerance);
  }
}

std::string source_of(const std::string& name) {
  return read_text_file(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models" / name);
}

class Lowering : public ::testing::TestWithParam<std::pair<int, int>> {
 protected:
  MachineConfig machine() const {
    return machine_of(static_cast<std::uint32_t>(GetParam().first),
                      static_cast<std::uint32_t>(GetParam().second));
  }
  void check(const std::string& arguments, const std::string& result, const std::string& body) {
    expect_plan_computes(
        "func.func @main(" + arguments + ") -> (" + result + ") {\n" + body + "\n}", machine());
  }
};

TEST_P(Lowering, FusesElementwiseTreesWithScalars) {
  check("%a: tensor<70xf32>, %s: tensor<f32>", "tensor<70xf32>",
        R"(%b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<70xf32>
           %c = stablehlo.multiply %a, %b : tensor<70xf32>
           %d = stablehlo.add %c, %a : tensor<70xf32>
           return %d : tensor<70xf32>)");
}

// The rectified values are kept for the product, so the mask of their gradient is not.
TEST_P(Lowering, MasksAreComputedWhereTheyAreUsed) {
  const std::string type = "tensor<12x16xf32>", of_two = " : (" + type + ", " + type + ")";
  for (const std::string& mask :
       {"compare GT, %a, %zero, FLOAT" + of_two, "compare LT, %zero, %m, FLOAT" + of_two,
        "is_finite %m : (" + type + ")"}) {
    const std::string text = R"(
func.func @main(%x: tensor<12x16xf32>, %w: tensor<16x8xf32>, %g: tensor<12x8xf32>)
    -> (tensor<12x8xf32>, tensor<12x16xf32>) {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %zero = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x16xf32>
  %a = stablehlo.add %x, %x : tensor<12x16xf32>
  %m = stablehlo.maximum %a, %zero : tensor<12x16xf32>
  %c = stablehlo.)" + mask + R"( -> tensor<12x16xi1>
  %y = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0]
      : (tensor<12x16xf32>, tensor<16x8xf32>) -> tensor<12x8xf32>
  %d = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1]
      : (tensor<12x8xf32>, tensor<16x8xf32>) -> tensor<12x16xf32>
  %s = stablehlo.select %c, %d, %zero : tensor<12x16xi1>, tensor<12x16xf32>
  return %y, %s : tensor<12x8xf32>, tensor<12x16xf32>
})";
    expect_plan_computes(text, machine());
    const LoweredProgram program =
        lower(simplified_module(import_stablehlo(text, "test.mlir")), machine());
    for (const Buffer& buffer : program.buffers) EXPECT_NE(buffer.type.dtype, DType::kI1);
  }
}

// Comparisons wait for those that use them, and what follows from one of two masks for its own
// user.
TEST_P(Lowering, MasksOfMasksAreComputedWhereTheyAreUsed) {
  const std::string of_two = " : (tensor<70xf32>, tensor<70xf32>) -> tensor<70xi1>";
  check("%x: tensor<70xf32>, %y: tensor<70xf32>", "tensor<70xf32>",
        R"(%cst = stablehlo.constant dense<0.0> : tensor<f32>
           %zero = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<70xf32>
           %finite = stablehlo.is_finite %x : (tensor<70xf32>) -> tensor<70xi1>
           %above = stablehlo.compare GT, %x, %zero, FLOAT)" +
            of_two + R"(
           %below = stablehlo.not %above : tensor<70xi1>
           %a = stablehlo.select %below, %y, %x : tensor<70xi1>, tensor<70xf32>
           %both = stablehlo.and %above, %finite : tensor<70xi1>
           %b = stablehlo.select %both, %a, %y : tensor<70xi1>, tensor<70xf32>
           return %b : tensor<70xf32>)");
}

// The reduction may convert the mask itself: then no vertex would compute what waits for its user.
TEST_P(Lowering, CountsAMaskOfWhatIsKept) {
  check(
      "%x: tensor<12xi32>, %y: tensor<i32>", "tensor<i32>, tensor<12xi32>",
      R"(%m = stablehlo.compare LT, %x, %x, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
           %i = stablehlo.convert %m : (tensor<12xi1>) -> tensor<12xi32>
           %n = stablehlo.reduce(%i init: %y) applies stablehlo.add across dimensions = [0] : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
           return %n, %x : tensor<i32>, tensor<12xi32>)");
}

TEST_P(Lowering, TransposesEveryWidth) {
  for (const char* t : {"f32", "f16", "i8", "i1"}) {
    SCOPED_TRACE(t);
    const std::string from = std::string("tensor<13x37x") + t + ">";
    const std::string to = std::string("tensor<37x13x") + t + ">";
    check("%a: " + from, to,
          "%b = stablehlo.transpose %a, dims = [1, 0] : (" + from + ") -> " + to +
              "\n return %b : " + to);
  }
}

TEST_P(Lowering, TransposesThreeDimensions) {
  check("%a: tensor<5x6x7xf16>", "tensor<7x5x6xf16>",
        R"(%b = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<5x6x7xf16>) -> tensor<7x5x6xf16>
           return %b : tensor<7x5x6xf16>)");
}

TEST_P(Lowering, BroadcastsRowsAndColumns) {
  check("%a: tensor<19xf32>, %b: tensor<23xi8>", "tensor<19x23xf32>, tensor<19x23xi8>",
        R"(%c = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<19xf32>) -> tensor<19x23xf32>
           %d = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<23xi8>) -> tensor<19x23xi8>
           return %c, %d : tensor<19x23xf32>, tensor<19x23xi8>)");
}

TEST_P(Lowering, RepeatsRowsThatAreLongerThanWhatATileHas) {
  check(
      "%x: tensor<3x7x101xf32>, %a: tensor<7x101xf32>, %b: tensor<7x101xi1>", "tensor<3x7x101xf32>",
      R"(%c = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<7x101xf32>) -> tensor<3x7x101xf32>
           %d = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<7x101xi1>) -> tensor<3x7x101xi1>
           %e = stablehlo.add %x, %c : tensor<3x7x101xf32>
           %f = stablehlo.select %d, %e, %x : tensor<3x7x101xi1>, tensor<3x7x101xf32>
           return %f : tensor<3x7x101xf32>)");
}

TEST_P(Lowering, PadsOverTheFill) {
  for (const char* t : {"f32", "i8"}) {
    SCOPED_TRACE(t);
    const std::string e(t);
    check(
        "%a: tensor<5x7x" + e + ">, %z: tensor<" + e + ">", "tensor<12x16x" + e + ">",
        "%b = stablehlo.pad %a, %z, low = [1, 2], high = [2, 1], interior = [1, 1] : (tensor<5x7x" +
            e + ">, tensor<" + e + ">) -> tensor<12x16x" + e + ">\n return %b : tensor<12x16x" + e +
            ">");
  }
}

TEST_P(Lowering, ConcatenatesSlicesAndReverses) {
  for (const char* t : {"f32", "f16", "i8"}) {
    SCOPED_TRACE(t);
    const std::string e(t);
    check("%a: tensor<9x5x" + e + ">, %b: tensor<9x3x" + e + ">", "tensor<3x8x" + e + ">",
          "%c = stablehlo.concatenate %a, %b, dim = 1 : (tensor<9x5x" + e + ">, tensor<9x3x" + e +
              ">) -> tensor<9x8x" + e + ">\n" +
              "%d = stablehlo.slice %c [1:9:3, 0:8] : (tensor<9x8x" + e + ">) -> tensor<3x8x" + e +
              ">\n" + "%r = stablehlo.reverse %d, dims = [1] : tensor<3x8x" + e +
              ">\n return %r : tensor<3x8x" + e + ">");
  }
}

TEST_P(Lowering, ReducesEitherDimension) {
  check("%a: tensor<33x21xf32>", "tensor<33xf32>, tensor<21xf32>, tensor<f32>",
        R"(%z = stablehlo.constant dense<1.0> : tensor<f32>
           %b = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<33x21xf32>, tensor<f32>) -> tensor<33xf32>
           %c = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<33x21xf32>, tensor<f32>) -> tensor<21xf32>
           %d = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<33x21xf32>, tensor<f32>) -> tensor<f32>
           return %b, %c, %d : tensor<33xf32>, tensor<21xf32>, tensor<f32>)");
}

TEST_P(Lowering, ReducesInManyStages) {
  check(
      "%a: tensor<300x12xf32>, %z: tensor<f32>", "tensor<12xf32>",
      R"(%c = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<300x12xf32>, tensor<f32>) -> tensor<12xf32>
           return %c : tensor<12xf32>)");
}

TEST_P(Lowering, MultipliesMatrices) {
  for (const char* t : {"f32", "f16", "i32"}) {
    SCOPED_TRACE(t);
    const std::string e(t);
    check("%a: tensor<17x29x" + e + ">, %b: tensor<29x11x" + e + ">", "tensor<17x11x" + e + ">",
          "%c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<17x29x" + e +
              ">, tensor<29x11x" + e + ">) -> tensor<17x11x" + e + ">\n return %c : tensor<17x11x" +
              e + ">");
  }
}

TEST_P(Lowering, MultipliesTransposedDeepAndBatched) {
  check(
      "%a: tensor<300x3xf32>, %b: tensor<300x4xf32>", "tensor<4x3xf32>",
      R"(%c = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<300x3xf32>, tensor<300x4xf32>) -> tensor<3x4xf32>
           %d = stablehlo.transpose %c, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
           return %d : tensor<4x3xf32>)");
  check(
      "%a: tensor<3x5x2x7xf32>, %b: tensor<7x3x4xf32>", "tensor<3x5x2x4xf32>",
      R"(%c = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [3] x [0] : (tensor<3x5x2x7xf32>, tensor<7x3x4xf32>) -> tensor<3x5x2x4xf32>
           return %c : tensor<3x5x2x4xf32>)");
}

TEST_P(Lowering, KeepsScalarsAndEmptyTensors) {
  check("%a: tensor<0x4xf32>, %s: tensor<f32>", "tensor<4x0xf32>, tensor<4xf32>, tensor<f32>",
        R"(%b = stablehlo.transpose %a, dims = [1, 0] : (tensor<0x4xf32>) -> tensor<4x0xf32>
           %c = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
           %d = stablehlo.add %s, %s : tensor<f32>
           return %b, %c, %d : tensor<4x0xf32>, tensor<4xf32>, tensor<f32>)");
}

TEST_P(Lowering, ReturnsArgumentsAndConstants) {
  check("%a: tensor<40xf32>", "tensor<40xf32>, tensor<3xi32>, tensor<50xf32>",
        R"(%c = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
           %d = stablehlo.constant dense<2.5> : tensor<50xf32>
           return %a, %c, %d : tensor<40xf32>, tensor<3xi32>, tensor<50xf32>)");
}

INSTANTIATE_TEST_SUITE_P(Grids, Lowering,
                         ::testing::Values(std::pair(1, 1), std::pair(4, 4), std::pair(23, 16)));

std::string reversal(const std::string& from, const std::string& to, const std::string& dims) {
  return "func.func @main(%a: tensor<" + from + ">) -> tensor<" + to +
         "> {\n  %0 = stablehlo.transpose %a, dims = [" + dims + "] : (tensor<" + from +
         ">) -> tensor<" + to + ">\n  return %0 : tensor<" + to + ">\n}\n";
}

/// Bytes of region 0 that a program takes on its worst tile besides codelets.
std::uint32_t code_and_state(const ProgramImage& image) {
  std::uint32_t worst = 0;
  for (std::size_t t = 0; t < image.machine.tiles(); ++t) {
    std::uint32_t bytes = 0;
    for (const MemoryCategory& category : image.info.memory) {
      if (category.name == "vertex_state" || category.name == "exchange_code") {
        bytes += static_cast<std::uint32_t>(category.bytes_by_tile[t]);
      }
    }
    worst = std::max(worst, bytes);
  }
  return worst;
}

TEST(LoweredModel, LongFormulasAreNotFusedAndShareOneCodelet) {
  const auto lowered = [](const std::string& op) {
    std::string text =
        "func.func @main(%v0: tensor<4096xf16>, %p: tensor<4096xf16>) -> "
        "tensor<4096xf16> {\n";
    for (int i = 0; i < 6; ++i)
      text += fmt::format("  %v{} = stablehlo.{} %v{}, %p : tensor<4096xf16>\n", i + 1, op, i);
    text += "  return %v6 : tensor<4096xf16>\n}\n";
    return lower(simplified_module(import_stablehlo(text, "t.mlir")), machine_of(2, 2));
  };
  const auto vertices = [](const LoweredProgram& program) {
    std::size_t sets = 0;
    for (const Superstep* step : supersteps_of(program)) sets += step->computes.size();
    return sets;
  };
  const LoweredProgram powers = lowered("power"), sums = lowered("add");
  EXPECT_EQ(vertices(powers), 6U);
  EXPECT_EQ(powers.codelets.size(), 1U);
  EXPECT_EQ(vertices(sums), 1U);
}

TEST(LoweredModel, AReductionConvertsLargeOperandsItself) {
  const std::string sum =
      "func.func @main(%a: tensor<300x1001xi8>) -> tensor<DIMSi32> {\n"
      "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %0 = stablehlo.convert %a : (tensor<300x1001xi8>) -> tensor<300x1001xi32>\n"
      "  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [AXES] : "
      "(tensor<300x1001xi32>, tensor<i32>) -> tensor<DIMSi32>\n"
      "  return %1 : tensor<DIMSi32>\n}\n";
  using Case = std::pair<std::string, std::string>;
  for (const auto& [axes, dims] : {Case{"0, 1", ""}, Case{"0", "1001x"}, Case{"1", "300x"}}) {
    std::string text = sum;
    const auto replace = [&](const std::string& what, const std::string& by) {
      for (std::size_t at; (at = text.find(what)) != std::string::npos;) {
        text.replace(at, what.size(), by);
      }
    };
    replace("DIMS", dims);
    replace("AXES", axes);
    expect_plan_computes(text, machine_of(1, 1));
    // What is converted would take 1.2 MB.
    const LoweredProgram program =
        lower(simplified_module(import_stablehlo(text, "t.mlir")), machine_of(1, 1));
    for (const Buffer& buffer : program.buffers) {
      EXPECT_LT(buffer.layout->elements() * buffer.element_bytes, 400'000) << buffer.name;
    }
  }
}

TEST(LoweredModel, AReductionConvertsItsElementsWhereThatIsEstimatedFasterOrMemoryIsShort) {
  const auto text = [](const std::string& op, const std::string& axis) {
    const std::string from = "tensor<64x96xf16>", to = "tensor<64x96xf32>",
                      result = axis == "0" ? "tensor<96xf32>" : "tensor<64xf32>";
    return "func.func @main(%a: " + from + ") -> " + result +
           " {\n  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.convert %a : "
           "(" +
           from + ") -> " + to + "\n  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo." + op +
           " across dimensions = [" + axis + "] : (" + to + ", tensor<f32>) -> " + result +
           "\n  return %1 : " + result + "\n}\n";
  };
  struct Case {
    const char *op, *axis;
    bool converts;
  };
  // There are codelets for sums of widened f16, but for no other operation on them.
  for (const Case& c : {Case{"add", "0", true}, Case{"add", "1", true}, Case{"maximum", "0", false},
                        Case{"maximum", "1", false}}) {
    for (const StepOrder order : {StepOrder::kEarliest, StepOrder::kLeastMemory}) {
      SCOPED_TRACE(std::string(c.op) + " across " + c.axis);
      const std::string program_text = text(c.op, c.axis);
      const LoweredProgram program =
          lower(simplified_module(import_stablehlo(program_text, "t.mlir")), machine_of(1, 1), {},
                {}, order);
      const bool saves = order == StepOrder::kLeastMemory;
      const bool converted = std::ranges::none_of(program.buffers, [](const Buffer& buffer) {
        return buffer.name.starts_with("convert.");
      });
      EXPECT_EQ(converted, c.converts || saves);
      ASSERT_EQ(program.events.size(), saves && !c.converts ? 1U : 0U);
      if (program.events.empty()) continue;
      EXPECT_EQ(program.events[0].kind, CompileEvent::Kind::kDroppedPlan);
      EXPECT_TRUE(program.events[0].reason.starts_with("converts its elements itself"));
    }
    expect_plan_computes(text(c.op, c.axis), machine_of(1, 1));
  }
}

TEST(LoweredModel, InitialValuesOfSeveralOperandsTakePartOnce) {
  for (const char* shape : {"512", "4x512", "512x3"}) {
    const bool is_line = std::string(shape) == "512";
    const std::string x = std::string("tensor<") + shape + "xi32>",
                      axis = std::string(shape) == "4x512" ? "1" : "0",
                      y = is_line       ? "tensor<i32>"
                          : axis == "1" ? "tensor<4xi32>"
                                        : "tensor<3xi32>";
    expect_plan_computes(
        "func.func @main(%a: " + x + ", %b: " + x + ") -> (" + y + ", " + y +
            ") {\n"
            "  %c = stablehlo.constant dense<5> : tensor<i32>\n"
            "  %0:2 = stablehlo.reduce(%a init: %c), (%b init: %c) across dimensions = [" +
            axis + "] : (" + x + ", " + x + ", tensor<i32>, tensor<i32>) -> (" + y + ", " + y +
            ")\n"
            "   reducer(%p: tensor<i32>, %q: tensor<i32>) (%r: tensor<i32>, %s: tensor<i32>) {\n"
            "    %1 = stablehlo.add %p, %q : tensor<i32>\n"
            "    %2 = stablehlo.maximum %r, %s : tensor<i32>\n"
            "    stablehlo.return %1, %2 : tensor<i32>, tensor<i32>\n  }\n"
            "  return %0#0, %0#1 : " +
            y + ", " + y + "\n}\n",
        machine_of(2, 2));
  }
}

TEST(LoweredModel, ABarrierEndsFusionKeepsOrderAndCopiesNothing) {
  const std::string types = "tensor<8x64xf32>, tensor<64xf32>, tensor<8x64xf32>, tensor<f32>";
  const std::string text =
      "func.func @main(%a: tensor<8x64xf32>, %b: tensor<64xf32>) -> (tensor<8x64xf32>, "
      "tensor<8x64xf32>, tensor<f32>) {\n"
      "  %c = stablehlo.constant dense<2.0> : tensor<f32>\n"
      "  %0 = stablehlo.negate %a : tensor<8x64xf32>\n"
      "  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<8x64xf32>\n"
      "  %2 = stablehlo.abs %0 : tensor<8x64xf32>\n"
      "  %3:4 = stablehlo.optimization_barrier %0, %b, %1, %c : " +
      types +
      "\n"
      "  %4 = stablehlo.abs %3#0 : tensor<8x64xf32>\n"
      "  %5 = stablehlo.add %4, %3#2 : tensor<8x64xf32>\n"
      "  return %2, %5, %3#3 : tensor<8x64xf32>, tensor<8x64xf32>, tensor<f32>\n}\n";
  expect_plan_computes(text, machine_of(2, 2));
  const LoweredProgram program =
      lower(simplified_module(import_stablehlo(text, "t.mlir")), machine_of(2, 2));
  std::size_t sets = 0;
  for (const Superstep* step : supersteps_of(program)) sets += step->computes.size();
  EXPECT_EQ(sets, 2U);  // what is before the barrier and what is behind it
}

TEST_P(Lowering, WhatIsBehindABarrierIsNotFusedWithItsOperand) {
  // Without an exchange between them both would be work of one time and place.
  check("%a: tensor<64xf32>", "tensor<64xf32>, tensor<64xf32>, tensor<64xf32>",
        R"(%0 = stablehlo.negate %a : tensor<64xf32>
           %1:2 = stablehlo.optimization_barrier %0, %a : tensor<64xf32>, tensor<64xf32>
           %2 = stablehlo.multiply %1#0, %1#1 : tensor<64xf32>
           %3 = stablehlo.optimization_barrier %2 : tensor<64xf32>
           %4 = stablehlo.abs %3 : tensor<64xf32>
           %5 = stablehlo.optimization_barrier %a : tensor<64xf32>
           %6 = stablehlo.subtract %5, %4 : tensor<64xf32>
           return %1#0, %2, %6 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)");
}

/// The most bytes that a program gathers on a tile for one launch.
std::uint32_t most_gathered(const LoweredProgram& program) {
  std::uint32_t most = 0;
  for (const Buffer& buffer : program.buffers) {
    if (!buffer.name.ends_with(".gathered")) continue;
    for (const Interval& i : buffer.layout->intervals()) most = std::max(most, buffer.bytes(i));
  }
  return most;
}

TEST(LoweredModel, ALargeReductionGathersSomeElementsAfterOthers) {
  // The elements of one tile take 120 KB.
  const std::string most =
      "func.func @main(%a: tensor<31x77x103xf16>) -> tensor<31x103xf16> {\n"
      "  %c = stablehlo.constant dense<0xFC00> : tensor<f16>\n"
      "  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : "
      "(tensor<31x77x103xf16>, tensor<f16>) -> tensor<31x103xf16>\n"
      "  return %0 : tensor<31x103xf16>\n}\n";
  expect_plan_computes(most, machine_of(1, 1));
  const LoweredProgram program =
      lower(simplified_module(import_stablehlo(most, "t.mlir")), machine_of(1, 1));
  EXPECT_GT(most_gathered(program), 40'000U);
  EXPECT_LT(most_gathered(program), 80'000U);
}

TEST(LoweredModel, AReductionOfFewLargeRowsGathersAllAtOnce) {
  // Two rows are more than a pass should gather: one row in each would leave as many.
  for (const std::string depth : {"2", "3", "5"}) {
    const std::string sum =
        "func.func @main(%a: tensor<31x" + depth +
        "x400xf32>) -> tensor<31x400xf32> {\n"
        "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : "
        "(tensor<31x" +
        depth +
        "x400xf32>, tensor<f32>) -> tensor<31x400xf32>\n"
        "  return %0 : tensor<31x400xf32>\n}\n";
    expect_plan_computes(sum, machine_of(1, 1));
  }
}

TEST(LoweredModel, ArgMaxReducesPartsOnAllTiles) {
  const auto text = [](const std::string& from, const std::string& to, int axis) {
    return "func.func @main(%a: tensor<" + from + "xf32>) -> tensor<" + to +
           "i32> {\n"
           "  %i = stablehlo.iota dim = " +
           std::to_string(axis) + " : tensor<" + from +
           "xi32>\n"
           "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
           "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
           "  %0:2 = stablehlo.reduce(%a init: %low), (%i init: %c) across dimensions = [" +
           std::to_string(axis) + "] : (tensor<" + from + "xf32>, tensor<" + from +
           "xi32>, tensor<f32>, tensor<i32>) -> (tensor<" + to + "f32>, tensor<" + to +
           "i32>)\n"
           "   reducer(%x: tensor<f32>, %y: tensor<f32>) (%k: tensor<i32>, %l: tensor<i32>) {\n"
           "    %1 = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
           "    %2 = stablehlo.compare EQ, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
           "    %3 = stablehlo.compare LT, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "    %4 = stablehlo.and %2, %3 : tensor<i1>\n"
           "    %5 = stablehlo.or %1, %4 : tensor<i1>\n"
           "    %6 = stablehlo.select %1, %x, %y : tensor<i1>, tensor<f32>\n"
           "    %7 = stablehlo.select %5, %k, %l : tensor<i1>, tensor<i32>\n"
           "    stablehlo.return %6, %7 : tensor<f32>, tensor<i32>\n"
           "   }\n"
           "  return %0#1 : tensor<" +
           to + "i32>\n}\n";
  };
  for (const std::string& program :
       {text("40000", "", 0), text("403x101", "101x", 0), text("101x403", "101x", 1)}) {
    expect_plan_computes(program, machine_of(1, 1));
    // All elements take 160 KB.
    EXPECT_LT(most_gathered(
                  lower(simplified_module(import_stablehlo(program, "t.mlir")), machine_of(1, 1))),
              80'000U);
  }
}

TEST(LoweredModel, ScatteredElementsArePackedBeforeTheyTravel) {
  // Each element that a tile wants lies alone: more than 8,000 transfers to each tile.
  const std::string words = reversal("20x20x20x6xf32", "6x20x20x20xf32", "3, 2, 1, 0");
  const std::string halves = reversal("91x503xf16", "503x91xf16", "1, 0");
  const std::string bytes = reversal("101x1003xi8", "1003x101xi8", "1, 0");
  for (const std::string& text : {words, halves, bytes}) {
    expect_plan_computes(text, machine_of(1, 1));
    // Less than the 4 bytes of an instruction for each of some thousand transfers.
    EXPECT_LT(code_and_state(compile(import_stablehlo(text, "t.mlir"), machine_of(1, 1))), 24'000U);
  }
}

TEST(LoweredModel, ScatteredElementsMoveInPassesWhereTheyFillTheMemory) {
  // Both ends take 384 KB of a tile, what is packed and received as much again.
  const std::string text = reversal("20x20x20x24xf32", "24x20x20x20xf32", "3, 2, 1, 0");
  expect_plan_computes(text, machine_of(1, 1));
  EXPECT_NO_THROW((void)compile(import_stablehlo(text, "t.mlir"), machine_of(1, 1)));
}

/// A tensor that lies where nothing else decides.
BufferId add_buffer(ProgramBuilder& builder, Buffer::Kind kind, const TensorType& type) {
  return builder.add_buffer({.kind = kind,
                             .name = "t",
                             .type = type,
                             .element_bytes = static_cast<std::uint32_t>(size_of(type.dtype)),
                             .layout = builder.layouts().of(type),
                             .contents = {},
                             .source = {}});
}

TEST(LoweredModel, ScatteredElementsArePackedWhereverInTheDestinationTheyLie) {
  // What is scattered goes to the first or the last two of eight tiles.
  constexpr std::int64_t kTurned = 52'800, kStraight = 158'400;
  for (const bool is_turned_first : {true, false}) {
    const MachineConfig machine = machine_of(1, 2);
    ProgramBuilder builder(machine);
    const auto add = [&](Buffer::Kind kind, std::int64_t elements) {
      return add_buffer(builder, kind, {DType::kF32, {elements}});
    };
    const BufferId turned = add(Buffer::Kind::kArgument, kTurned),
                   straight = add(Buffer::Kind::kArgument, kStraight),
                   result = add(Buffer::Kind::kTemporary, kTurned + kStraight);
    const std::int64_t turned_at = is_turned_first ? 0 : kStraight,
                       straight_at = is_turned_first ? kTurned : 0;
    // A reversal of the axes of 24 x 20 x 11 x 10.
    const Box turn{0, turned_at, {{10, 1, 5280}, {11, 10, 480}, {20, 110, 24}, {24, 2200, 1}}};
    (void)move(builder, result, {{turned, turn}, {straight, {0, straight_at, {{kStraight, 1, 1}}}}},
               {}, {});
    LoweredProgram program = builder.finish(StepOrder::kEarliest);
    program.arguments = {turned, straight};
    program.results = {result};
    std::size_t transfers = 0;
    for (const Superstep* step : supersteps_of(program)) transfers += step->movements.size();
    EXPECT_LT(transfers, 1000U) << "of 52,800 elements";
    const std::vector<HostTensor> arguments{random_tensor(program.buffers[0].type, 1),
                                            random_tensor(program.buffers[1].type, 2)};
    const std::vector<TensorType> types{{DType::kF32, {kTurned + kStraight}}};
    const HostTensor found = PlanInterpreter(program).run(arguments, types)[0];
    for (std::int64_t i = 0; i < kTurned; ++i) {
      const std::int64_t from = i / 5280 + i / 480 % 11 * 10 + i / 24 % 20 * 110 + i % 24 * 2200;
      ASSERT_EQ(found.get<float>(static_cast<std::size_t>(turned_at + i)),
                arguments[0].get<float>(static_cast<std::size_t>(from)));
    }
    for (std::int64_t i = 0; i < kStraight; ++i) {
      ASSERT_EQ(found.get<float>(static_cast<std::size_t>(straight_at + i)),
                arguments[1].get<float>(static_cast<std::size_t>(i)));
    }
  }
}

TEST(LoweredModel, TheGradientOfMaxPoolingStoresNeitherMasksNorNumbersOfPlaces) {
  const std::string text = R"(
func.func @main(%x: tensor<4x8x8x6xf32>, %dy: tensor<4x4x4x6xf32>, %zero: tensor<f32>)
    -> tensor<4x8x8x6xf32> {
  %dx = "stablehlo.select_and_scatter"(%x, %dy, %zero) <{
      window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %is_greater = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %is_greater : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<4x8x8x6xf32>, tensor<4x4x4x6xf32>, tensor<f32>) -> tensor<4x8x8x6xf32>
  return %dx : tensor<4x8x8x6xf32>
})";
  expect_plan_computes(text, machine_of(1, 2));
  const LoweredProgram program =
      lower(simplified_module(import_stablehlo(text, "t.mlir")), machine_of(1, 2));
  for (const Buffer& buffer : program.buffers) {
    EXPECT_EQ(buffer.type.dtype, DType::kF32) << buffer.name;
  }
}

TEST(LoweredModel, NarrowElementsBecomeWordsAndComeBack) {
  for (const DType dtype : {DType::kI8, DType::kF16, DType::kI1}) {
    const MachineConfig machine = machine_of(1, 1);
    ProgramBuilder builder(machine);
    const TensorType type{dtype, {1003}};
    const BufferId argument = add_buffer(builder, Buffer::Kind::kArgument, type);
    const BufferId result = add_buffer(builder, Buffer::Kind::kTemporary, type);
    const BufferId words = add_words(builder, builder.layouts().of(type), {});
    const Time wide = copy_bits(builder, argument, words, {}, {});
    (void)copy_bits(builder, words, result, wide, {});
    LoweredProgram program = builder.finish(StepOrder::kEarliest);
    program.arguments = {argument};
    program.results = {result};
    const std::vector<HostTensor> elements{random_tensor(type, 1)};
    const std::vector<TensorType> types{type};
    expect_equal(PlanInterpreter(program).run(elements, types)[0], elements[0], 0);
  }
}

TEST(LoweredModel, QuickstartAffine) {
  expect_plan_computes(source_of("quickstart/affine.mlir"), machine_of(1, 1));
}

TEST(LoweredModel, LinearRegression) {
  expect_plan_computes(source_of("linear_regression/train_step.mlir"), machine_of(4, 4), 1e-5);
}

TEST(LoweredModel, DigitsTrainStep) {
  expect_plan_computes(source_of("digits_mlp/train_step.mlir"), machine_of(4, 4), 1e-4);
}

TEST(LoweredModel, DigitsAccuracy) {
  expect_plan_computes(source_of("digits_mlp/accuracy.mlir"), machine_of(4, 4), 1e-4);
}

}  // namespace
}  // namespace superstep
