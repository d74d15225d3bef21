#include <algorithm>
#include <vector>

#include "compiler/lower/block_lowering.h"

namespace superstep {

/// Results lie where the operands do. They are there in the round after that in which the last
/// operand is, so that nothing behind the barrier runs before it, or in a vertex with what computes
/// an operand; except on constants: these are always there. One that hides a scalar constant has it
/// in the memory of every tile, so that code reads it there.
void lower_barrier(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  if (op.attributes.contains("hides")) {
    const LayoutPtr everywhere = block.builder.layouts().everywhere();
    values.set_stored(op.results[0],
                      values.stored(op.operands[0], everywhere, values.origin(op)).buffer, {});
    return;
  }
  const auto is_known = [&](ValueId v) {
    return values.elements(v) == 0 || values.constant(v) != nullptr || values.repeated_bits(v);
  };
  Time ready;
  std::vector<Reading> readings(op.operands.size());
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    if (is_known(operand)) continue;
    readings[i] = values.read(operand, simplified({0, 0, {{values.elements(operand), 1, 1}}}));
    ready = std::max(ready, readings[i].ready.next_round());
  }
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i], result = op.results[i];
    if (is_known(operand)) {
      values.set_same(result, operand);
    } else if (const std::optional<BufferId> buffer = values.buffer(operand)) {
      values.set_stored(result, *buffer, ready);
    } else {
      values.set_view(result, std::move(readings[i].pieces), ready);
    }
  }
}

}  // namespace superstep
