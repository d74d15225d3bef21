#include "compiler/program/blocks.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/overloaded.h"

namespace superstep {
namespace {

/// Calls `visit` with a step, then with those of a loop or branch.
template <class Step, class Visit>
void walk_steps(Step& step, const Visit& visit) {
  const auto walk = [&](auto& block) {
    for (auto& inner : block.steps) walk_steps(inner, visit);
  };
  visit(step);
  if (auto* loop = std::get_if<Loop>(&step)) {
    walk(loop->condition);
    walk(loop->body);
  } else if (auto* branch = std::get_if<Branch>(&step)) {
    for (auto& arm : branch->arms) walk(arm);
  }
}

template <class Pointer, class Program>
std::vector<Pointer> collect(Program& program) {
  std::vector<Pointer> all;
  const auto add = [&](auto& step) {
    using Kind = std::remove_pointer_t<Pointer>;
    if (auto* found = std::get_if<std::remove_const_t<Kind>>(&step)) all.push_back(found);
  };
  const auto walk = [&](auto& block) {
    for (auto& step : block.steps) walk_steps(step, add);
  };
  for (auto& procedure : program.procedures) walk(procedure.block);
  walk(program.main);
  return all;
}

template <class Kind>
std::uint32_t count(const Block& block) {
  std::uint32_t count = 0;
  const auto add = [&](const Step& step) { count += std::holds_alternative<Kind>(step); };
  for (const Step& step : block.steps) walk_steps(step, add);
  return count;
}

}  // namespace

std::uint32_t count_supersteps(const Block& block) { return count<Superstep>(block); }
std::uint32_t count_loops(const Block& block) { return count<Loop>(block); }

bool has_feeds(const Step& step) {
  bool found = false;
  const auto look = [&](const Step& inner) {
    const auto* superstep = std::get_if<Superstep>(&inner);
    found = found || (superstep != nullptr && !superstep->feeds.empty());
  };
  walk_steps(step, look);
  return found;
}

std::vector<Superstep*> supersteps_of(LoweredProgram& program) {
  return collect<Superstep*>(program);
}
std::vector<const Superstep*> supersteps_of(const LoweredProgram& program) {
  return collect<const Superstep*>(program);
}

std::vector<const Call*> calls_of(const LoweredProgram& program) {
  return collect<const Call*>(program);
}

MovedBuffers moved_buffers(const Superstep& superstep) {
  MovedBuffers moved;
  // Most movements have the buffers of the one before.
  const auto add = [](std::vector<BufferId>& buffers, BufferId buffer) {
    if (buffers.empty() || buffers.back() != buffer) buffers.push_back(buffer);
  };
  for (const Movement& movement : superstep.movements) {
    add(moved.read, movement.source.buffer);
    for (const Movement::End& end : movement.destinations) add(moved.written, end.buffer);
  }
  for (const Feed& feed : superstep.feeds) {
    if (feed.buffer) add(feed.is_in ? moved.written : moved.read, *feed.buffer);
  }
  for (std::vector<BufferId>* buffers : {&moved.read, &moved.written}) {
    std::ranges::sort(*buffers);
    buffers->erase(std::unique(buffers->begin(), buffers->end()), buffers->end());
  }
  return moved;
}

SuperstepOrigins origins_of(const Superstep& superstep) {
  SuperstepOrigins origins;
  const std::vector<FusedOperation>& ops = superstep.moved_for;
  if (!ops.empty()) origins.exchange = {ops[0].name, ops[0].operation, ops[0].source};
  if (ops.size() > 1) {
    origins.exchange.name += " +" + std::to_string(ops.size() - 1);
    origins.exchange.fused = ops;
  }
  for (const ComputeSet& set : superstep.computes) {
    origins.computes.push_back({set.name, set.operation, set.source, set.fused});
  }
  return origins;
}

namespace {

/// The buffer that takes the place of one in a call, if there is one.
BufferId actual_of(const Call* call, BufferId buffer) {
  if (call == nullptr) return buffer;
  const auto at = std::ranges::lower_bound(call->bindings, buffer, {}, &Call::Binding::formal);
  return at != call->bindings.end() && at->formal == buffer ? at->actual : buffer;
}

}  // namespace

BufferId Execution::actual(BufferId buffer) const { return actual_of(call, buffer); }

namespace {

void add_words(const vertex::Scalars& scalars, UsedBuffers& used) {
  used.read.insert(scalars.inputs.begin(), scalars.inputs.end());
  for (const vertex::Scalars::Store& store : scalars.stores) used.written.insert(store.to);
}

UsedBuffers words_of(const Loop& loop) {
  UsedBuffers used;
  for (const auto* scalars : {&loop.entry, &loop.test, &loop.step}) add_words(*scalars, used);
  return used;
}

UsedBuffers words_of(const Branch& branch) {
  UsedBuffers used;
  add_words(branch.selector, used);
  return used;
}

/// What a loop or branch executes, as numbers of executions.
struct ControlSpan {
  std::size_t begin = 0, end = 0;
  std::uint32_t entry = 0, exit = 0;  ///< points; of a branch the same
  const Call* call = nullptr;
  UsedBuffers words;  ///< of its scalars
};

/// Walks what a call of a program executes.
class ExecutionWalk {
 public:
  explicit ExecutionWalk(const LoweredProgram& program) : program_(program) {
    for (const Procedure& procedure : program.procedures) {
      first_.push_back(number_);
      number_ += count_supersteps(procedure.block);
    }
    walk(program.main);
  }

