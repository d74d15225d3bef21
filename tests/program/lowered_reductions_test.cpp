#include <gtest/gtest.h>

#include <algorithm>

#include "tests/program/plan_check.h"

namespace superstep {
namespace {

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
    expect_plan_computes(text, grid_machine(1, 1));
    // What is converted would take 1.2 MB.
    const LoweredProgram program =
        lower(simplified_module(import_stablehlo(text, "t.mlir")), grid_machine(1, 1));
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
          lower(simplified_module(import_stablehlo(program_text, "t.mlir")), grid_machine(1, 1), {},
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
    expect_plan_computes(text(c.op, c.axis), grid_machine(1, 1));
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
        grid_machine(2, 2));
  }
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
  expect_plan_computes(most, grid_machine(1, 1));
  const LoweredProgram program =
      lower(simplified_module(import_stablehlo(most, "t.mlir")), grid_machine(1, 1));
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
    expect_plan_computes(sum, grid_machine(1, 1));
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
    expect_plan_computes(program, grid_machine(1, 1));
    // All elements take 160 KB.
    EXPECT_LT(most_gathered(lower(simplified_module(import_stablehlo(program, "t.mlir")),
                                  grid_machine(1, 1))),
              80'000U);
  }
}

}  // namespace
}  // namespace superstep
