// Ops on f64 share their code, whatever numbers they compute with.

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/compile.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/program/program.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

/// A Chebyshev series with so many coefficients that are constants, by Clenshaw's recurrence, as
/// JAX writes them out, and two functions of it.
Module chebyshev(int coefficients) {
  Module module;
  GraphBuilder builder(module.main, {});
  const Tensor x = builder.argument({kF64, {9}});
  Tensor now = x.like(0), before = now, last = now;
  for (int i = 0; i < coefficients; ++i) {
    last = before;
    before = now;
    now = x * before - last + std::sin(i + 1.0) / (i + 1);
  }
  const Tensor series = (now - last) * 0.5;
  const Tensor chosen = select(series < 0.1, builder.apply(kExponentialOp, {series}), series / 3.0);
  module.main.set_results({series.id, chosen.id});
  module.argument_alias.resize(1);
  return module;
}

std::size_t codelets(const Module& module) {
  std::size_t count = 0;
  CompileOptions options;
  options.on_steps = [&](const LoweredProgram& program) { count = program.codelets.size(); };
  static_cast<void>(compile(module, load_machine("tiny4"), options));
  return count;
}

TEST(SharedCode, OfASeriesOnDoublesDoesNotGrowWithItsLength) {
  EXPECT_LE(codelets(chebyshev(24)), codelets(chebyshev(12)) + 1);
}

/// Products of a tensor that is there from the start, each by what an exchange has to bring first;
/// every second one in the other order if `both_orders`.
Module products_of_sums(bool both_orders) {
  Module module;
  GraphBuilder builder(module.main, {});
  const Tensor b = builder.argument({kF64, {40}});
  Tensor value = builder.argument({kF64, {40}});
  for (int i = 0; i < 20; ++i) {
    const Tensor total = broadcast(sum(value, {0}), {40}, {});
    value = both_orders && i % 2 == 0 ? b * total : total * b;
  }
  module.main.set_results({value.id});
  module.argument_alias.resize(2);
  return module;
}

std::size_t steps_of_formulas(const Module& module) {
  std::size_t count = 0;
  CompileOptions options;
  options.on_steps = [&](const LoweredProgram& program) {
    count = 0;
    for (const vertex::Vertex& codelet : program.codelets) {
      const auto* formula = std::get_if<vertex::Elementwise>(&codelet);
      if (formula != nullptr) count += formula->expression.steps().size();
    }
  };
  static_cast<void>(compile(module, load_machine("tiny4"), options));
  return count;
}

TEST(SharedCode, IsTheSameWhicheverOperandIsThereFirst) {
  EXPECT_EQ(steps_of_formulas(products_of_sums(true)), steps_of_formulas(products_of_sums(false)));
}

TEST(SharedCode, ComputesWithTheNumbersOfEachUse) {
  const Module module = chebyshev(12);
  const HostTensor x = vector_of(kF64, {-1.9, -1, -0.3, 0, 1e-300, 0.7, 1.2, 1.99, INFINITY});
  const std::vector<HostTensor> expected = evaluate(module.main, std::vector{x});
  const RunResult found =
      run_image(compile(module, load_machine("tiny4")), std::vector<HostTensor>{x}, {});
  ASSERT_FALSE(found.trap);
  EXPECT_TRUE(close(found.results[0], expected[0], 0));
  EXPECT_TRUE(close(found.results[1], expected[1], 1));
}

}  // namespace
}  // namespace superstep
