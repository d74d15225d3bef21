// Integers of 2 and 4 bits and floats of 4, 6 and 8 bits: the formats, and what machines make of
// them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/narrow_float.h"
#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "compiler/ops/op.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

constexpr DType kNarrowFloats[] = {DType::kF4E2M1FN,   DType::kF6E2M3FN,   DType::kF6E3M2FN,
                                   DType::kF8E3M4,     DType::kF8E4M3,     DType::kF8E4M3B11FNUZ,
                                   DType::kF8E4M3FN,   DType::kF8E4M3FNUZ, DType::kF8E5M2,
                                   DType::kF8E5M2FNUZ, DType::kF8E8M0FNU};
constexpr DType kNarrowIntegers[] = {DType::kI2, DType::kI4, DType::kU2, DType::kU4};

HostTensor all_codes(DType dtype) {
  HostTensor codes({dtype, {256}});
  for (std::size_t i = 0; i < 256; ++i) {
    is_narrow_integer(dtype) ? write_int(codes, i, static_cast<std::int64_t>(i))
                             : write_bits(codes, i, i);
  }
  return codes;
}

/// f32 around what the formats hold: each of their numbers, ties between two, and beside both.
HostTensor floats_around(DType dtype) {
  std::vector<double> values = {0.0, -0.0, 1e-40, -1e-40, 1e30, -1e30, INFINITY, -INFINITY, NAN};
  const HostTensor codes = all_codes(dtype);
  for (std::size_t i = 0; i < 255; ++i) {
    const double a = read_float(codes, i), b = read_float(codes, i + 1);
    if (std::isnan(a)) continue;
    for (const double value : {a, a / 2 + b / 2}) {
      const auto f = static_cast<float>(value);
      values.insert(values.end(), {f, std::nextafterf(f, INFINITY), std::nextafterf(f, -INFINITY)});
    }
  }
  for (std::int64_t i = 0; i < 200; ++i) {
    values.push_back(
        std::ldexp(1.0 + static_cast<double>(i * 37 % 101) / 101, static_cast<int>(i) - 100));
  }
  return vector_of(DType::kF32, values);
}

OpCase use_of(const std::string& op, std::vector<HostTensor> operands, DType result) {
  const Shape shape = operands[0].type.shape;
  return {op, "", std::move(operands), {}, {}, 0, {}, {{result, shape}}};
}

/// The op on a machine against the reference.
void expect_same(const OpCase& use) {
  const Graph graph = graph_of(use);
  const HostTensor expected = evaluate(graph, use.operands)[0];
  EXPECT_TRUE(close(run_on("tiny4", graph, use.operands)[0], expected, 0))
      << use.op << " " << use.operands[0].type.text() << " " << expected.type.text();
}

/// The results of a module's text for arguments.
std::vector<HostTensor> run_text(const std::string& module,
                                 const std::vector<HostTensor>& arguments) {
  return run_on("tiny4", import_stablehlo(module, "text.mlir").main, arguments);
}

TEST(NarrowFloat, EveryCodeIsThatOfItsNumber) {
  for (const DType dtype : kNarrowFloats) {
    const NarrowFloat format = narrow_float(dtype);
    for (std::uint32_t code = 0; code < format.codes(); ++code) {
      const double number = number_of(format, code);
      const std::uint32_t again = code_of(format, static_cast<float>(number));
      EXPECT_EQ(again, std::isnan(number) ? format.nan() : code) << name_of(dtype) << " " << code;
    }
  }
}

TEST(NarrowFloat, TakesTheNearestNumber) {
  for (const DType dtype : kNarrowFloats) {
    const NarrowFloat format = narrow_float(dtype);
    if (format.kind == NarrowFloat::Kind::kPower) continue;
    double largest = 0;
    for (std::uint32_t code = 0; code < format.sign_bit(); ++code) {
      const double number = number_of(format, code);
      if (std::isfinite(number)) largest = std::max(largest, number);
    }
    const HostTensor samples = floats_around(dtype);
    for (std::size_t i = 0; i < static_cast<std::size_t>(samples.type.elements()); ++i) {
      const double value = read_float(samples, i);
      if (std::isnan(value) || std::fabs(value) > largest) continue;
      const double found = number_of(format, code_of(format, static_cast<float>(value)));
      for (std::uint32_t code = 0; code < 256; ++code) {
        const double other = number_of(format, code);
        if (!std::isfinite(other)) continue;
        ASSERT_LE(std::fabs(found - value), std::fabs(other - value)) << name_of(dtype);
      }
    }
  }
}

