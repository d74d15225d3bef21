#pragma once

#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Elementwise over n elements.
struct Elementwise {
  Expression expression;
  std::vector<Node> outputs;
  std::vector<Access> inputs;

  struct Input {
    Access access = Access::kVector;
    StateWord address;
    std::int64_t start = 0, period = 0;  ///< where it repeats
  };
  struct State {
    std::int64_t elements = 0;
    std::vector<StateWord> outputs;
    std::vector<Input> inputs;

    [[nodiscard]] VertexState words() const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const {
    return elementwise(machine, expression, outputs, inputs);
  }
  void interpret(const StateView& state) const;

  /// Whether all outputs are the only input.
  [[nodiscard]] bool is_copy() const {
    return inputs.size() == 1 && expression.steps().size() == 1;
  }
};

/// The state of an elementwise vertex with one output and one input, which does not repeat.
[[nodiscard]] VertexState unary_state(std::int64_t elements, StateWord output, StateWord input);

}  // namespace superstep::vertex
