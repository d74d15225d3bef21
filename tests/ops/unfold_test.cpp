#include "compiler/ops/unfold.h"

#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

Graph unfolded(const TensorType& type, const std::vector<Unfolded>& windows) {
  Graph graph;
  GraphBuilder builder(graph, OpLocation{});
  const Tensor x{&builder, graph.add_argument(type, {})};
  graph.set_results({unfold(x, windows).id});
  return graph;
}

TEST(Unfold, GivesWindowsThatOverlapAndHaveGaps) {
  const HostTensor x = i32({7}, {0, 1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(close(evaluate(unfolded(x.type, {{0, 3, 2, 1}}), std::vector{x})[0],
                    i32({3, 3}, {0, 1, 2, 2, 3, 4, 4, 5, 6}), 0));
  EXPECT_TRUE(close(evaluate(unfolded(x.type, {{0, 2, 1, 4}}), std::vector{x})[0],
                    i32({3, 2}, {0, 4, 1, 5, 2, 6}), 0));
}

TEST(Unfold, PutsPlacesBehindAllDimensionsOnMachinesToo) {
  const HostTensor x = i32({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const HostTensor expected = i32(
      {2, 3, 2, 2}, {0, 1, 4, 5, 1, 2, 5, 6, 2, 3, 6, 7, 4, 5, 8, 9, 5, 6, 9, 10, 6, 7, 10, 11});
  const Graph graph = unfolded(x.type, {{0, 2, 1, 1}, {1, 2, 1, 1}});
  EXPECT_TRUE(close(evaluate(graph, std::vector{x})[0], expected, 0));
  for (const char* machine : {"tiny4", "bow"}) {
    EXPECT_TRUE(close(run_on(machine, graph, std::vector{x})[0], expected, 0)) << machine;
  }
}

}  // namespace
}  // namespace superstep