// By ml_dtypes 0.5.
TEST(NarrowFloat, RoundsTiesAndWhatIsTooLarge) {
  const auto codes = [](DType dtype, std::vector<float> values) {
    std::vector<std::uint32_t> out;
    for (const float value : values) out.push_back(code_of(narrow_float(dtype), value));
    return out;
  };
  using Codes = std::vector<std::uint32_t>;
  EXPECT_EQ(codes(DType::kF8E4M3FN, {1, -1, 448, 464, 465, 1.0625F, 1.1875F, -0.0F}),
            (Codes{0x38, 0xb8, 0x7e, 0x7e, 0x7f, 0x38, 0x3a, 0x80}));
  EXPECT_EQ(codes(DType::kF8E5M2, {1, -1, 57344, 61439, 61440, INFINITY, -INFINITY}),
            (Codes{0x3c, 0xbc, 0x7b, 0x7b, 0x7c, 0x7c, 0xfc}));
  EXPECT_EQ(codes(DType::kF8E4M3FNUZ, {1, -1e-3F, 240, 248, INFINITY, -0.0F}),
            (Codes{0x40, 0x81, 0x7f, 0x80, 0x80, 0}));
  EXPECT_EQ(codes(DType::kF4E2M1FN, {5, 7, 1e30F, -INFINITY, NAN, 0.25F, 0.75F, 0.3F, -0.0F}),
            (Codes{0x6, 0x7, 0x7, 0xf, 0x8, 0, 0x2, 0x1, 0x8}));
  EXPECT_EQ(codes(DType::kF6E2M3FN, {5, 6.9F, 7.3F, 8, -INFINITY, NAN, 0.3F}),
            (Codes{0x1a, 0x1e, 0x1f, 0x1f, 0x3f, 0x20, 0x2}));
  EXPECT_EQ(codes(DType::kF6E3M2FN, {5, 7.5F, 28, 30, 31, -1e30F, NAN, 0.3F}),
            (Codes{0x15, 0x18, 0x1f, 0x1f, 0x1f, 0x3f, 0x20, 0x5}));
  EXPECT_EQ(codes(DType::kF8E8M0FNU, {1, 1.5F, 3, 0.75F, 0.749F, 0, -1, 1e30F}),
            (Codes{0x7f, 0x80, 0x81, 0x7f, 0x7e, 0xff, 0xff, 0xe3}));
}

TEST(NarrowTypes, ConvertOnTilesAsOnTheHost) {
  for (const DType dtype : kNarrowFloats) {
    expect_same(use_of("stablehlo.convert", {floats_around(dtype)}, dtype));
    for (const DType to : {DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kI1,
                           DType::kF8E5M2, DType::kF8E4M3FN, DType::kU4}) {
      expect_same(use_of("stablehlo.convert", {all_codes(dtype)}, to));
    }
  }
  for (const DType dtype : kNarrowIntegers) {
    for (const DType from : {DType::kI8, DType::kU8, DType::kI4, DType::kU4, DType::kF8E4M3FN}) {
      expect_same(use_of("stablehlo.convert", {all_codes(from)}, dtype));
    }
    expect_same(use_of("stablehlo.convert", {floats_around(DType::kF8E4M3)}, dtype));
    for (const DType to : {DType::kI32, DType::kU8, DType::kF32, DType::kF8E5M2, DType::kI1}) {
      expect_same(use_of("stablehlo.convert", {all_codes(dtype)}, to));
    }
  }
}

TEST(NarrowTypes, ConvertFromAndToWideTypes) {
  const HostTensor floats = floats_around(DType::kF8E5M2);
  HostTensor doubles({DType::kF64, floats.type.shape});
  HostTensor integers({DType::kI64, floats.type.shape});
  for (std::size_t i = 0; i < static_cast<std::size_t>(floats.type.elements()); ++i) {
    write_float(doubles, i, read_float(floats, i) * (1 + 0x1p-40));
    write_int(integers, i, static_cast<std::int64_t>(i * i * i) - 5000);
  }
  for (const DType dtype : {DType::kF8E5M2, DType::kF8E4M3FNUZ, DType::kI4, DType::kU2}) {
    expect_same(use_of("stablehlo.convert", {doubles}, dtype));
    expect_same(use_of("stablehlo.convert", {integers}, dtype));
    for (const DType to : {DType::kF64, DType::kI64, DType::kU64}) {
      expect_same(use_of("stablehlo.convert", {all_codes(dtype)}, to));
    }
  }
}

