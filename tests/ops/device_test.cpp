#include <gtest/gtest.h>

#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using Indices = std::vector<std::int64_t>;

OpCase collective_of(const std::string& name, Attributes attributes,
                     std::vector<Graph> regions = {}) {
  const HostTensor x = vector_of(DType::kF32, {1, 2});
  return {"stablehlo." + name, "", {x}, std::move(attributes), {x}, 0, std::move(regions)};
}

TEST(Collectives, OfMoreThanOneDeviceAreRefusedAtTheirPlace) {
  const Graph add = binary_reducer("stablehlo.add", DType::kF32);
  for (const OpCase& use :
       {collective_of("all_reduce", {{"replica_groups", Indices{0, 1}}}, {add}),
        collective_of("all_gather", {{"replica_groups", Indices{1}}, {"all_gather_dim", 0L}}),
        collective_of("collective_broadcast", {{"replica_groups", Indices{2, 1, 0}}}),
        collective_of("collective_permute", {{"source_target_pairs", Indices{0, 1, 1, 0}}})}) {
    try {
      static_cast<void>(graph_of(use));
      FAIL() << use.op;
    } catch (const Unsupported& error) {
      EXPECT_EQ(error.problems().at(0).where.text(), "case.mlir:3:7");
    }
  }
}

TEST(Collectives, FillGroupsUpAndMayHaveNone) {
  const Graph add = binary_reducer("stablehlo.add", DType::kF32);
  static_cast<void>(
      graph_of(collective_of("all_reduce", {{"replica_groups", Indices{0, -1}}}, {add})));
  static_cast<void>(graph_of(collective_of("all_reduce", {{"replica_groups", Indices{}}}, {add})));
  EXPECT_THROW(static_cast<void>(graph_of(collective_of("all_reduce", {}, {add}))), MalformedInput);
}

}  // namespace
}  // namespace superstep
