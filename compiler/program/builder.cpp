#include "compiler/program/builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/program/substitute.h"

namespace superstep {
namespace {

bool contains(const std::vector<BufferId>& list, BufferId id) {
  return std::ranges::find(list, id) != list.end();
}

/// The numbers of both ascending lists, each once.
std::vector<std::size_t> united(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b) {
  std::vector<std::size_t> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

/// Notes a use once, however often it is noted in a row.
void note(std::vector<std::size_t>& list, std::size_t number) {
  if (list.empty() || list.back() != number) list.push_back(number);
}

}  // namespace

BufferId ProgramBuilder::add_buffer(Buffer buffer) {
  program().buffers.push_back(std::move(buffer));
  return BufferId{static_cast<std::uint32_t>(program().buffers.size() - 1)};
}

ProgramBuilder::Uses& ProgramBuilder::uses(BufferId id) {
  if (uses_.size() <= index(id)) uses_.resize(program().buffers.size());
  return uses_[index(id)];
}

std::uint32_t ProgramBuilder::add_codelet(const std::string& key, vertex::Vertex kind) {
  const auto [at, is_new] =
      shared_->codelets.try_emplace(key, static_cast<std::uint32_t>(program().codelets.size()));
  if (is_new) program().codelets.push_back(std::move(kind));
  return at->second;
}

void ProgramBuilder::add_movements(std::uint32_t superstep, const Origin& origin,
                                   std::vector<Movement> movements) {
  if (movements.empty()) return;
  for (const Movement& movement : movements) {
    note(uses(movement.source.buffer).movements, movements_.size());
    for (const Movement::End& end : movement.destinations) {
      note(uses(end.buffer).movements, movements_.size());
    }
  }
  movements_.push_back({superstep, origin, std::move(movements)});
}

void ProgramBuilder::add_compute(Time time, ComputeSet set, bool last) {
  if (set.launches.empty()) return;
  std::ranges::stable_sort(set.launches, {}, &Launch::tile);
  for (const BufferId id : set.reads) note(uses(id).computes, computes_.size());
  for (const BufferId id : set.writes) note(uses(id).computes, computes_.size());
  computes_.push_back({time, last, std::move(set)});
}

Time ProgramBuilder::end() const {
  Time end;
  for (const auto& c : computes_) end = std::max(end, c.time.next_round());
  for (const auto& m : movements_) end = std::max(end, Time{m.superstep, 0});
  for (const auto& l : controls_) end = std::max(end, Time{l.superstep, 0});
  return end;
}

ProgramBuilder::Position ProgramBuilder::position(std::size_t compute) const {
  const TimedCompute& c = computes_[compute];
  return {c.time.superstep, true, c.time.round, c.last, compute};
}

bool ProgramBuilder::can_take_storage(BufferId result, BufferId argument) {
  const auto uses_either = [&](const TimedControl& l) {
    return l.buffers.contains(result) || l.buffers.contains(argument);
  };
  if (std::ranges::any_of(controls_, uses_either)) return false;
  const Buffer& from = buffer(result);
  if (from.kind != Buffer::Kind::kTemporary || from.is_result ||
      from.layout != buffer(argument).layout || from.region != buffer(argument).region ||
      from.element_bytes != buffer(argument).element_bytes) {
    return false;
  }
  std::optional<Position> first_write;
  std::optional<Position> last_read, updating;
  const auto note_write = [&](const Position& at) {
    if (!first_write || at < *first_write) first_write = at;
  };
  const auto note_read = [&](const Position& at) {
    if (!last_read || *last_read < at) last_read = at;
  };
  for (const std::size_t i : united(uses(result).computes, uses(argument).computes)) {
    const ComputeSet& set = computes_[i].set;
    const bool writes = contains(set.writes, result);
    const bool reads = contains(set.reads, argument);
    if (contains(set.writes, argument)) return false;
    if (writes) note_write(position(i));
    // An elementwise vertex loads what it needs of an element before it stores there.
    const bool in_place =
        writes && std::holds_alternative<vertex::Elementwise>(program().codelets[set.codelet]);
    if (reads && !in_place) note_read(position(i));
    // In place it must be the first to write.
    if (reads && in_place) {
      if (updating) return false;
      updating = position(i);
    }
  }
  for (const std::size_t i : united(uses(result).movements, uses(argument).movements)) {
    const TimedMovements& group = movements_[i];
    const Position at{group.superstep, false, 0, false, 0};
    for (const Movement& movement : group.movements) {
      if (movement.source.buffer == argument) note_read(at);
      for (const Movement::End& end : movement.destinations) {
        if (end.buffer == result) note_write(at);
        if (end.buffer == argument) return false;
      }
    }
  }
  if (!first_write || (updating && *updating != *first_write)) return false;
  return !last_read || *last_read < *first_write;
}

bool ProgramBuilder::take_storage(BufferId result, BufferId argument) {
  if (!can_take_storage(result, argument)) return false;
  Buffer& storage = mutable_buffer(argument);
  storage.read_past = std::max(storage.read_past, buffer(result).read_past);
  const std::map<BufferId, BufferId> others{{result, argument}};
  for (const std::size_t i : uses(result).computes) substitute(computes_[i].set, others);
  for (const std::size_t i : uses(result).movements) {
    for (Movement& movement : movements_[i].movements) substitute(movement, others);
  }
  uses(argument) = {united(uses(result).computes, uses(argument).computes),
                    united(uses(result).movements, uses(argument).movements)};
  uses(result) = {};
  return true;
}

void ProgramBuilder::order_for_least_memory() {
  // In order of execution: the movements of a superstep, then its compute sets.
  std::vector<std::pair<Position, TimedMovements*>> order;
  for (TimedMovements& m : movements_)
    order.emplace_back(Position{m.superstep, false, 0, false, 0}, &m);
  for (std::size_t i = 0; i < computes_.size(); ++i) order.emplace_back(position(i), nullptr);
  std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });
  std::vector<StepUses> uses;
  for (const auto& [at, movements] : order) {
    StepUses& step = uses.emplace_back();
    if (movements == nullptr) {
      const ComputeSet& set = computes_[std::get<4>(at)].set;
      step = {{set.reads.begin(), set.reads.end()}, {set.writes.begin(), set.writes.end()}};
      continue;
    }
    for (const Movement& movement : movements->movements) {
      step.reads.insert(movement.source.buffer);
      for (const Movement::End& end : movement.destinations) step.writes.insert(end.buffer);
    }
  }
  const auto meet = [](const std::set<BufferId>& a, const std::set<BufferId>& b) {
    return std::ranges::any_of(a, [&](BufferId id) { return b.contains(id); });
  };
  Time time;
  StepUses moving;  // in this superstep's exchange
  for (const std::size_t i : order_for_memory(program().buffers, uses)) {
    const auto& [at, movements] = order[i];
    if (movements == nullptr) {
      time = time.next_round();
      computes_[std::get<4>(at)].time = time;
      continue;
    }
    // An exchange comes before compute sets, and its messages do not depend on each other.
    if (time.round > 0 || meet(uses[i].reads, moving.writes) ||
        meet(uses[i].writes, moving.reads) || meet(uses[i].writes, moving.writes)) {
      time = time.after_exchange();
      moving = {};
    }
    movements->superstep = time.superstep;
    moving.reads.insert(uses[i].reads.begin(), uses[i].reads.end());
    moving.writes.insert(uses[i].writes.begin(), uses[i].writes.end());
  }
}

