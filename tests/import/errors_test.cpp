#include <gtest/gtest.h>

#include <chrono>

#include "tests/import/importing.h"

namespace superstep {
namespace {

using Problems = std::vector<std::string>;

void expect_refused(const std::string& text, ExitCode code, const Problems& problems) {
  SCOPED_TRACE(text);
  const Refusal refused = refusal(text);
  EXPECT_EQ(refused.code, code);
  EXPECT_EQ(refused.problems, problems);
}

TEST(ImportErrors, ReportEveryProblemOfTheModuleInOrder) {
  expect_refused(
      "module @m {\n"
      "  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "    %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
      "    %1 = stablehlo.add %a %a : tensor<4xf32>\n"
      "    %2 = stablehlo.add %0, %1 : tensor<4xf32>\n"
      "    %3 = stablehlo.fourier %2 : tensor<4xf32>\n"
      "    %4 = call @missing(%3) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "    %5 = call @helper(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "    return %4 : tensor<4xf32>\n"
      "  }\n"
      "  func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "    %0 = stablehlo.add %a, %a : tensor<4xf31>\n"
      "    return %0 : tensor<4xf32>\n"
      "  }\n"
      "}\n",
      ExitCode::kMalformed,
      {"3:28: %b is not defined in front of its use",
       "4:27: expected `:` and types behind an op, found `%a`",
       "6:10: op stablehlo.fourier is not known", "7:10: the module has no function @missing",
       std::string("12:42: unknown element type `f31`; ") + supported_dtypes()});
}

TEST(ImportErrors, NamesTheNearestOpOnlyForWordsThatAreNone) {
  expect_refused(in_main("%0 = stablehlo.substract %a, %b : tensor<2x3xf32>"),
                 ExitCode::kUnsupported,
                 {"2:6: op stablehlo.substract is not known; did you mean stablehlo.subtract?"});
  expect_refused(
      in_main("%0 = \"stablehlo.async_start\"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
      ExitCode::kUnsupported, {"2:6: op stablehlo.async_start is not supported"});
}

TEST(ImportErrors, NamesTheAttributeThatAnOpDoesNotHaveAndTheNearest) {
  expect_refused(
      in_main("%0 = \"stablehlo.transpose\"(%a) <{permutations = array<i64: 1, 0>}> : "
              "(tensor<2x3xf32>) -> tensor<3x2xf32>\n"
              "%1 = stablehlo.add %a, %b {\n  colour = \"red\"} : tensor<2x3xf32>\n"
              "%2 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], algorithm = "
              "<lhs_precision = f32> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>\n"
              "%3 = \"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<"
              "ofset_dims = [1]>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>\n"
              "%4 = stablehlo.exponential %a {result_acuracy = 1} : tensor<2x3xf32>"),
      ExitCode::kMalformed,
      {"2:34: stablehlo.transpose has no attribute permutations; did you mean permutation?",
       "4:3: stablehlo.add has no attribute colour",
       "5:79: stablehlo.dot_general has no attribute lhs_precision",
       "6:73: stablehlo.gather has no attribute ofset_dims; did you mean offset_dims?",
       "7:32: stablehlo.exponential has no attribute result_acuracy; did you mean "
       "result_accuracy?"});
}

TEST(ImportErrors, AttributesOfOtherDialectsMayStandAtAnyOp) {
  expect_refused(in_main("%0 = stablehlo.add %a, %b {mhlo.sharding = \"{replicated}\", "
                         "mhlo.frontend_attributes = {a = \"1\"}, jax.any = [1]} : "
                         "tensor<2x3xf32>"),
                 ExitCode::kOk, {});
}

TEST(ImportErrors, ModulesThatOnlyAskForTooMuchAreUnsupported) {
  const auto element = [](const std::string& name, const std::string& more = "") {
    return "element type " + name + " is not supported" + more + "; " + supported_dtypes();
  };
  expect_refused(
      "func.func @main(%a: tensor<4xf80>, %t: !quant.uniform<i8:f32, 1.0>) {\n"
      "  %0 = stablehlo.constant dense<1> : tensor<i7>\n"
      "  %1 = stablehlo.constant dense<(1.0,2.0)> : tensor<2xcomplex<bf16>>\n"
      "  %2 = stablehlo.iota dim = 0 : tensor<4xtf32>\n"
      "  %3 = stablehlo.add %a, %a : tensor<4xf80>\n"
      "  %4 = stablehlo.iota dim = 0 : tensor<?x4xf32>\n"
      "  %5 = stablehlo.constant dense_resource<w> : tensor<4xf32>\n"
      "  return\n"
      "}",
      ExitCode::kUnsupported,
      {"1:21: " + element("f80", " (and 1 more place)"),
       "1:40: type !quant.uniform<i8:f32, 1.0> is not supported; values are tensors, for example "
       "tensor<2x3xf32>",
       "2:38: " + element("i7"), "3:46: " + element("complex<bf16>"), "4:33: " + element("tf32"),
       "6:33: tensor<?x4xf32> has no static shape; Superstep compiles static shapes only",
       "7:27: dense_resource constants are not supported; print the module with its constants in "
       "the text"});
}

TEST(ImportErrors, UnsupportedRegionsAreSkippedWhole) {
  expect_refused(
      "func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {\n"
      "  %0 = \"stablehlo.async_start\"(%a) ({\n"
      "  ^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
      "    %1 = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %1 : tensor<i1>\n"
      "  }) : (tensor<4xi32>) -> tensor<4xi32>\n"
      "  %3 = \"stablehlo.async_done\"(%a) ({\n"
      "    %4 = stablehlo.add %nowhere, %a : tensor<4xi32>\n"
      "    stablehlo.return %4 : tensor<4xi32>\n"
      "  }) : (tensor<4xi32>) -> tensor<4xi32>\n"
      "  %5 = stablehlo.add %0, %3 : tensor<4xi32>\n"
      "  return %5 : tensor<4xi32>\n"
      "}",
      ExitCode::kUnsupported,
      {"2:8: op stablehlo.async_start is not supported",
       "7:8: op stablehlo.async_done is not supported"});
}

TEST(ImportErrors, DeclaredTypesMustBeRight) {
  expect_refused(in_main("%0 = stablehlo.add %a, %s : tensor<2x3xf32>"), ExitCode::kMalformed,
                 {"2:24: %s has type tensor<f32>, but stablehlo.add takes it as tensor<2x3xf32>"});
  const Refusal result = refusal(
      in_main("%0 = stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>"));
  EXPECT_EQ(result.code, ExitCode::kMalformed);
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_EQ(result.problems[0].substr(0, 2), "2:");
  EXPECT_NE(result.problems[0].find("tensor<3x2xf32>"), std::string::npos);
}

TEST(ImportErrors, FormatsMustHaveTwoNumbers) {
  for (const std::string word : {"e5", "em10", "e5m", "m10e5", "e5m10x", "e5m99999999999999999999",
                                 "e99999999999999999999m10"}) {
    expect_refused(
        in_main("%0 = stablehlo.reduce_precision %a, format = " + word + " : tensor<2x3xf32>"),
        ExitCode::kMalformed, {"2:46: expected a format such as e5m10, found `" + word + "`"});
  }
}

TEST(ImportErrors, NamesAndNumbersOfResultsMustBeRight) {
  expect_refused(in_main("%0:2 = stablehlo.add %a, %b : tensor<2x3xf32>"), ExitCode::kMalformed,
                 {"2:8: stablehlo.add has 1 result, but 2 are named"});
  expect_refused(in_main("%0 = stablehlo.abs %a#1 : tensor<2x3xf32>"), ExitCode::kMalformed,
                 {"2:20: %a has 1 result, but this is number 1"});
  expect_refused(in_main("%a = stablehlo.abs %a : tensor<2x3xf32>"), ExitCode::kMalformed,
                 {"2:1: %a is defined twice"});
}

TEST(ImportErrors, ReturnsMustMatchTheFunction) {
  expect_refused(
      "func.func @main(%a: tensor<4xf32>) -> tensor<2xf32> {\n"
      "  return %a : tensor<4xf32>\n}",
      ExitCode::kMalformed,
      {"2:10: %a has type tensor<4xf32>, but the function returns tensor<2xf32>"});
  expect_refused("func.func @main(%a: tensor<4xf32>) {\n  return %a : tensor<4xf32>\n}",
                 ExitCode::kMalformed, {"2:3: returns 1 value, but the function has 0 results"});
  expect_refused("func.func @main() {\n}", ExitCode::kMalformed,
                 {"1:11: expected a return at the end of the block"});
}

TEST(ImportErrors, RegionsMayOnlyUseTheirOwnValues) {
  expect_refused(
      in_main("%0 = stablehlo.reduce(%a init: %s) across dimensions = [1] : (tensor<2x3xf32>, "
              "tensor<f32>) -> tensor<2xf32>\n"
              " reducer(%x: tensor<f32>, %y: tensor<f32>) {\n"
              "  %1 = stablehlo.add %x, %s : tensor<f32>\n"
              "  stablehlo.return %1 : tensor<f32>\n }"),
      ExitCode::kUnsupported,
      {"4:26: %s is a value of outside the region; a region may only use its own and "
       "constant scalars"});
}

TEST(ImportErrors, CallsMustNameAFunctionOfTheirTypes) {
  expect_refused(
      "func.func @main(%a: tensor<f32>) {\n"
      "  %0 = call @relv(%a) : (tensor<f32>) -> tensor<f32>\n"
      "  %1:2 = call @relu(%a) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)\n"
      "  return\n}\n"
      "func.func private @relu(%a: tensor<f32>) -> tensor<f32> {\n"
      "  return %a : tensor<f32>\n}",
      ExitCode::kMalformed,
      {"2:8: the module has no function @relv; did you mean @relu?",
       "3:10: this call does not have the types of function @relu"});
}

TEST(ImportErrors, RecursionIsRefused) {
  expect_refused(
      "func.func @main() {\n  call @f() : () -> ()\n  return\n}\n"
      "func.func private @f() {\n  call @g() : () -> ()\n  return\n}\n"
      "func.func private @g() {\n  call @f() : () -> ()\n  return\n}\n",
      ExitCode::kUnsupported, {"10:3: function @f calls itself; recursion is not supported"});
}

TEST(ImportErrors, ChainsOfDoublingCallsEndAtALimit) {
  std::string text = "func.func @main() {\n  call @f0() : () -> ()\n  return\n}\n";
  for (int i = 0; i < 60; ++i) {
    const std::string next = i == 59 ? "" : "  call @f" + std::to_string(i + 1) + "() : () -> ()\n";
    text += "func.func private @f" + std::to_string(i) + "() {\n" + next + next + "  return\n}\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const Refusal refused = refusal(text);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(refused.code, ExitCode::kUnsupported);
  ASSERT_EQ(refused.problems.size(), 1u);
  EXPECT_NE(refused.problems[0].find("more than 1000000 ops"), std::string::npos);
}

TEST(ImportErrors, AliasesMustNameAResultOfTheSameType) {
  expect_refused(
      "func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %b: "
      "tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {\n"
      "  return %a : tensor<4xf32>\n}",
      ExitCode::kMalformed,
      {"1:17: tf.aliasing_output = 1, but the function has 1 result",
       "1:67: argument of type tensor<2xf32> cannot give its storage to a result of "
       "type tensor<4xf32>"});
}

TEST(ImportErrors, AFileNeedsOneModuleWithAMain) {
  expect_refused("", ExitCode::kMalformed,
                 {"1:1: the module has no function; expected func.func public @main"});
  expect_refused("func.func @f() { return }\nfunc.func @g() { return }", ExitCode::kMalformed,
                 {"1:1: none of the module's functions is called @main, where a run begins"});
  expect_refused("func.func @main() {\n return\n}\nfunc.func @main() {\n return\n}",
                 ExitCode::kMalformed, {"4:11: function @main is defined twice"});
  expect_refused("module @a {\n func.func @main() {\n return\n }\n}\nmodule @b {\n}",
                 ExitCode::kUnsupported,
                 {"6:1: more than one module in a file; give each a file of its own"});
  expect_refused("hello", ExitCode::kMalformed,
                 {"1:1: expected a module or a function, found `hello`"});
}

TEST(ImportErrors, UnclosedFunctionsEndWhereTheNextBegins) {
  expect_refused(
      "func.func @main() {\n  call @f() : () -> ()\n  return\n"
      "func.func private @f() {\n  return\n}\n",
      ExitCode::kMalformed, {"4:1: expected `}` in front of the next function"});
}

TEST(ImportErrors, BytesThatAreNoTextAreRefusedWhereTheyStand) {
  expect_refused(
      "module @m {\n  // caf\xe9 \xe8\n  func.func @main() {\n return\n } // \xf0\x9f\n}",
      ExitCode::kMalformed,
      {"2:9: the byte 0xe9 is no UTF-8 text; save the module as UTF-8",
       "5:7: the byte 0xf0 is no UTF-8 text; save the module as UTF-8"});
}

TEST(ImportErrors, WhatOtherFormatsAreIsSaid) {
  expect_refused(
      "ML\xef"
      "R\rStableHLO_v1.15.0\n\xff\n\xfe",
      ExitCode::kMalformed,
      {"1:1: this is MLIR bytecode, not text; write the module as text, in JAX by "
       "`exported.mlir_module()` or `lowered.as_text()`"});
  expect_refused("HloModule jit_f\n\nregion_1.2 {\n}\n", ExitCode::kMalformed,
                 {"1:1: this is HLO, not StableHLO; in JAX `lowered.as_text()`, without \"hlo\", "
                  "writes StableHLO"});
}

TEST(ImportErrors, AnExportForSeveralPlatformsIsRefused) {
  const std::string refusal =
      "the module is exported for several platforms, and this argument says on which it runs (and "
      "1 more place); export it for one, as by `jax.export.export(f, platforms=[\"cpu\"])`";
  const std::string platform = "(%p: tensor<i32> {jax.global_constant = \"_platform_index\"}) {\n";
  expect_refused(
      "func.func @main" + platform + " return\n}\nfunc.func private @f" + platform + " return\n}\n",
      ExitCode::kUnsupported, {"1:34: " + refusal});
}

TEST(ImportErrors, OfSymbolicShapesOnlyTheShapesAreRefused) {
  expect_refused(
      "func.func @main(%a: tensor<?xf32>) {\n"
      "  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "  stablehlo.custom_call @shape_assertion(%0) {error_message = \"no\"} : (tensor<i32>) -> "
      "()\n  return\n}\n",
      ExitCode::kUnsupported,
      {"1:21: tensor<?xf32> has no static shape (and 1 more place); Superstep compiles static "
       "shapes only"});
}

TEST(ImportErrors, NamesMustBePrintable) {
  const std::string tail = "` has bytes that are no UTF-8 text, or control characters";
  expect_refused("module @\"a\x1b[2J\" {\n}", ExitCode::kMalformed,
                 {"1:8: the name `a\\x1b[2J" + tail});
  expect_refused("func.func @\"f\\FF\"() {\n return\n}", ExitCode::kMalformed,
                 {"1:11: the name `f\\xff" + tail});
  expect_refused("func.func @main() {\n return loc(\"\\1B[2J\":1:2)\n}", ExitCode::kMalformed,
                 {"2:13: the name `\\x1b[2J" + tail});
  expect_refused("module @\"a\\0Ab\\09\\01\" {\n}", ExitCode::kMalformed,
                 {"1:8: the name `a\\nb\\t\\x01" + tail});
}

TEST(ImportErrors, AByteOrderMarkIsNoPartOfTheText) {
  EXPECT_EQ(
      import_stablehlo("\xef\xbb\xbfmodule @m {\n func.func @main() {\n return\n }\n}", "f.mlir")
          .name,
      "m");
  expect_refused("\xef\xbb\xbfhello", ExitCode::kMalformed,
                 {"1:1: expected a module or a function, found `hello`"});
}

TEST(ImportErrors, LongTypesAreQuotedInPart) {
  std::string type;
  for (int i = 0; i < 300'000; ++i) type += "tuple<";
  const Refusal refused = refusal("func.func @main(%a: !f.t<" + type + "f32" +
                                  std::string(300'001, '>') + ") {\n return\n}");
  EXPECT_EQ(refused.code, ExitCode::kUnsupported);
  ASSERT_EQ(refused.problems.size(), 1U);
  EXPECT_LT(refused.problems[0].size(), 250U);
  EXPECT_EQ(refused.problems[0].substr(0, 22), "1:21: type !f.t<tuple<");
}

TEST(ImportErrors, DeepNestingIsRefused) {
  for (const std::string& open : {std::string("["), std::string("{a = "), std::string("(")}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open;
    const Refusal refused =
        refusal(in_main("%0 = stablehlo.add %a, %b {x = " + deep + "} : tensor<2x3xf32>"));
    EXPECT_EQ(refused.code, ExitCode::kMalformed);
  }
  std::string location;
  for (int i = 0; i < 100'000; ++i) location += "\"f\"(";
  EXPECT_EQ(refusal(in_main("%0 = stablehlo.add %a, %b : tensor<2x3xf32> loc(" + location)).code,
            ExitCode::kMalformed);
}

TEST(ImportErrors, HugeTypesAndConstantsAreRefused) {
  expect_refused(in_main("%0 = stablehlo.iota dim = 0 : tensor<99999999999999999999x2xf32>"),
                 ExitCode::kUnsupported,
                 {"2:31: tensor<99999999999999999999x2xf32> has more elements than any machine can "
                  "hold"});
  expect_refused(in_main("%0 = stablehlo.constant dense<0.0> : tensor<1000000x100000xf32>"),
                 ExitCode::kUnsupported,
                 {"2:25: constant of tensor<1000000x100000xf32> is too large; pass it as an "
                  "argument"});
}

}  // namespace
}  // namespace superstep
