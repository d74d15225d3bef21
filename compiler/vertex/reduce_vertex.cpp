#include "compiler/vertex/interpret.h"
#include "compiler/vertex/reduce.h"
#include "compiler/vertex/reduce_operation.h"

namespace superstep::vertex {

VertexState Reduce::State::words() const {
  std::vector<StateWord> words{StateWord::number(outer), StateWord::number(reduced),
                               StateWord::number(inner)};
  const std::size_t end = words.size() + 3 * values.size();
  std::vector<StateWord> constants;
  for (const Value& value : values) {
    words.push_back(value.constant ? StateWord::own(end + constants.size()) : value.initial);
    if (value.constant) constants.push_back(StateWord::number(*value.constant));
  }
  for (const Value& value : values) words.push_back(value.output);
  for (const Value& value : values) words.push_back(value.input);
  words.insert(words.end(), constants.begin(), constants.end());
  return words;
}

void Reduce::interpret(const StateView& state) const {
  const std::size_t k = dtypes.size();
  const std::int64_t outers = state.number(0), reduced = state.number(1), inners = state.number(2);
  const std::vector<DType> elements = element_dtypes(expression, dtypes);
  std::vector<HostTensor> initial;
  for (std::size_t i = 0; i < k; ++i) initial.push_back(state.scalar(3 + i, dtypes[i]));
  for (std::int64_t outer = 0; outer < outers; ++outer) {
    for (std::int64_t inner = 0; inner < inners; ++inner) {
      std::vector<HostTensor> values = initial;
      for (std::int64_t r = 0; r < reduced; ++r) {
        std::vector<HostTensor> inputs = values;
        for (std::size_t i = 0; i < k; ++i) {
          const std::int64_t at = (outer * reduced + r) * inners + inner;
          const auto size = static_cast<std::int64_t>(size_of(elements[i]));
          inputs.push_back(state.pointer(3 + 2 * k + i).plus(at * size).element(elements[i]));
        }
        for (std::size_t i = 0; i < k; ++i) {
          values[i] = evaluate_expression(expression, outputs[i], inputs);
        }
      }
      for (std::size_t i = 0; i < k; ++i) {
        const auto size = static_cast<std::int64_t>(values[i].data.size());
        state.pointer(3 + k + i)
            .plus((outer * inners + inner) * size)
            .write(values[i].data.data(), values[i].data.size());
      }
    }
  }
}

}  // namespace superstep::vertex
