#include "compiler/cost/formula_costs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/cost/launch_costs.h"
#include "compiler/vertex/elementwise.h"

namespace superstep {

std::uint32_t FormulaCosts::cycles(vertex::Folded formula, std::uint32_t inputs) {
  const auto computes = [](const vertex::Expression::Step& step) { return !step.operands.empty(); };
  if (std::ranges::none_of(formula.expression.steps(), computes)) return 0;
  const auto [known, is_new] =
      known_.try_emplace(expression_key(formula.expression, formula.outputs));
  if (!is_new) return known->second;
  const std::size_t outputs = formula.outputs.size();
  const vertex::Elementwise vertex{std::move(formula.expression), std::move(formula.outputs),
                                   std::vector<vertex::Access>(inputs, vertex::Access::kVector)};
  const LaunchCosts costs(machine_, vertex.code(machine_));
  const auto launch = [&](std::int64_t elements) {
    vertex::Elementwise::State state{.elements = elements, .outputs = {}, .inputs = {}};
    state.outputs.resize(outputs, StateWord::number(0));
    state.inputs.resize(inputs);
    return costs.cycles(state.words());
  };
  known->second = static_cast<std::uint32_t>(launch(2 * kElements) - launch(kElements));
  return known->second;
}

}  // namespace superstep
