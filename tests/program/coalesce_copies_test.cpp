#include "compiler/program/coalesce_copies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/op.h"
#include "compiler/program/blocks.h"
#include "tests/program/plan_interpreter.h"

namespace superstep {
namespace {

/// Three trips over two tensors, of which the body makes %p and %q.
std::string loop(const std::string& first, const std::string& body) {
  return "func.func @main(%x: tensor<64xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<64xf32> "
         "{tf.aliasing_output = 1 : i32}) -> (tensor<64xf32>, tensor<64xf32>) {\n"
         "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
         "%one = stablehlo.constant dense<1> : tensor<i32>\n"
         "%limit = stablehlo.constant dense<3> : tensor<i32>\n" +
         first +
         "%l:3 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0) : tensor<i32>, tensor<64xf32>, "
         "tensor<64xf32> cond {\n"
         "%c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> "
         "tensor<i1>\n"
         "stablehlo.return %c : tensor<i1>\n} do {\n" +
         body +
         "%j = stablehlo.add %i, %one : tensor<i32>\n"
         "stablehlo.return %j, %p, %q : tensor<i32>, tensor<64xf32>, tensor<64xf32>\n}\n"
         "return %l#1, %l#2 : tensor<64xf32>, tensor<64xf32>\n}";
}

const std::string kDonated =
    "%a0 = stablehlo.optimization_barrier %x : tensor<64xf32>\n"
    "%b0 = stablehlo.optimization_barrier %y : tensor<64xf32>\n";
const std::string kMade =
    "%a0 = stablehlo.add %x, %y : tensor<64xf32>\n"
    "%b0 = stablehlo.multiply %x, %y : tensor<64xf32>\n";
const std::string kInPlace =
    "%p = stablehlo.add %a, %a : tensor<64xf32>\n"
    "%q = stablehlo.add %b, %a : tensor<64xf32>\n";
const std::string kSwap =
    "%p = stablehlo.optimization_barrier %b : tensor<64xf32>\n"
    "%q = stablehlo.optimization_barrier %a : tensor<64xf32>\n";

struct Found {
  LoweredProgram program;
  std::size_t copies = 0, used = 0;  ///< buffers of 64 elements that are used
};

/// Lowers a program, compares what it computes, and counts.
Found checked(const std::string& text) {
  const Module module = import_stablehlo(text, "test.mlir");
  Found found{lower(module, load_machine("tiny4"))};
  std::vector<HostTensor> arguments(2, HostTensor(TensorType{DType::kF32, {64}}));
  for (std::size_t i = 0; i < 64; ++i) {
    arguments[0].set(i, static_cast<float>(i));
    arguments[1].set(i, 0.5F - static_cast<float>(i));
  }
  const std::vector<HostTensor> expected = evaluate(module.main, arguments);
  const std::vector<TensorType> types{expected[0].type, expected[1].type};
  const auto results = PlanInterpreter(found.program).run(arguments, types);
  for (const std::size_t r : {0U, 1U}) EXPECT_EQ(results[r].data, expected[r].data) << r;
  for (const Superstep* superstep : supersteps_of(found.program)) {
    found.copies += static_cast<std::size_t>(std::ranges::count_if(
        superstep->computes, [](const ComputeSet& set) { return set.name.ends_with(".copy"); }));
  }
  const std::vector<Lifetime> lifetimes = lifetimes_of(found.program);
  for (std::size_t b = 0; b < lifetimes.size(); ++b) {
    if (!lifetimes[b].is_used()) continue;
    found.used += found.program.buffers[b].type.elements() == 64 ? 1 : 0;
  }
  return found;
}

TEST(CoalesceCopies, ALoopCarriesDonatedArgumentsWhereTheyAre) {
  const Found found = checked(loop(kDonated, kInPlace));
  EXPECT_EQ(found.copies, 0U);
  EXPECT_EQ(found.used, 2U);
}

TEST(CoalesceCopies, ASwapNeedsOneBufferMoreInEachTrip) {
  const Found found = checked(loop(kDonated, kSwap));
  EXPECT_EQ(found.used, 3U);
}

TEST(CoalesceCopies, WhatIsMadeForALoopIsMadeWhereItCarriesIt) {
  const Found found = checked(loop(kMade, kInPlace));
  EXPECT_LE(found.used, 4U);
}

TEST(CoalesceCopies, AnArgumentThatIsReadBehindTheLoopKeepsItsValue) {
  std::string text = loop(kDonated, kInPlace);
  text.replace(text.find("return %l#1, %l#2"), 17,
               "%r = stablehlo.add %l#2, %x : tensor<64xf32>\nreturn %l#1, %r");
  (void)checked(text);
}

/// The loop, in which a branch by the number of the trip changes %a.
std::string branching(const std::string& first_arm, const std::string& behind = "") {
  return loop(kDonated,
              "%p = \"stablehlo.case\"(%i) ({\n" + first_arm +
                  "stablehlo.return %u : tensor<64xf32>\n}, {\n"
                  "%u = stablehlo.negate %a : tensor<64xf32>\n"
                  "stablehlo.return %u : tensor<64xf32>\n}, {\n"
                  "stablehlo.return %a : tensor<64xf32>\n"
                  "}) : (tensor<i32>) -> tensor<64xf32>\n" +
                  (behind.empty() ? "%q = stablehlo.negate %b : tensor<64xf32>\n" : behind));
}

TEST(CoalesceCopies, ArmsChangeWhatALoopCarriesWhereItIs) {
  const Found found = checked(branching("%u = stablehlo.abs %a : tensor<64xf32>\n"));
  EXPECT_EQ(found.copies, 0U);
  EXPECT_EQ(found.used, 2U);
}

TEST(CoalesceCopies, WhatIsReadAfterAnArmHasChangedItIsKept) {
  EXPECT_GT(checked(branching("%t = stablehlo.optimization_barrier %a : tensor<64xf32>\n"
                              "%r = stablehlo.reverse %t, dims = [0] : tensor<64xf32>\n"
                              "%u = stablehlo.subtract %r, %a : tensor<64xf32>\n"))
                .used,
            2U);
  EXPECT_GT(checked(branching("%u = stablehlo.abs %a : tensor<64xf32>\n",
                              "%q = stablehlo.add %a, %p : tensor<64xf32>\n"))
                .used,
            2U);
}

TEST(CoalesceCopies, ALoopInALoopChangesWhatTheOuterOneCarries) {
  const Found found = checked(loop(
      kDonated,
      "%k:2 = stablehlo.while(%m = %zero, %d = %a) : tensor<i32>, tensor<64xf32> cond {\n"
      "%e = stablehlo.compare LT, %m, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %e : tensor<i1>\n} do {\n"
      "%n = stablehlo.add %m, %one : tensor<i32>\n"
      "%f = stablehlo.add %d, %d : tensor<64xf32>\n"
      "stablehlo.return %n, %f : tensor<i32>, tensor<64xf32>\n}\n"
      "%p = stablehlo.negate %k#1 : tensor<64xf32>\n"
      "%q = stablehlo.negate %b : tensor<64xf32>\n"));
  EXPECT_EQ(found.copies, 0U);
  EXPECT_EQ(found.used, 2U);
}

}  // namespace
}  // namespace superstep