TEST(NarrowTypes, BitsAreThoseOfOtherWidths) {
  const auto cast = [](DType from, Shape shape, DType to, Shape result) {
    OpCase use = use_of("stablehlo.bitcast_convert", {all_codes(from)}, to);
    use.operands[0].type.shape = std::move(shape);
    use.declared = {{to, std::move(result)}};
    expect_same(use);
  };
  for (const DType narrow : {DType::kI4, DType::kU4, DType::kF4E2M1FN}) {
    cast(narrow, {128, 2}, DType::kU8, {128});
    cast(narrow, {128, 2}, DType::kF8E5M2, {128});
    cast(narrow, {32, 8}, DType::kI32, {32});
    cast(narrow, {16, 16}, DType::kF64, {16});
    cast(DType::kI8, {256}, narrow, {256, 2});
    cast(DType::kF8E4M3FN, {2, 128}, narrow, {2, 128, 2});
    cast(DType::kU2, {64, 4}, DType::kI8, {64});
    cast(DType::kU2, {128, 2}, narrow, {128});
    cast(narrow, {256}, DType::kU2, {256, 2});
    cast(narrow, {64, 4}, DType::kF16, {64});
  }
  cast(DType::kF8E5M2, {64, 4}, DType::kU32, {64});
  cast(DType::kU4, {256}, DType::kI1, {256, 4});
  HostTensor words({DType::kU32, {8}});
  for (std::size_t i = 0; i < 8; ++i) write_bits(words, i, 0x12345678 * (2 * i + 1));
  for (const DType narrow : {DType::kI4, DType::kF4E2M1FN, DType::kF8E4M3}) {
    OpCase use = use_of("stablehlo.bitcast_convert", {words}, narrow);
    use.declared[0].shape = {8, 32 / bit_width(narrow)};
    expect_same(use);
  }
}

TEST(NarrowTypes, IntegersWrapInEveryOp) {
  for (const DType dtype : kNarrowIntegers) {
    HostTensor a({dtype, {256}}), b({dtype, {256}});
    for (std::int64_t i = 0; i < 256; ++i) {
      write_int(a, static_cast<std::size_t>(i), i / 16);
      write_int(b, static_cast<std::size_t>(i), i % 16);
    }
    for (const char* op :
         {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or",
          "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic"}) {
      expect_same(use_of("stablehlo." + std::string(op), {a, b}, dtype));
    }
    for (const char* op : {"negate", "not", "popcnt", "count_leading_zeros", "sign"}) {
      if (!is_signed(dtype) && std::string(op) == "sign") continue;
      expect_same(use_of("stablehlo." + std::string(op), {a}, dtype));
    }
    if (is_signed(dtype)) expect_same(use_of("stablehlo.abs", {a}, dtype));
  }
}

TEST(NarrowTypes, FloatsAreComputedInF32AndRounded) {
  for (const DType dtype : kNarrowFloats) {
    const HostTensor a = all_codes(dtype);
    HostTensor b = a;
    for (std::size_t i = 0; i < 256; ++i) write_bits(b, i, i * 71 % 256);
    for (const char* op : {"add", "multiply", "divide", "maximum"}) {
      expect_same(use_of("stablehlo." + std::string(op), {a, b}, dtype));
    }
    for (const char* op : {"negate", "abs", "sqrt", "floor"}) {
      expect_same(use_of("stablehlo." + std::string(op), {a}, dtype));
    }
  }
}

TEST(NarrowTypes, MoveAsTheirBytes) {
  const std::string type = "tensor<4x4xf8E4M3FN>";
  HostTensor x({DType::kF8E4M3FN, {4, 4}});
  for (std::size_t i = 0; i < 16; ++i) write_bits(x, i, 0xf0 + i);  // NaN with its sign too
  const auto results =
      run_text("func.func @main(%x: " + type + ") -> (" + type + ", " + type +
                   ") {\n  %0 = stablehlo.transpose %x, dims = [1, 0] : (" + type + ") -> " + type +
                   "\n  %1 = stablehlo.reverse %x, dims = [0, 1] : " + type +
                   "\n  return %0, %1 : " + type + ", " + type + "\n}",
               {x});
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(read_bits(results[0], i), 0xf0 + i % 4 * 4 + i / 4);
    EXPECT_EQ(read_bits(results[1], i), 0xff - i);
  }
}

