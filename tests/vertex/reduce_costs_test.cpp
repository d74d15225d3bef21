#include "compiler/cost/reduce_costs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gc200.h"
#include "tests/vertex/vertex_run.h"

namespace superstep::vertex {
namespace {

Reduce reduction(Primitive primitive, DType dtype) {
  Reduce reduce{.expression = {}, .outputs = {}, .dtypes = {dtype}};
  const Node sum = reduce.expression.input(0, dtype), element = reduce.expression.input(1, dtype);
  reduce.outputs = {reduce.expression.apply(primitive, {sum, element})};
  return reduce;
}

/// Cycles of `width` reductions of `depth` elements in one launch on the simulated tile.
std::int64_t simulated(Reduce reduce, std::int64_t width, std::int64_t depth, bool in_rows) {
  const DType dtype = reduce.dtypes[0];
  if (in_rows) {
    reduce.by = reduce_by(reduce.expression, reduce.outputs, reduce.dtypes,
                          static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(depth));
  }
  VertexRun tile(gc200().tile.workers);
  const auto word = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  const std::vector<std::uint32_t> state{word(in_rows ? width : 1),
                                         word(depth),
                                         word(in_rows ? 1 : width),
                                         tile.put(HostTensor({dtype, {}})),
                                         tile.put(HostTensor({dtype, {width}})),
                                         tile.put(HostTensor({dtype, {width, depth}}))};
  return static_cast<std::int64_t>(tile.run(reduce.code(tile.machine()), state));
}

TEST(ReduceCosts, AreTheSimulatedCyclesOfTheLaunchesAndWhatALaunchCosts) {
  const MachineConfig machine = gc200();
  const Costs costs(machine);
  std::size_t cut = 0;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32}) {
    for (const Primitive primitive : {Primitive::kAdd, Primitive::kMax}) {
      for (const bool in_rows : {false, true}) {
        const Reduce reduce = reduction(primitive, dtype);
        const ReduceCosts reduce_costs(machine, reduce, in_rows, true);
        for (const std::int64_t width : {1, 2, 3, 7, 16, 33}) {
          for (const std::int64_t depth : {1, 2, 3, 7, 24, 79, 96, 480}) {
            SCOPED_TRACE(fmt::format("{} x {} of {}{}", width, depth, name_of(dtype),
                                     in_rows ? " in rows" : ""));
            const std::int64_t parts = reduce_costs.parts(width, depth);
            const bool are_rows = in_rows || width == 1;
            std::int64_t cycles =
                costs.launch_of(simulated(reduce, width * parts, depth / parts, are_rows));
            if (parts > 1) {
              ++cut;
              cycles += costs.launch_of(simulated(reduce, width, parts, are_rows));
            }
            EXPECT_EQ(reduce_costs.cycles(width, depth), cycles);
          }
        }
      }
    }
  }
  EXPECT_GT(cut, 0U);
}

}  // namespace
}  // namespace superstep::vertex
