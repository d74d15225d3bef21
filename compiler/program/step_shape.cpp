#include "compiler/program/step_shape.h"

#include <variant>

#include "base/error.h"
#include "base/hash.h"

namespace superstep {

std::size_t LayoutNumbers::of(const Layout* layout) {
  const auto [at, is_new] = by_address_.try_emplace(layout);
  if (is_new) at->second = by_content_.try_emplace(layout, by_content_.size()).first->second;
  return at->second;
}

StepShape::StepShape(const LoweredProgram& program, const Step& step, LayoutNumbers& layouts)
    : program_(program), layouts_(layouts) {
  add(step);
}

std::uint64_t StepShape::hash() const {
  std::uint64_t hash = kFnv1aBasis;
  for (const std::uint64_t word : words_) {
    hash = fnv1a(hash, word);
    hash ^= hash >> 32;  // high bits of a word must not stay high
  }
  return hash;
}

void StepShape::add(BufferId id) {
  const auto [at, is_new] = number_.try_emplace(index(id), buffers_.size());
  add(at->second);
  if (!is_new) return;
  buffers_.push_back(id);
  const Buffer& buffer = program_.buffers[index(id)];
  add(layouts_.of(buffer.layout.get()));
  add(std::uint64_t{buffer.element_bytes} << 8 | static_cast<std::uint64_t>(buffer.region));
}

void StepShape::add(const Movement::End& end) {
  add(end.buffer);
  add(std::uint64_t{index(end.tile)} << 32 | end.byte);
}

void StepShape::add(const StateWord& word) {
  add(std::uint64_t{word.value} << 8 | static_cast<std::uint64_t>(word.base));
  if (word.base == StateWord::Base::kBuffer) add(word.buffer);
}

void StepShape::add(const VertexState& state) {
  const auto [at, is_new] = states_.try_emplace(state.identity(), states_.size());
  add(at->second);
  if (!is_new) return;
  add(state.size());
  for (const StateWord& word : state) add(word);
}

void StepShape::add(const ComputeSet& set) {
  add(std::uint64_t{set.codelet} << 32 | set.launches.size());
  add(set.flops);
  for (const auto* list : {&set.reads, &set.writes}) {
    add(list->size());
    for (const BufferId id : *list) add(id);
  }
  for (const Launch& launch : set.launches) {
    add(std::uint64_t{index(launch.tile)} << 32 | launch.worker_words);
    add(launch.state);
    add(launch.stages.size());
    for (const Launch::Stage& stage : launch.stages) {
      add(std::uint64_t{stage.codelet} << 32 | stage.blocks);
    }
    if (launch.stages.empty()) continue;
    add(launch.weights);
    add(launch.weight_loads);
  }
}

void StepShape::add(const vertex::Scalars& scalars) {
  add(scalars.expression.steps().size());
  for (const vertex::Expression::Step& step : scalars.expression.steps()) {
    add(static_cast<std::uint64_t>(step.primitive) << 8 | static_cast<std::uint64_t>(step.dtype));
    add(step.bits);
    add(step.operands.size());
    for (const std::uint32_t operand : step.operands) add(operand);
  }
  add(scalars.inputs.size());
  for (const BufferId input : scalars.inputs) add(input);
  add(scalars.stores.size());
  for (const vertex::Scalars::Store& store : scalars.stores) {
    add(store.to);
    add(store.value.id);
  }
  add(scalars.decision ? scalars.decision->id + 1 : 0);
}

void StepShape::add(const Block& block) {
  add(block.steps.size());
  for (const Step& step : block.steps) add(step);
}

void StepShape::add(const Step& step) {
  add(step.index());
  std::visit([&](const auto& kind) { add(kind); }, step);
}

void StepShape::add(const Superstep& superstep) {
  add(superstep.movements.size());
  for (const Movement& movement : superstep.movements) {
    add(movement.source);
    add(movement.words);
    add(movement.destinations.size());
    for (const Movement::End& end : movement.destinations) add(end);
  }
  add(superstep.computes.size());
  for (const ComputeSet& set : superstep.computes) add(set);
}

void StepShape::add(const Call&) { SUPERSTEP_CHECK(false, "a call has no shape"); }
void StepShape::add(const HostVisit&) { SUPERSTEP_CHECK(false, "a visit has no shape"); }

void StepShape::add(const Loop& loop) {
  for (const auto* scalars : {&loop.entry, &loop.test, &loop.step}) add(*scalars);
  add(loop.condition);
  add(loop.body);
}

void StepShape::add(const Branch& branch) {
  add(branch.selector);
  add(branch.arms.size());
  for (const Block& arm : branch.arms) add(arm);
}

}  // namespace superstep
