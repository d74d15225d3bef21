#include "compiler/lower/reductions/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/divide.h"
#include "compiler/cost/costs.h"
#include "compiler/lower/block_lowering.h"
#include "compiler/lower/reductions/reduction.h"
#include "compiler/ops/op.h"
#include "compiler/vertex/elementwise.h"
#include "compiler/vertex/timing_analysis.h"

namespace superstep {
namespace {

/// The axes and the operation of `op`, of which `convert` converts the elements unless it is null.
Reduction reduction_of(const BlockLowering& block, const Op& op, const Op* convert) {
  Reduction reduction;
  const Shape& shape = block.values.type(op.operands[0]).shape;
  const auto& dimensions = std::get<std::vector<std::int64_t>>(op.attributes.at("dimensions"));
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    const bool reduces = contains(dimensions, static_cast<std::int64_t>(d));
    auto& axes = reduces ? reduction.reduced : reduction.kept;
    axes.insert(axes.begin(), {shape[d], stride, 0});
  }
  reduction.layout = block.values.assigned().in_order(op.results[0]);
  reduction.combine = combine_of(op.regions[0]);
  if (convert != nullptr) {
    reduction.converting = combine_converted(block.graph, op.regions[0], *convert);
    reduction.element = block.graph.type(convert->operands[0]).dtype;
  }
  return reduction;
}

/// Whether known initial values make no difference when they take part more than once.
bool may_repeat(const std::vector<Splat>& initial, const Graph& region) {
  std::vector<HostTensor> values;
  for (std::size_t k = 0; k < initial.size(); ++k) {
    if (!initial[k].bits) return false;
    HostTensor& value = values.emplace_back(region.type(region.arguments()[k]));
    std::memcpy(value.data.data(), &*initial[k].bits, value.data.size());
  }
  std::vector<HostTensor> twice = values;
  twice.insert(twice.end(), values.begin(), values.end());
  const std::vector<HostTensor> combined = evaluate(region, twice);
  return std::ranges::equal(combined, values, {}, &HostTensor::data, &HostTensor::data);
}

/// Estimated cycles of a launch that does `convert` to so many elements, or only copies them.
std::int64_t cycles_of_launch(const BlockLowering& block, const Op& convert, bool converts,
                              std::int64_t count) {
  const MachineConfig& machine = block.builder.machine();
  vertex::Expression expression;
  std::vector<vertex::Node> nodes{expression.input(0, block.graph.type(convert.operands[0]).dtype)};
  if (converts) {
    const auto* lowering = lowering_as<ElementwiseLowering>(convert, block.graph);
    nodes = lowering->emit(convert, block.graph, expression, std::vector(nodes));
  }
  const vertex::Elementwise elementwise{
      std::move(expression), std::move(nodes), {vertex::Access::kVector}};
  const std::vector<std::uint32_t> state{static_cast<std::uint32_t>(count), 0, 0};
  const auto workers =
      vertex::TimingAnalysis(machine, elementwise.code(machine)).launch(state, 0, 0);
  return Costs(machine).launch_of(
      static_cast<std::int64_t>(vertex::launch_cycles(machine, workers)));
}

}  // namespace

bool converts_in_reduction(BlockLowering& block, const Op& convert, const Op& reduce) {
  const auto estimate = [&](const Op* converted, const LayoutPtr& layout) {
    return estimate_reduction(block.builder, block.values, reduction_of(block, reduce, converted),
                              layout);
  };
  const ValueId narrow = convert.operands[0];
  LayoutPtr layout = block.values.layout(narrow);
  const std::int64_t inside = estimate(&convert, layout);
  std::int64_t apart = 0;
  if (layout == nullptr) {
    layout = block.values.assigned().of(narrow);
    const auto bytes = static_cast<std::int64_t>(size_of(block.values.type(narrow).dtype));
    apart +=
        Costs(block.builder.machine()).phase() + divide_up(layout->intervals()[0].count * bytes, 4);
  }
  const std::int64_t count = layout->intervals()[0].count;
  apart += cycles_of_launch(block, convert, true, count) + estimate(nullptr, layout);
  // What makes the elements converts them before it stores them.
  if (block.values.is_fused(narrow)) apart -= cycles_of_launch(block, convert, false, count);
  if (inside <= apart) return true;
  if (block.choices.order != StepOrder::kLeastMemory) return false;
  block.builder.add_event(
      CompileEvent::Kind::kDroppedPlan, block.values.origin(reduce),
      fmt::format(
          "converts its elements itself, which takes an estimated {} cycles, not in a step before "
          "it, {} cycles, since memory is short",
          inside, apart),
      "a machine with more tiles, or fewer tensors alive at once, would help");
  return true;
}

void lower_reduce(BlockLowering& block, const Op& op) {
  ProgramBuilder& builder = block.builder;
  Values& values = block.values;
  // Whose result is the one operand: elements are converted as they are combined.
  const auto conversion = block.conversions.find(op.operands[0]);
  const Op* convert = conversion == block.conversions.end() ? nullptr : conversion->second;
  const std::size_t count = op.operands.size() / 2;
  if (values.elements(op.results[0]) == 0) return;
  if (values.elements(op.operands[0]) == 0) {
    // Nothing to combine: every result is its initial value.
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t n = values.elements(op.results[k]);
      const Reading reading = values.read(op.operands[count + k], simplified({0, 0, {{n, 0, 1}}}));
      values.set_view(op.results[k], reading.pieces, reading.ready);
    }
    return;
  }
  Reduction reduction = reduction_of(block, op, convert);
  reduction.is_useful = useful_flops(op, 1) > 0;
  std::vector<ValueId> operands(op.operands.begin(),
                                op.operands.begin() + static_cast<std::ptrdiff_t>(count));
  if (convert != nullptr) operands = {convert->operands[0]};
  for (std::size_t k = 0; k < count; ++k) {
    const ValueId operand = operands[k];
    reduction.read.emplace_back(
        [&values, operand](const Box& box) { return values.read(operand, box); });
    reduction.initial.push_back(*values.splat(op.operands[count + k]));
  }
  reduction.may_repeat_initial = may_repeat(reduction.initial, op.regions[0]);
  const Reduced reduced = lower_reduction(builder, values, reduction, operands, values.origin(op));
  for (std::size_t k = 0; k < count; ++k) {
    builder.mutable_buffer(reduced.results[k]).type = values.type(op.results[k]);
    values.set_stored(op.results[k], reduced.results[k], reduced.time);
  }
}

}  // namespace superstep
