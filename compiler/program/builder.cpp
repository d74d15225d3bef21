#include "compiler/program/builder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "compiler/cost/launch_cycles.h"
#include "compiler/program/step_delay.h"
#include "compiler/program/substitute.h"

namespace superstep {
namespace {

/// Invariants of a loop may take one part in so many of a tile's memory [assumed].
constexpr std::uint32_t kInvariantShare = 4;

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

/// Whether a compute set only copies a buffer to where it is.
bool copies_in_place(const ComputeSet& set, const vertex::Vertex& codelet) {
  const auto* copy = std::get_if<vertex::Elementwise>(&codelet);
  return copy != nullptr && copy->is_copy() && set.reads == set.writes;
}

/// Words that movements write to tile memories: those of a multicast on each tile that gets it.
std::uint32_t arriving_words(const std::vector<Movement>& movements) {
  std::size_t words = 0;
  for (const Movement& movement : movements) words += movement.words * movement.destinations.size();
  return static_cast<std::uint32_t>(words);
}

using Loads = std::map<TileId, TimedStep::Load>;

std::vector<TimedStep::Load> listed(const Loads& loads) {
  std::vector<TimedStep::Load> list;
  for (const auto& [tile, load] : loads) {
    list.push_back(load);
    list.back().tile = tile;
  }
  return list;
}

/// What an exchange takes on ports. What several tiles want of one range is sent once.
std::vector<TimedStep::Load> loads_of(const std::vector<Movement>& movements, const Costs& costs) {
  Loads loads;
  std::set<std::pair<Movement::End, std::uint32_t>> sent;
  for (const Movement& movement : movements) {
    const auto cycles = static_cast<std::uint32_t>(costs.port(movement.words, 1));
    if (sent.insert({movement.source, movement.words}).second) {
      loads[movement.source.tile].work += cycles;
    }
    for (const Movement::End& end : movement.destinations) loads[end.tile].received += cycles;
  }
  return listed(loads);
}

std::vector<TimedStep::Load> loads_of(const ComputeSet& set, LaunchCycles& cycles) {
  Loads loads;
  for (const Launch& launch : set.launches) {
    loads[launch.tile].work += static_cast<std::uint32_t>(cycles.alone(set.codelet, launch));
  }
  return listed(loads);
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

BufferId ProgramBuilder::order_of_visits() {
  std::optional<BufferId>& order = shared_->order_of_visits;
  if (!order) {
    const std::vector<Interval> word{{0, 1, {TileId{0}}}};
    order = add_buffer({.kind = Buffer::Kind::kTemporary,
                        .name = "order of visits to the host",
                        .type = {DType::kU32, {}},
                        .element_bytes = 4,
                        .layout = std::make_shared<const Layout>(word),
                        .contents = {},
                        .source = {}});
  }
  return *order;
}

std::uint32_t ProgramBuilder::add_control(std::uint32_t superstep, Step control) {
  UsedBuffers used = buffers_of(control);
  if (has_feeds(control)) {
    superstep = last_visit_ = std::max(superstep, last_visit_);
    used.written.insert(order_of_visits());
  }
  controls_.push_back({superstep, std::move(control), std::move(used)});
  return superstep;
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
  const auto uses_either = [&](const TimedControl& control) {
    return std::ranges::any_of(std::array{result, argument}, [&](BufferId id) {
      return control.used.read.contains(id) || control.used.written.contains(id);
    });
  };
  if (std::ranges::any_of(controls_, uses_either)) return false;
  const Buffer& from = buffer(result);
  if (from.kind != Buffer::Kind::kTemporary || from.is_result ||
      from.layout != buffer(argument).layout || from.region != buffer(argument).region ||
      from.element_bytes != buffer(argument).element_bytes) {
    return false;
  }
  const bool is_temporary = buffer(argument).kind == Buffer::Kind::kTemporary;
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
    if (contains(set.writes, argument)) {
      if (!is_temporary) return false;
      note_read(position(i));
    }
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
        if (end.buffer == argument) {
          if (!is_temporary) return false;
          note_read(at);
        }
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
  for (const std::size_t i : uses(result).computes) {
    ComputeSet& set = computes_[i].set;
    substitute(set, others);
    if (copies_in_place(set, program().codelets[set.codelet])) set.launches.clear();
  }
  for (const std::size_t i : uses(result).movements) {
    for (Movement& movement : movements_[i].movements) substitute(movement, others);
  }
  uses(argument) = {united(uses(result).computes, uses(argument).computes),
                    united(uses(result).movements, uses(argument).movements)};
  uses(result) = {};
  return true;
}

UsedBuffers ProgramBuilder::buffers_of_movements(const TimedMovements& movements) {
  UsedBuffers used;
  for (const Movement& movement : movements.movements) {
    used.read.insert(movement.source.buffer);
    for (const Movement::End& end : movement.destinations) used.written.insert(end.buffer);
  }
  return used;
}

std::vector<ProgramBuilder::OrderedStep> ProgramBuilder::ordered_steps() const {
  std::vector<OrderedStep> steps;
  for (std::size_t i = 0; i < controls_.size(); ++i) {
    steps.push_back({{controls_[i].superstep, StepKind::kControl, 0, false}, i, controls_[i].used});
  }
  for (std::size_t i = 0; i < movements_.size(); ++i) {
    steps.push_back({{movements_[i].superstep, StepKind::kMovements, 0, false},
                     i,
                     buffers_of_movements(movements_[i])});
  }
  for (std::size_t i = 0; i < computes_.size(); ++i) {
    const TimedCompute& c = computes_[i];
    steps.push_back(
        {{c.time.superstep, StepKind::kCompute, c.time.round, c.last},
         i,
         {{c.set.reads.begin(), c.set.reads.end()}, {c.set.writes.begin(), c.set.writes.end()}}});
  }
  std::ranges::stable_sort(steps, {}, &OrderedStep::at);
  return steps;
}

void ProgramBuilder::order_for_least_memory() {
  const std::vector<OrderedStep> order = ordered_steps();
  std::vector<StepUses> uses;
  for (const OrderedStep& step : order) uses.push_back({step.used.read, step.used.written});
  const auto meet = [](const std::set<BufferId>& a, const std::set<BufferId>& b) {
    return std::ranges::any_of(a, [&](BufferId id) { return b.contains(id); });
  };
  Time time;
  StepUses moving;  // in this superstep's exchange
  const auto begin_superstep = [&] {
    time = time.after_exchange();
    moving = {};
  };
  std::vector<TimedControl> controls;
  for (const std::size_t i : order_for_memory(program().buffers, uses)) {
    const StepKind kind = std::get<StepKind>(order[i].at);
    const std::size_t number = order[i].number;
    if (kind == StepKind::kCompute) {
      time = time.next_round();
      computes_[number].time = time;
      continue;
    }
    if (kind == StepKind::kControl) {
      if (time.round > 0 || !moving.writes.empty()) begin_superstep();
      controls.push_back(std::move(controls_[number]));
      controls.back().superstep = time.superstep;
      continue;
    }
    // An exchange comes before compute sets, and its messages do not depend on each other.
    if (time.round > 0 || meet(uses[i].reads, moving.writes) ||
        meet(uses[i].writes, moving.reads) || meet(uses[i].writes, moving.writes)) {
      begin_superstep();
    }
    movements_[number].superstep = time.superstep;
    moving.reads.insert(uses[i].reads.begin(), uses[i].reads.end());
    moving.writes.insert(uses[i].writes.begin(), uses[i].writes.end());
  }
  controls_ = std::move(controls);
}

void ProgramBuilder::balance() {
  const std::vector<OrderedStep> order = ordered_steps();
  std::map<std::uint32_t, vertex::Codelet> codelets;
  LaunchCycles launches(machine(), [&](std::uint32_t vertex) -> const vertex::Codelet& {
    const auto found = codelets.find(vertex);
    if (found != codelets.end()) return found->second;
    return codelets.emplace(vertex, vertex::code_of(program().codelets[vertex], machine()))
        .first->second;
  });
  std::vector<TimedStep> steps;
  for (const auto& [at, number, used] : order) {
    TimedStep& step = steps.emplace_back(
        TimedStep{.superstep = std::get<0>(at), .uses = {used.read, used.written}});
    switch (std::get<StepKind>(at)) {
      case StepKind::kControl:
        step.kind = TimedStep::Kind::kControl;
        break;
      case StepKind::kMovements:
        step.kind = TimedStep::Kind::kExchange;
        step.loads = loads_of(movements_[number].movements, costs());
        break;
      case StepKind::kCompute:
        step.loads = loads_of(computes_[number].set, launches);
        break;
    }
  }
  const std::vector<std::uint32_t> supersteps =
      delay_steps(steps, program().buffers.size(), machine().tiles(),
                  static_cast<std::uint32_t>(costs().phase()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t number = order[i].number;
    const StepKind kind = std::get<StepKind>(order[i].at);
    if (kind == StepKind::kMovements) movements_[number].superstep = supersteps[i];
    if (kind == StepKind::kCompute) {
      computes_[number].time = {supersteps[i], static_cast<std::uint32_t>(i)};
    }
  }
}

std::uint32_t ProgramBuilder::hoist_invariants(ProgramBuilder& outer, std::uint32_t superstep,
                                               std::set<BufferId> changing) {
  const std::vector<OrderedStep> steps = ordered_steps();
  std::vector<bool> stays(steps.size());
  for (bool settled = false; !settled;) {
    settled = true;
    const auto changes = [&](BufferId id) { return changing.contains(id); };
    std::map<BufferId, std::size_t> last_write;  // of those that leave: number in `steps`
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& [at, number, used] = steps[i];
      if (stays[i]) continue;
      if (std::get<StepKind>(at) == StepKind::kControl || std::ranges::any_of(used.read, changes) ||
          std::ranges::any_of(used.written, changes)) {
        stays[i] = true;
        settled = false;
        changing.insert(used.written.begin(), used.written.end());
      }
      for (const BufferId id : used.written) last_write[id] = i;
    }
    // What stays must read what it would have read: no later step writes the buffer again.
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!stays[i]) continue;
      for (const BufferId id : steps[i].used.read) {
        const auto write = last_write.find(id);
        if (write == last_write.end() || write->second < i) continue;
        settled &= !changing.insert(id).second;
      }
    }
  }
  std::set<BufferId> kept;
  std::vector<bool> sets_stay(computes_.size(), true), movements_stay(movements_.size(), true);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (stays[i]) continue;
    const bool is_compute = std::get<StepKind>(steps[i].at) == StepKind::kCompute;
    (is_compute ? sets_stay : movements_stay)[steps[i].number] = false;
    kept.insert(steps[i].used.written.begin(), steps[i].used.written.end());
  }
  std::uint64_t bytes = 0;  // on a tile that holds of all
  for (const BufferId id : kept) {
    std::uint32_t most = 0;
    for (const Interval& interval : buffer(id).layout->intervals()) {
      most = std::max(most, buffer(id).bytes(interval));
    }
    bytes += most;
  }
  if (kept.empty() || bytes > machine().tile.memory_bytes / kInvariantShare) return superstep;
  std::uint32_t end = superstep;
  std::vector<TimedCompute> computes;
  std::vector<TimedMovements> movements;
  for (std::size_t i = 0; i < computes_.size(); ++i) {
    TimedCompute& c = computes_[i];
    if (sets_stay[i]) {
      computes.push_back(std::move(c));
      continue;
    }
    end = std::max(end, superstep + c.time.superstep + 1);
    outer.add_compute({superstep + c.time.superstep, c.time.round}, std::move(c.set), c.last);
  }
  for (std::size_t i = 0; i < movements_.size(); ++i) {
    TimedMovements& m = movements_[i];
    if (movements_stay[i]) {
      movements.push_back(std::move(m));
      continue;
    }
    end = std::max(end, superstep + m.superstep + 1);
    outer.add_movements(superstep + m.superstep, m.origin, std::move(m.movements));
  }
  computes_ = std::move(computes);
  movements_ = std::move(movements);
  uses_.clear();
  return end;
}

Block ProgramBuilder::finish_block(StepOrder order) {
  if (order == StepOrder::kLeastMemory) order_for_least_memory();
  if (order == StepOrder::kBalanced) balance();
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
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> ops;  // by superstep and name
  for (auto& m : movements_) {
    Superstep& step = supersteps[m.superstep];
    const auto [op, is_new] = ops.try_emplace({m.superstep, m.origin.name}, step.moved_for.size());
    if (is_new) {
      step.moved_for.push_back(
          {std::move(m.origin.name), std::move(m.origin.operation), std::move(m.origin.source)});
    }
    step.moved_for[op->second].cycles_alone += arriving_words(m.movements);
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
    if (c.set.launches.empty()) continue;
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
