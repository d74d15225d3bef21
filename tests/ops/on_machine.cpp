#include "tests/ops/on_machine.h"

#include <stdexcept>
#include <utility>

#include "compiler/compile.h"
#include "compiler/ops/op.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"

namespace superstep {

std::vector<HostTensor> run_on(const std::string& machine, const Graph& graph,
                               std::span<const HostTensor> arguments) {
  Module module;
  std::vector<HostTensor> sent(arguments.begin(), arguments.end());
  std::vector<ValueId> renamed(graph.values().size());
  for (const ValueId argument : graph.arguments()) {
    renamed[index(argument)] =
        module.main.add_argument(graph.type(argument), graph.value(argument).name);
  }
  for (const Op& op : graph.ops()) {
    if (op.definition->name == "stablehlo.constant") {
      const ValueId result = op.results[0];
      renamed[index(result)] = module.main.add_argument(graph.type(result), "constant");
      sent.push_back(op.definition->evaluate(op, {})[0]);
      continue;
    }
    Op copy = op;
    for (ValueId& operand : copy.operands) operand = renamed[index(operand)];
    const std::vector<ValueId> results = module.main.add_op(std::move(copy)).results;
    for (std::size_t i = 0; i < results.size(); ++i) renamed[index(op.results[i])] = results[i];
  }
  std::vector<ValueId> results;
  for (const ValueId result : graph.results()) results.push_back(renamed[index(result)]);
  module.main.set_results(std::move(results));
  module.argument_alias.resize(sent.size());
  RunResult run = run_image(compile(module, load_machine(machine)), sent, {});
  if (run.trap) throw std::runtime_error(run.trap->text());
  return std::move(run.results);
}

}  // namespace superstep
