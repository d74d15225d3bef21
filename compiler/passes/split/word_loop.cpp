#include "compiler/passes/split/word_loop.h"

namespace superstep::split {

GraphWord GraphTurn::of(std::span<const std::uint32_t> table, GraphWord like) const {
  HostTensor numbers(TensorType{DType::kU32, {static_cast<std::int64_t>(table.size())}});
  for (std::size_t i = 0; i < table.size(); ++i) numbers.set(i, table[i]);
  GraphBuilder& builder = *number.builder;
  Op op;
  op.attributes = {{"slice_sizes", std::vector<std::int64_t>{1}}};
  const Tensor one =
      builder.apply(kDynamicSliceOp, {builder.constant(std::move(numbers)), number}, std::move(op));
  return {broadcast(reshape(one, {}), like.tensor.shape(), {})};
}

std::vector<GraphWord> loop(std::size_t turns, const std::vector<GraphWord>& words,
                            const GraphStep& step) {
  std::vector<Tensor> values = {words.front().tensor.builder->number(DType::kI32, 0)};
  for (const GraphWord& word : words) values.push_back(word.tensor);
  const std::vector<Tensor> results =
      repeat(static_cast<std::int64_t>(turns), values, [&](std::span<const Tensor> arguments) {
        std::vector<GraphWord> before;
        for (const Tensor& argument : arguments.subspan(1)) before.push_back({argument});
        std::vector<Tensor> after = {arguments[0] + 1.0};
        for (const GraphWord& word : step(before, {arguments[0]})) after.push_back(word.tensor);
        return after;
      });
  std::vector<GraphWord> last;
  for (std::size_t i = 1; i < results.size(); ++i) last.push_back({results[i]});
  return last;
}

}  // namespace superstep::split
