#include <gtest/gtest.h>

#include "tests/import/importing.h"

namespace superstep {
namespace {

using Labels = std::vector<std::string>;

/// A module of a function with these arguments and results, which returns its first argument.
Module module_of(const std::string& arguments, const std::string& results,
                 const std::string& aliases = "") {
  return import_stablehlo("func.func public @main(" + arguments + ") -> (" + results +
                              ") {\n  return %a : tensor<4xf32>\n}\n" + aliases,
                          "f.mlir");
}

TEST(Labels, AreTheNamesInLocationsOfArgumentsAndTheInfoOfResults) {
  const Module module =
      module_of(R"(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32} loc("params['w1']"), )"
                R"(%b: tensor<f32> loc("x"))",
                R"(tensor<4xf32> {jax.result_info = "result[0].w1"})");
  EXPECT_EQ(module.argument_labels, (Labels{"params['w1']", "x"}));
  EXPECT_EQ(module.result_labels, (Labels{"result[0].w1"}));
  EXPECT_EQ(module.argument_alias.at(0), 0U);
}

TEST(Labels, MayBeBehindAliasesOfLocations) {
  const Module module = module_of(
      "%a: tensor<4xf32> loc(#loc1), %b: tensor<f32> loc(#loc2), %c: tensor<f32> "
      "loc(#loc3), %d: tensor<f32> loc(#loc9)",
      "tensor<4xf32>", "#loc1 = loc(\"x\")\n#loc2 = loc(#loc1)\n#loc3 = loc(#loc3)\n");
  EXPECT_EQ(module.argument_labels, (Labels{"x", "x", "", ""}));
}

TEST(Labels, AreBehindAsManyAliasesAsPythonLinesAre) {
  const auto labels = [](const std::string& aliases) {
    return module_of("%a: tensor<4xf32> loc(#loc0)", "tensor<4xf32>", aliases).argument_labels;
  };
  EXPECT_EQ(labels(chain_of_aliases(1000, R"("x")")), Labels{"x"});
  EXPECT_EQ(labels(chain_of_aliases(1001, R"("x")")), Labels{""});
  EXPECT_EQ(labels(chain_of_aliases(3, "#loc0")), Labels{""});
}

TEST(Labels, AreEmptyWhereTheProgramNamesNothing) {
  const Module module = module_of(
      "%a: tensor<4xf32>, %b: tensor<f32> loc(unknown), %c: tensor<f32> loc(\"f.py\":3:4), "
      "%d: tensor<f32> loc(\"\"), %e: tensor<f32> loc(\"add\"(\"f.py\":3:4))",
      "tensor<4xf32>");
  EXPECT_EQ(module.argument_labels, Labels(5));
  EXPECT_EQ(module.result_labels, Labels(1));
}

TEST(Labels, OfTheGenericFormAreThoseOfThePrettyOne) {
  const Module module = import_stablehlo(
      R"("builtin.module"() ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {}], function_type = (tensor<4xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>), res_attrs = [{jax.result_info = "[0]"}, {}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xf32> loc("w"), %arg1: tensor<3xf32> loc(#loc1)):
    "func.return"(%arg0, %arg1) : (tensor<4xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
#loc1 = loc("x")
)",
      "f.mlir");
  EXPECT_EQ(module.argument_labels, (Labels{"w", "x"}));
  EXPECT_EQ(module.result_labels, (Labels{"[0]", ""}));
  EXPECT_EQ(module.argument_alias.at(0), 0U);
}

TEST(Labels, ThatCannotBePrintedAreRefusedAsOtherNamesAre) {
  const Refusal refused = refusal(
      "func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = \"a\\1Bb\"}) {\n"
      "return %a : tensor<4xf32>\n}\n");
  EXPECT_EQ(refused.code, ExitCode::kMalformed);
  ASSERT_EQ(refused.problems.size(), 1U);
  EXPECT_NE(refused.problems[0].find("control characters"), std::string::npos)
      << refused.problems[0];
}

}  // namespace
}  // namespace superstep
