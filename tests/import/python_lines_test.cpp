#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/import/refused_ops.h"
#include "tests/import/importing.h"

namespace superstep {
namespace {

/// The Python line of an op with this location; `aliases` stand behind the function.
std::string python_of(const std::string& location, const std::string& aliases = "") {
  const std::string body = "%0 = stablehlo.add %a, %b : tensor<2x3xf32> loc(" + location + ")";
  return import_stablehlo(in_main(body) + aliases, "f.mlir")
      .main.ops()
      .at(0)
      .location.python.text();
}

TEST(PythonLines, ComeFromNamedFusedAndCallSiteLocations) {
  EXPECT_EQ(python_of(R"("f.py":31:25)"), "f.py:31");
  EXPECT_EQ(python_of(R"("f.py":31:25 to :43)"), "f.py:31");
  EXPECT_EQ(python_of(R"("f.py":31:25 to 32:4)"), "f.py:31");
  EXPECT_EQ(python_of(R"("jit(f)/add"("f"("f.py":3:4)))"), "f.py:3");
  EXPECT_EQ(python_of(R"(callsite("f.py":3:4 at "g.py":1:2))"), "f.py:3");
  EXPECT_EQ(python_of(R"(fused<"x">[unknown, "f.py":3:4, "g.py":1:2])"), "f.py:3");
  EXPECT_EQ(python_of(R"("only a name")"), "");
  EXPECT_EQ(python_of("unknown"), "");
  EXPECT_EQ(python_of("#loc9"), "");
}

// As JAX 0.10.2 prints jax.nn.gelu called from a user's file.
TEST(PythonLines, AreThoseOfTheInnermostFrameThatNamesAFile) {
  const std::string aliases =
      "#loc1 = loc(\"lib/net.py\":11:12 to :67)\n"
      "#loc2 = loc(\"train.py\":29:0 to :57)\n"
      "#loc3 = loc(\"jit(f)/erfc\")\n"
      "#loc4 = loc(\"w\"(#loc1))\n"
      "#loc5 = loc(\"<module>\"(#loc2))\n"
      "#loc6 = loc(callsite(#loc4 at #loc5))\n"
      "#loc7 = loc(callsite(#loc3 at #loc6))\n"
      "#loc8 = loc(callsite(#loc8 at #loc5))\n";
  EXPECT_EQ(python_of("\"jit(f)/mul\"(#loc6)", aliases), "lib/net.py:11");
  EXPECT_EQ(python_of("#loc7", aliases), "lib/net.py:11");
  EXPECT_EQ(python_of("#loc8", aliases), "train.py:29");
}

TEST(PythonLines, AreBehindAsManyAliasesAsLabelsAre) {
  EXPECT_EQ(python_of("#loc0", chain_of_aliases(1000, R"("f.py":3:4)")), "f.py:3");
  EXPECT_EQ(python_of("#loc0", chain_of_aliases(1001, R"("f.py":3:4)")), "");
  EXPECT_EQ(python_of("#loc0", chain_of_aliases(3, "#loc0")), "");
  EXPECT_EQ(python_of("#loc0", chain_of_aliases(3, R"(fused[#loc0, "f.py":3:4])")), "f.py:3");
}

TEST(PythonLines, AreThoseOfTheUserInFrontOfThoseOfPackages) {
  const std::string package = "\"/venv/lib/python3.11/site-packages/flax/linen/linear.py\":263:4";
  EXPECT_EQ(python_of("callsite(" + package + " at \"train.py\":7:2)"), "train.py:7");
  EXPECT_EQ(python_of(package), "linear.py:263");
}

TEST(PythonLines, TellNothingOfFoldersAboveTheModuleAndTheCurrentOne) {
  const auto python = [](const std::string& file, const std::string& module) {
    const std::string body =
        "%0 = stablehlo.add %a, %b : tensor<2x3xf32> loc(\"" + file + "\":3:4)";
    return import_stablehlo(in_main(body), module).main.ops().at(0).location.python.file;
  };
  const std::filesystem::path here = std::filesystem::current_path();
  EXPECT_EQ(python((here / "net/model.py").string(), "net/f.mlir"), "model.py");
  EXPECT_EQ(python((here / "net/model.py").string(), "out/f.mlir"), "net/model.py");
  EXPECT_EQ(python("/home/user/project/net/model.py", "/home/user/project/f.mlir"), "net/model.py");
  EXPECT_EQ(python("/home/user/project2/model.py", "/home/user/project/f.mlir"), "model.py");
  EXPECT_EQ(python("net/model.py", "/home/user/project/f.mlir"), "net/model.py");
}

TEST(PythonLines, OfInlinedFunctionsAreTheirOwnOrThoseOfTheirCall) {
  const Module module = import_stablehlo(
      "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = call @f(%a) : (tensor<f32>) -> tensor<f32> loc(\"train.py\":5:1)\n"
      "  %1 = stablehlo.abs %0 : tensor<f32>\n"
      "  return %1 : tensor<f32>\n}\n"
      "func.func private @f(%a: tensor<f32>) -> tensor<f32> {\n"
      "  %0 = stablehlo.abs %a : tensor<f32> loc(\"exp\")\n"
      "  %1 = stablehlo.abs %0 : tensor<f32> loc(\"net.py\":9:1)\n"
      "  return %1 : tensor<f32>\n}\n",
      "f.mlir");
  const std::vector<Op>& ops = module.main.ops();
  EXPECT_EQ(ops.at(0).location, (OpLocation{{"f.mlir", 7, 8}, {"train.py", 5, 0}}));
  EXPECT_EQ(ops.at(1).location.python.text(), "net.py:9");
  EXPECT_EQ(ops.at(2).location.python.text(), "");
}

TEST(PythonLines, OfOpsThatAreRefusedAreInTheMessage) {
  const Refusal refused = refusal(
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %0 = \"stablehlo.async_start\"(%a) <{dimension = 0 : i64}> ({\n"
      "  ^bb0(%x: tensor<f32> loc(\"sort\"), %y: tensor<f32> loc(\"sort\")):\n"
      "    %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> "
      "loc(\"other.py\":1:1)\n"
      "    stablehlo.return %1 : tensor<i1> loc(#loc1)\n"
      "  }) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc2)\n"
      "  %2 = call @draw(%0) : (tensor<4xf32>) -> tensor<4xf32> loc(\"train.py\":18:4)\n"
      "  %3 = stablehlo.convert %2 : (tensor<4xf32>) -> tensor<4xf80> loc(\"train.py\":19:4)\n"
      "  return %3 : tensor<4xf80>\n}\n"
      "func.func private @draw(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %0 = \"stablehlo.async_done\"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc(\"rng\")\n"
      "  return %0 : tensor<4xf32>\n}\n"
      "#loc1 = loc(unknown)\n"
      "#loc2 = loc(\"jit(f)/sort\"(\"train.py\":17:9))\n");
  EXPECT_EQ(refused.code, ExitCode::kUnsupported);
  EXPECT_EQ(refused.problems,
            (std::vector<std::string>{
                "2:8: op stablehlo.async_start is not supported (train.py:17)",
                "8:50: element type f80 is not supported (train.py:19, and 1 more place); " +
                    supported_dtypes(),
                "12:8: op stablehlo.async_done is not supported (train.py:18)"}));
}

TEST(ImportErrors, WhatIsNotSupportedIsSaidOnceAndCounted) {
  std::string body;
  for (int i = 0; i < 11; ++i) {
    body += "%" + std::to_string(i) + " = stablehlo.iota dim = 0 : tensor<" +
            std::to_string(i + 1) + "xui7> loc(\"r.py\":" + std::to_string(i + 5) + ":1)\n";
  }
  const Refusal refused = refusal(in_main(body));
  ASSERT_EQ(refused.problems.size(), 1u);
  EXPECT_EQ(refused.problems[0],
            "2:31: element type ui7 is not supported (r.py:5, and 10 more places); " +
                supported_dtypes());
}

TEST(RefusedOps, AreSortedAndNoneOfThemIsSupported) {
  std::string_view last;
  for (const std::string_view op : import::refused_ops()) {
    EXPECT_LT(last, op);
    EXPECT_EQ(find_op(op), nullptr) << op;
    last = op;
  }
}

}  // namespace
}  // namespace superstep
