// What generated programs are made of.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "compiler/ops/op.h"
#include "tests/generated/program.h"

namespace superstep {
namespace {

constexpr std::uint64_t kPrograms = 1000;

struct Uses {
  std::set<std::string_view> ops, dtypes;
  std::set<std::size_t> ranks;
  bool branches_or_indexes = false;

  void add(const Graph& graph) {
    constexpr std::array<std::string_view, 4> kIndexing = {"stablehlo.dynamic_slice",
                                                           "stablehlo.dynamic_update_slice",
                                                           "stablehlo.gather", "stablehlo.scatter"};
    for (const Value& value : graph.values()) {
      dtypes.insert(name_of(value.type.dtype));
      ranks.insert(value.type.shape.size());
    }
    for (const Op& op : graph.ops()) {
      const OpDefinition& definition = *op.definition;
      ops.insert(definition.name);
      branches_or_indexes = branches_or_indexes || definition.traits.control != Control::kNone ||
                            std::ranges::find(kIndexing, definition.name) != kIndexing.end();
      for (const Graph& region : op.regions) add(region);
    }
  }
};

/// Ops that lowering makes, which no text has; those that need a host's queues; and those of which
/// operands must be constants, which then are the static ones (tests/ops has their cases).
bool is_left_out(std::string_view op) {
  constexpr std::array<std::string_view, 12> kLeftOut = {"stablehlo.dynamic_broadcast_in_dim",
                                                         "stablehlo.dynamic_conv",
                                                         "stablehlo.dynamic_gather",
                                                         "stablehlo.dynamic_iota",
                                                         "stablehlo.dynamic_pad",
                                                         "stablehlo.dynamic_reshape",
                                                         "stablehlo.infeed",
                                                         "stablehlo.outfeed",
                                                         "stablehlo.real_dynamic_slice",
                                                         "stablehlo.recv",
                                                         "stablehlo.send",
                                                         "stablehlo.set_dimension_size"};
  return op.starts_with("superstep.") || std::ranges::find(kLeftOut, op) != kLeftOut.end();
}

TEST(GeneratedPrograms, UseEveryOpTypeAndRank) {
  Uses uses;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    uses.add(generate_program(seed).module.main);
  }
  for (const OpDefinition* op : all_ops()) {
    if (is_left_out(op->name)) continue;
    EXPECT_TRUE(uses.ops.contains(op->name)) << op->name << " has no row in tests/generated";
  }
  for (const DType dtype : kAllDTypes) EXPECT_TRUE(uses.dtypes.contains(name_of(dtype)));
  for (std::size_t rank = 0; rank <= 5; ++rank) EXPECT_TRUE(uses.ranks.contains(rank)) << rank;
}

TEST(GeneratedPrograms, LoopBranchOrIndexInAThirdOfThem) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    Uses uses;
    uses.add(generate_program(seed).module.main);
    found += uses.branches_or_indexes ? 1 : 0;
  }
  EXPECT_GT(found, kPrograms * 3 / 10);
}

}  // namespace
}  // namespace superstep
