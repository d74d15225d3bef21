#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compiler/compile.h"
#include "compiler/image/build.h"
#include "compiler/ops/graph_builder.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"
#include "tests/generated/program.h"

namespace superstep {
namespace {

/// A function of some tensors that changes one of them.
struct Function {
  Graph graph;
  std::size_t argument = 0, result = 0;  ///< what it changes, and to what

  /// Calls it so often, each time on what it made before.
  void call(Graph& into, std::vector<ValueId>& arguments, int times) const {
    for (; times > 0; --times) {
      std::vector<ValueId> values(graph.values().size());
      for (std::size_t a = 0; a < arguments.size(); ++a) {
        values[index(graph.arguments()[a])] = arguments[a];
      }
      for (const Op& op : graph.ops()) {
        Op copy = op;
        for (ValueId& operand : copy.operands) operand = values[index(operand)];
        const std::vector<ValueId> results = into.add_op(std::move(copy)).results;
        for (std::size_t r = 0; r < results.size(); ++r) values[index(op.results[r])] = results[r];
      }
      arguments[argument] = values[index(graph.results()[result])];
    }
  }
};

std::optional<Function> function_of(const Graph& graph) {
  for (std::size_t a = 0; a < graph.arguments().size(); ++a) {
    for (std::size_t r = 0; r < graph.results().size(); ++r) {
      const TensorType& type = graph.type(graph.results()[r]);
      if (type == graph.type(graph.arguments()[a]) && type.elements() > 0) {
        return Function{graph, a, r};
      }
    }
  }
  return std::nullopt;
}

/// Calls a function several times in front of a loop, in its body, and behind it.
Module calling(const Function& function) {
  Module module{.name = "calling", .main = {}, .argument_alias = {}};
  Graph &main = module.main, condition, body;
  std::vector<ValueId> now;
  for (const ValueId argument : function.graph.arguments()) {
    now.push_back(main.add_argument(function.graph.type(argument), "argument"));
  }
  function.call(main, now, 7);
  Op loop;
  loop.definition = find_op("stablehlo.while");
  loop.operands = now;
  loop.operands.push_back(GraphBuilder(main, {}).number(DType::kI32, 0).id);
  std::vector<ValueId> in_body;
  for (const ValueId operand : loop.operands) {
    condition.add_argument(main.type(operand), "carried");
    in_body.push_back(body.add_argument(main.type(operand), "carried"));
    loop.declared.push_back(main.type(operand));
  }
  GraphBuilder condition_builder(condition, {}), body_builder(body, {});
  condition.set_results({(condition_builder.value(condition.arguments().back()) < 2).id});
  const ValueId count = (body_builder.value(in_body.back()) + 1).id;
  in_body.pop_back();
  function.call(body, in_body, 7);
  in_body.push_back(count);
  body.set_results(in_body);
  loop.regions = {condition, body};
  now = main.add_op(std::move(loop)).results;
  now.pop_back();
  function.call(main, now, 7);
  main.set_results({now[function.argument]});
  return module;
}

TEST(Generated, FunctionsThatAreCalledManyTimesComputeTheSameInLessCode) {
  const MachineConfig machine = load_machine("tiny4");
  std::size_t compared = 0, shorter = 0;
  for (std::uint64_t seed = 1; compared < 50; ++seed) {
    const Program program = generate_program(seed);
    const std::optional<Function> function = function_of(program.module.main);
    if (!function) continue;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Module module = calling(*function);
    std::optional<Module> simple;
    std::optional<LoweredProgram> lowered;
    CompileOptions options;
    options.on_graph = [&](const Module& by_passes) { simple = by_passes; };
    options.on_steps = [&](const LoweredProgram& steps) { lowered = steps; };
    const ProgramImage plain = compile(module, machine, options);
    ProgramImage image = build_image(*simple, machine, *lowered, {}, {}, false, true);
    image.arguments = plain.arguments;
    image.results = plain.results;
    for (std::size_t s = 0; s < image.streams.size(); ++s) {
      image.streams[s].type = plain.streams[s].type;
    }
    const RunResult expected = run_image(plain, program.arguments, {});
    const RunResult found = run_image(image, program.arguments, {});
    ASSERT_FALSE(expected.trap || found.trap);
    EXPECT_EQ(found.results[0].data, expected.results[0].data);
    ++compared;
    shorter += image.calls.size() > plain.calls.size();
  }
  EXPECT_GT(shorter, 3U);
}

}  // namespace
}  // namespace superstep
