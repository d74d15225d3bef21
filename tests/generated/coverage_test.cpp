// What generated programs are made of.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "tests/generated/program.h"
#include "tests/generated/stablehlo_text.h"

namespace superstep {
namespace {

constexpr std::uint64_t kPrograms = 1000;

struct Uses {
  std::set<std::string_view> ops, dtypes;
  std::set<std::size_t> ranks;

  void add(const Graph& graph) {
    for (const Value& value : graph.values()) {
      dtypes.insert(name_of(value.type.dtype));
      ranks.insert(value.type.shape.size());
    }
    for (const Op& op : graph.ops()) {
      ops.insert(op.definition->name);
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

/// Adds the lines of the text whose ops are loops or branches, or one of these.
void add_lines(const Graph& graph, std::span<const std::string_view> indexing,
               std::set<std::uint32_t>& lines) {
  for (const Op& op : graph.ops()) {
    if (op.definition->traits.control != Control::kNone ||
        std::ranges::find(indexing, op.definition->name) != indexing.end()) {
      lines.insert(op.location.module.line);
    }
    for (const Graph& region : op.regions) add_lines(region, indexing, lines);
  }
}

/// Whether a loop, a branch or an index of the text is still one where steps are made of it: not
/// folded, unrolled or known beforehand. What other ops became loops of their own does not count.
bool loops_branches_or_indexes(const Module& written, const MachineConfig& machine) {
  constexpr std::array<std::string_view, 4> kWritten = {"stablehlo.dynamic_slice",
                                                        "stablehlo.dynamic_update_slice",
                                                        "stablehlo.gather", "stablehlo.scatter"};
  constexpr std::array<std::string_view, 2> kCompiled = {"superstep.take", "superstep.put"};
  std::set<std::uint32_t> lines, kept;
  add_lines(written.main, kWritten, lines);
  CompileOptions options;
  options.on_graph = [&](const Module& compiled) { add_lines(compiled.main, kCompiled, kept); };
  (void)compile(written, machine, options);
  return std::ranges::any_of(lines, [&](std::uint32_t line) { return kept.contains(line); });
}

TEST(GeneratedPrograms, LoopBranchOrIndexIsCompiledInAThirdOfThem) {
  const MachineConfig machine = load_machine("tiny4");
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const std::string text = stablehlo_text(generate_program(seed).module);
    found += loops_branches_or_indexes(import_stablehlo(text, "generated.mlir"), machine) ? 1 : 0;
  }
  EXPECT_GT(found, kPrograms * 3 / 10);
}

}  // namespace
}  // namespace superstep
