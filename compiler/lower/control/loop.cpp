#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/control/control_word.h"
#include "compiler/ops/graph_builder.h"

namespace superstep {
namespace {

/// The condition of a loop, whose result is a word.
Graph with_word(Graph condition, const OpLocation& at) {
  GraphBuilder builder(condition, at);
  const Tensor word = convert(builder.value(condition.results()[0]), DType::kU32);
  condition.set_results({word.id});
  return condition;
}

}  // namespace

/// Values that the body changes have storage of their own, in which it leaves them; the others stay
/// where they are.
void lower_while(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  const Origin origin = values.origin(op);
  const Graph& step = op.regions[1];
  const auto changes = [&](std::size_t i) {
    return i < op.results.size() && step.results()[i] != step.arguments()[i];
  };
  RegionBuffers condition;
  std::uint32_t superstep = 0;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    condition.arguments.emplace_back();
    if (values.elements(operand) == 0) continue;
    Place place{values.stored(operand), {}};
    place.time = values.time(operand);
    if (changes(i)) {
      const ValueId result = op.results[i];
      const BufferId carried = values.add_storage(result, values.assigned().of(result));
      place = values.stored(operand, block.builder.buffer(carried).layout);
      place.time = place.time.next_round();
      copy_elements(block.builder, place.buffer, carried, place.time);
      place.buffer = carried;
    }
    condition.arguments.back() = place.buffer;
    superstep = std::max(superstep, place.time.superstep + 1);
  }
  const BufferId predicate = add_control_word(values, block.builder, origin, ".predicate");
  condition.results = {predicate};
  RegionBuffers body{condition.arguments, condition.arguments};
  body.results.resize(op.results.size());
  for (std::size_t i = 0; i < body.results.size(); ++i) {
    if (!changes(i)) body.results[i].reset();
  }
  Loop loop{lower_region(block, with_word(op.regions[0], op.location), condition),
            lower_region(block, step, body), predicate};
  block.builder.add_control(superstep, std::move(loop));
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (!changes(i)) {
      values.set_same(op.results[i], op.operands[i]);
    } else if (body.results[i]) {
      values.set_stored(op.results[i], *body.results[i], {superstep, 0});
    }
  }
}

}  // namespace superstep