TEST(NarrowTypes, ProductsAreOfWiderNumbers) {
  HostTensor a({DType::kF8E5M2, {3, 5}}), b({DType::kF8E4M3FN, {5, 2}});
  for (std::size_t i = 0; i < 15; ++i) write_float(a, i, static_cast<double>(i) - 7);
  for (std::size_t i = 0; i < 10; ++i) write_float(b, i, 0.25 * static_cast<double>(i));
  const auto found = run_text(
      "func.func @main(%a: tensor<3x5xf8E5M2>, %b: tensor<5x2xf8E4M3FN>) -> tensor<3x2xf32> {\n"
      "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x5xf8E5M2>, "
      "tensor<5x2xf8E4M3FN>) -> tensor<3x2xf32>\n  return %0 : tensor<3x2xf32>\n}",
      {a, b});
  for (std::size_t i = 0; i < 6; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      sum += read_float(a, i / 2 * 5 + k) * read_float(b, k * 2 + i % 2);
    }
    EXPECT_EQ(read_float(found[0], i), sum);
  }
}

TEST(NarrowTypes, AreRoundedAfterEachOpOfAFunction) {
  const auto found =
      run_text(R"(
func.func @main(%x: tensor<1xf8E4M3FN>, %y: tensor<1xf8E4M3FN>) -> tensor<1xf8E4M3FN> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
    %c = stablehlo.add %a, %b : tensor<f8E4M3FN>
    %d = stablehlo.subtract %c, %a : tensor<f8E4M3FN>
    stablehlo.return %d : tensor<f8E4M3FN>
  }) : (tensor<1xf8E4M3FN>, tensor<1xf8E4M3FN>) -> tensor<1xf8E4M3FN>
  return %0 : tensor<1xf8E4M3FN>
})",
               {vector_of(DType::kF8E4M3FN, {16}), vector_of(DType::kF8E4M3FN, {0.5})});
  EXPECT_EQ(read_float(found[0], 0), 0);
}

TEST(NarrowTypes, LoopsAndReductionsHaveThem) {
  HostTensor x({DType::kI4, {6}});
  for (std::size_t i = 0; i < 6; ++i) write_int(x, i, static_cast<std::int64_t>(i) - 3);
  const auto found = run_text(R"(
func.func @main(%x: tensor<6xi4>) -> (tensor<i4>, tensor<6xi4>) {
  %zero = stablehlo.constant dense<0> : tensor<i4>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<6xi4>, tensor<i4>) -> tensor<i4>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %l:2 = stablehlo.while(%c = %i, %v = %x) : tensor<i32>, tensor<6xi4>
  cond {
    %p = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %d = stablehlo.add %c, %one : tensor<i32>
    %w = stablehlo.add %v, %v : tensor<6xi4>
    stablehlo.return %d, %w : tensor<i32>, tensor<6xi4>
  }
  return %s, %l#1 : tensor<i4>, tensor<6xi4>
})",
                              {x});
  EXPECT_EQ(read_int(found[0], 0), -3);
  const std::int64_t eights[] = {-8, 0, -8, 0, -8, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(read_int(found[1], i), eights[i]) << i;
}

TEST(NarrowTypes, ArgumentsOutOfRangeAreBroughtIntoIt) {
  HostTensor x({DType::kI4, {2}});
  x.set<std::int8_t>(0, 100);
  x.set<std::int8_t>(1, -9);
  const auto found = run_text(
      "func.func @main(%x: tensor<2xi4>) -> tensor<2xi32> {\n  %0 = "
      "stablehlo.convert %x : (tensor<2xi4>) -> tensor<2xi32>\n  return %0 "
      ": tensor<2xi32>\n}",
      {x});
  EXPECT_EQ(read_int(found[0], 0), 4);
  EXPECT_EQ(read_int(found[0], 1), 7);
}

TEST(NarrowTypes, WhatNeedsTheirOwnStepsIsRefused) {
  const OpCase next = use_of(
      "chlo.next_after", {all_codes(DType::kF8E5M2), all_codes(DType::kF8E5M2)}, DType::kF8E5M2);
  EXPECT_THROW(static_cast<void>(run_on("tiny4", graph_of(next), next.operands)), Unsupported);
}

}  // namespace
}  // namespace superstep