Block ProgramBuilder::finish_block(StepOrder order) {
  if (order == StepOrder::kLeastMemory && controls_.empty()) order_for_least_memory();
  std::ranges::stable_sort(controls_, {}, &TimedControl::superstep);
  std::ranges::stable_sort(computes_, {},
                           [](const TimedCompute& c) { return std::tuple(c.time, c.last); });
  std::uint32_t count = 0;
  for (const auto& c : computes_) count = std::max(count, c.time.superstep + 1);
  for (const auto& m : movements_) count = std::max(count, m.superstep + 1);
  for (const auto& l : controls_) count = std::max(count, l.superstep + 1);
  std::vector<Superstep> supersteps(count);
  std::vector<std::size_t> moved(count);
  for (const auto& m : movements_) moved[m.superstep] += m.movements.size();
  for (auto& m : movements_) {
    Superstep& step = supersteps[m.superstep];
    if (step.names.empty()) {
      step.operation = m.origin.operation;
      step.source = m.origin.source;
    }
    step.names.push_back(m.origin.name);
    // They are most of a program's memory.
    if (moved[m.superstep] == m.movements.size()) {
      step.movements = std::move(m.movements);
    } else {
      step.movements.reserve(moved[m.superstep]);
      std::ranges::move(m.movements, std::back_inserter(step.movements));
    }
    m.movements = {};
  }
  for (auto& c : computes_) {
    supersteps[c.time.superstep].computes.push_back(std::move(c.set));
  }
  // What moves first need not wait for anything.
  const auto is_empty = [](const Superstep& s) {
    return s.movements.empty() && s.computes.empty();
  };
  Block block;
  auto control = controls_.begin();
  for (std::uint32_t s = 0; s < count; ++s) {
    for (; control != controls_.end() && control->superstep == s; ++control) {
      block.steps.push_back(std::move(control->step));
    }
    const bool is_at_edge = block.steps.empty() || !controls_.empty();
    if (is_at_edge && is_empty(supersteps[s])) continue;
    block.steps.emplace_back(std::move(supersteps[s]));
  }
  return block;
}

LoweredProgram ProgramBuilder::finish(StepOrder order) {
  Block main = finish_block(order);
  program().main = std::move(main);
  return std::move(program());
}

}  // namespace superstep