  std::vector<Execution> executions;
  std::vector<ControlSpan> controls;  ///< inner ones first
  std::uint32_t point = 1;            ///< the next one

 private:
  void walk(const Block& block) {
    for (const Step& step : block.steps) std::visit([&](const auto& kind) { add(kind); }, step);
  }

  void add(const Superstep& superstep) {
    executions.push_back({&superstep, number_++, point, call_, place_++});
    point += static_cast<std::uint32_t>(superstep.computes.size()) + 1;
  }

  void add(const HostVisit&) {}

  void add(const Call& call) {
    SUPERSTEP_CHECK(call_ == nullptr, "a procedure calls none");
    call_ = &call;
    place_ = 0;
    const std::uint32_t next = std::exchange(number_, first_[index(call.procedure)]);
    walk(program_.procedures[index(call.procedure)].block);
    number_ = next;
    call_ = nullptr;
  }

  void add(const Loop& loop) {
    ControlSpan span = entered(words_of(loop));
    walk(loop.condition);
    walk(loop.body);
    span.exit = point++;
    leave(std::move(span));
  }

  void add(const Branch& branch) {
    ControlSpan span = entered(words_of(branch));
    for (const Block& arm : branch.arms) walk(arm);
    leave(std::move(span));
  }

  ControlSpan entered(UsedBuffers words) {
    const std::uint32_t entry = point++;
    return {executions.size(), 0, entry, entry, call_, std::move(words)};
  }
  void leave(ControlSpan span) {
    span.end = executions.size();
    controls.push_back(std::move(span));
  }

