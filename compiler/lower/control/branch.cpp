#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/image/supervisor_registers.h"
#include "compiler/lower/block_lowering.h"
#include "compiler/lower/control/scalar_slice.h"

namespace superstep {
namespace {

/// What decides for an arm.
class SelectorLowering {
 public:
  SelectorLowering(BlockLowering& block, const Op& op)
      : block_(block),
        origin_(block.values.origin(op)),
        value_(op.operands[0]),
        arms_(op.regions.size()) {}

  /// `superstep` gets past those that make its words.
  vertex::Scalars run(std::uint32_t& superstep) {
    ScalarSlice slice(block_.graph, [&](ValueId v) { return is_there(v); });
    std::vector<ValueId> words = *slice.words_for(value_);
    vertex::Scalars scalars = made_of(words, superstep);
    if (!vertex::scalar_code(scalars, supervisor::kScalars)) {
      scalars = made_of({value_}, superstep);
    }
    return scalars;
  }

 private:
  /// Whether every tile has a copy of a value, or can know it.
  [[nodiscard]] bool is_there(ValueId v) const {
    const Values& values = block_.values;
    return is_scalar(values.type(v)) &&
           (values.repeated_bits(v) || values.layout(v) == block_.builder.layouts().everywhere());
  }

  vertex::Scalars made_of(const std::vector<ValueId>& words, std::uint32_t& superstep) {
    Values& values = block_.values;
    vertex::Scalars scalars;
    ScalarNodes nodes(block_.graph, scalars, [&](ValueId v) -> std::optional<vertex::Node> {
      if (!is_there(v) && std::ranges::find(words, v) == words.end()) return std::nullopt;
      const DType dtype = values.type(v).dtype;
      if (const auto bits = values.repeated_bits(v)) {
        return scalars.expression.constant(dtype, *bits);
      }
      const StoredValue word = values.stored(v, block_.builder.layouts().everywhere(), origin_);
      superstep = std::max(superstep, word.time.superstep + 1);
      return scalars.input(word.buffer, dtype);
    });
    scalars.decision = in_range(scalars.expression, nodes.of(value_));
    return scalars;
  }

  /// The last arm for a number that none has; negative numbers are large ones without a sign.
  [[nodiscard]] vertex::Node in_range(vertex::Expression& expression, vertex::Node number) const {
    using vertex::Primitive;
    const vertex::Node last = expression.constant(DType::kU32, arms_ - 1);
    const vertex::Node any = expression.bitcast(number, DType::kU32);
    return expression.apply(Primitive::kSelect,
                            {expression.apply(Primitive::kLt, {any, last}), any, last});
  }

  BlockLowering& block_;
  Origin origin_;
  ValueId value_;
  std::size_t arms_;
};

}  // namespace

void lower_case(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  std::uint32_t superstep = 0;
  RegionBuffers arm;
  for (std::size_t i = 1; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    arm.arguments.emplace_back();
    if (values.elements(operand) == 0) continue;
    arm.arguments.back() = values.stored(operand);
    superstep = std::max(superstep, values.time(operand).superstep + 1);
  }
  for (const ValueId result : op.results) {
    arm.results.emplace_back();
    if (values.elements(result) == 0) continue;
    arm.results.back() = values.add_storage(result, values.assigned().of(result));
  }
  Branch branch{.selector = {}, .arms = {}, .origin = values.origin(op)};
  branch.selector = SelectorLowering(block, op).run(superstep);
  for (const Graph& region : op.regions) {
    branch.arms.push_back(lower_region(block, region, arm));
  }
  superstep = block.builder.add_control(superstep, std::move(branch));
  for (std::size_t r = 0; r < op.results.size(); ++r) {
    if (arm.results[r]) values.set_stored(op.results[r], *arm.results[r], {superstep, 0});
  }
}

}  // namespace superstep
