#include "compiler/vertex/elementwise.h"
#include "compiler/vertex/interpret.h"

namespace superstep::vertex {

VertexState Elementwise::State::words() const {
  std::vector<StateWord> words{StateWord::number(elements)};
  words.insert(words.end(), outputs.begin(), outputs.end());
  for (const Input& input : inputs) {
    words.push_back(input.address);
    if (state_words(input.access) == 1) continue;
    words.push_back(StateWord::number(input.start));
    words.push_back(StateWord::number(input.period));
  }
  return words;
}

VertexState unary_state(std::int64_t elements, StateWord output, StateWord input) {
  return Elementwise::State{elements, {output}, {{Access::kVector, input}}}.words();
}

void Elementwise::interpret(const StateView& state) const {
  std::vector<DType> dtypes(inputs.size(), DType::kF32);
  for (const Expression::Step& step : expression.steps()) {
    if (step.primitive == Primitive::kInput) dtypes[step.bits] = step.dtype;
  }
  std::vector<std::size_t> words{1 + outputs.size()};
  for (const Access access : inputs) words.push_back(words.back() + state_words(access));
  const auto element_of = [&](std::size_t i, std::int64_t e) -> std::int64_t {
    const std::size_t word = words[i];
    switch (inputs[i]) {
      case Access::kScalar:
        return 0;
      case Access::kCyclic:
      case Access::kAlignedCyclic:
        return (state.number(word + 1) + e) % state.number(word + 2);
      case Access::kStretched:
      case Access::kAlignedStretched:
        return (state.number(word + 1) + e) / state.number(word + 2);
      case Access::kVector:
        break;
    }
    return e;
  };
  for (std::int64_t e = 0; e < state.number(0); ++e) {
    std::vector<HostTensor> elements;
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      const std::int64_t at = element_of(i, e) * static_cast<std::int64_t>(size_of(dtypes[i]));
      elements.push_back(state.pointer(words[i]).plus(at).element(dtypes[i]));
    }
    std::vector<HostTensor> values;
    for (const Node node : outputs) {
      values.push_back(evaluate_expression(expression, node, elements));
    }
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const auto size = static_cast<std::int64_t>(values[o].data.size());
      state.pointer(1 + o).plus(e * size).write(values[o].data.data(), values[o].data.size());
    }
  }
}

}  // namespace superstep::vertex