  const LoweredProgram& program_;
  std::vector<std::uint32_t> first_;  ///< superstep of each procedure
  std::uint32_t number_ = 0;          ///< of the next superstep
  const Call* call_ = nullptr;        ///< that is walked
  std::uint32_t place_ = 0;           ///< of the next superstep in it
};

void add_buffers(const Block& block, UsedBuffers& used) {
  for (const Step& step : block.steps) {
    UsedBuffers its = buffers_of(step);
    used.read.merge(its.read);
    used.written.merge(its.written);
  }
}

}  // namespace

UsedBuffers buffers_of(const Superstep& superstep) {
  UsedBuffers used;
  const MovedBuffers moved = moved_buffers(superstep);
  used.read.insert(moved.read.begin(), moved.read.end());
  used.written.insert(moved.written.begin(), moved.written.end());
  for (const ComputeSet& set : superstep.computes) {
    used.read.insert(set.reads.begin(), set.reads.end());
    used.written.insert(set.writes.begin(), set.writes.end());
  }
  return used;
}

UsedBuffers buffers_of(const Loop& loop) {
  UsedBuffers used = words_of(loop);
  add_buffers(loop.condition, used);
  add_buffers(loop.body, used);
  return used;
}

UsedBuffers buffers_of(const Branch& branch) {
  UsedBuffers used = words_of(branch);
  for (const Block& arm : branch.arms) add_buffers(arm, used);
  return used;
}

UsedBuffers buffers_of(const Step& step) {
  SUPERSTEP_CHECK(!std::holds_alternative<Call>(step), "procedures come after loops");
  SUPERSTEP_CHECK(!std::holds_alternative<HostVisit>(step), "a visit inside of a call");
  return std::visit(Overloaded{[](const Call&) { return UsedBuffers{}; },
                               [](const HostVisit&) { return UsedBuffers{}; },
                               [](const auto& kind) { return buffers_of(kind); }},
                    step);
}

void add_origins(const Step& step, Call& call) {
  const auto add = [&](const Step& one) {
    std::visit(Overloaded{[&](const Superstep& superstep) {
                            call.origins.push_back(origins_of(superstep));
                          },
                          [&](const Loop& loop) { call.controls.push_back(loop.origin); },
                          [&](const Branch& branch) { call.controls.push_back(branch.origin); },
                          [](const Call&) {}, [](const HostVisit&) {}},
               one);
  };
  walk_steps(step, add);
}

std::vector<Execution> executions_of(const LoweredProgram& program) {
  return ExecutionWalk(program).executions;
}

namespace {

/// Lengthens the lives of what loops find or leave, and adds those of words that control uses.
void add_controls(const ExecutionWalk& walk, const std::vector<std::vector<BufferId>>& used_by,
                  std::vector<Lifetime>& lifetimes) {
  for (auto control = walk.controls.begin(); control != walk.controls.end(); ++control) {
    const auto use = [&](BufferId buffer) {
      lifetimes[index(buffer)].use(control->entry);
      lifetimes[index(buffer)].use(control->exit);
    };
    for (const auto* words : {&control->words.read, &control->words.written}) {
      for (const BufferId word : *words) use(actual_of(control->call, word));
    }
    if (control->entry == control->exit) continue;
    const auto use_if_outer = [&](BufferId buffer) {
      const Lifetime& life = lifetimes[index(buffer)];
      if (life.first < control->entry || life.last > control->exit) use(buffer);
    };
    for (std::size_t e = control->begin; e < control->end; ++e) {
      std::ranges::for_each(used_by[e], use_if_outer);
    }
    for (auto inner = walk.controls.begin(); inner != control; ++inner) {
      if (inner->entry < control->entry) continue;
      for (const auto* words : {&inner->words.read, &inner->words.written}) {
        for (const BufferId word : *words) use_if_outer(actual_of(inner->call, word));
      }
    }
  }
}

}  // namespace

std::vector<Lifetime> lifetimes_of(const LoweredProgram& program) {
  std::vector<Lifetime> lifetimes(program.buffers.size());
  std::vector<MovedBuffers> moved;  // by superstep
  for (const Superstep* superstep : supersteps_of(program)) {
    moved.push_back(moved_buffers(*superstep));
  }
  const ExecutionWalk walk(program);
  std::vector<std::vector<BufferId>> used_by;  // by execution; empty where nothing needs them
  for (const Execution& execution : walk.executions) {
    std::vector<BufferId>& used = used_by.emplace_back();
    const auto life = [&](BufferId buffer) -> Lifetime& {
      const BufferId actual = execution.actual(buffer);
      if (!walk.controls.empty()) used.push_back(actual);
      return lifetimes[index(actual)];
    };
    std::uint32_t point = execution.point;
    for (const BufferId buffer : moved[execution.number].read) life(buffer).use(point);
    for (const BufferId buffer : moved[execution.number].written) {
      Lifetime& its = life(buffer);
      its.use(point);
      its.is_received = true;
    }
    for (const ComputeSet& set : execution.superstep->computes) {
      ++point;
      for (const auto* buffers : {&set.reads, &set.writes}) {
        for (const BufferId buffer : *buffers) {
          Lifetime& its = life(buffer);
          its.use(point);
          its.use(point + set.beside);
        }
      }
    }
  }
  add_controls(walk, used_by, lifetimes);
  for (std::size_t b = 0; b < lifetimes.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.is_result) lifetimes[b].use(walk.point);
    if (buffer.kind == Buffer::Kind::kArgument || buffer.kind == Buffer::Kind::kState ||
        (buffer.kind == Buffer::Kind::kConstant && lifetimes[b].is_used())) {
      lifetimes[b].use(0);
      lifetimes[b].use(walk.point);
    }
  }
  return lifetimes;
}

std::uint32_t last_point_of(const LoweredProgram& program) { return ExecutionWalk(program).point; }

}  // namespace superstep
