#include <algorithm>
#include <set>

#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

class OpCases : public ::testing::TestWithParam<OpCase> {};

TEST_P(OpCases, ReferenceAndLoweringGiveTheExpectedValues) {
  const OpCase& use = GetParam();
  const Graph graph = graph_of(use);
  const std::vector<HostTensor> results = evaluate(graph, use.operands);
  ASSERT_EQ(results.size(), use.expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(close(results[i], use.expected[i], use.ulp)) << "reference, result " << i;
  }
  const std::vector<HostTensor> lowered = run_lowering(graph.ops()[0], graph, use.operands);
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    EXPECT_TRUE(close(lowered[i], use.expected[i], use.ulp)) << "lowering, result " << i;
  }
}

TEST_P(OpCases, MachinesGiveTheExpectedValues) {
  const OpCase& use = GetParam();
  // Expected sums of floats are rounded once, a machine rounds each addition.
  const bool adds = use.op == "stablehlo.reduce" && is_float(use.operands[0].type.dtype);
  const std::uint64_t ulp = std::max<std::uint64_t>(use.ulp, adds ? 1 : 0);
  for (const char* machine : {"tiny4", "bow"}) {
    const std::vector<HostTensor> results = run_on(machine, graph_of(use), use.operands);
    ASSERT_EQ(results.size(), use.expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(close(results[i], use.expected[i], ulp)) << machine << ", result " << i;
    }
  }
}

std::string case_name(const ::testing::TestParamInfo<OpCase>& info) {
  std::string name = info.param.op + "_" + info.param.what;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ops, OpCases, ::testing::ValuesIn(all_cases()), case_name);

TEST(OpRegistry, IsSortedByName) {
  EXPECT_TRUE(std::ranges::is_sorted(all_ops(), {}, &OpDefinition::name));
  std::set<std::string_view> names;
  for (const OpDefinition* op : all_ops()) names.insert(op->name);
  EXPECT_EQ(names.size(), all_ops().size());
}

TEST(OpRegistry, FindsEveryOpByItsNameAndNothingElse) {
  for (const OpDefinition* op : all_ops()) EXPECT_EQ(find_op(op->name), op);
  EXPECT_EQ(find_op("stablehlo.ad"), nullptr);
  EXPECT_EQ(find_op("stablehlo.zzz"), nullptr);
  EXPECT_EQ(find_op(""), nullptr);
}

TEST(OpRegistry, HasACaseForEveryOp) {
  std::set<std::string> tested;
  for (const OpCase& use : all_cases()) tested.insert(use.op);
  // Constants as operands: dynamic_shapes_test.cpp.
  for (const char* op : {"broadcast_in_dim", "conv", "gather", "iota", "pad", "reshape"}) {
    tested.insert(std::string("stablehlo.dynamic_") + op);
  }
  tested.insert({"stablehlo.real_dynamic_slice", "stablehlo.set_dimension_size"});
  for (const OpDefinition* op : all_ops()) {
    if (op->traits.effect == Effect::kHost) continue;  // feeds_test.cpp
    EXPECT_TRUE(tested.contains(std::string(op->name))) << op->name;
  }
}

TEST(OpRegistry, SummarisesEveryOpInASentence) {
  for (const OpDefinition* op : all_ops()) {
    EXPECT_FALSE(op->summary.empty()) << op->name;
    EXPECT_EQ(op->summary.back(), '.') << op->name;
  }
}

}  // namespace
}  // namespace superstep
