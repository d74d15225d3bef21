#include "compiler/program/blocks.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/overloaded.h"

namespace superstep {
namespace {

template <class Pointer, class Program>
std::vector<Pointer> collect(Program& program) {
  std::vector<Pointer> supersteps;
  const auto add = [&](const auto& self, auto& block) -> void {
    for (auto& step : block.steps) {
      if (auto* superstep = std::get_if<Superstep>(&step)) {
        supersteps.push_back(superstep);
      } else if (auto* loop = std::get_if<Loop>(&step)) {
        self(self, loop->condition);
        self(self, loop->body);
      } else if (auto* branch = std::get_if<Branch>(&step)) {
        for (auto& arm : branch->arms) self(self, arm);
      } else {
        // The supersteps of a call are those of its procedure; a visit to the host has none.
        SUPERSTEP_CHECK(
            std::holds_alternative<Call>(step) || std::holds_alternative<HostVisit>(step),
            "a step of a kind that is not known");
      }
    }
  };
  for (auto& procedure : program.procedures) add(add, procedure.block);
  add(add, program.main);
  return supersteps;
}

}  // namespace

std::vector<Superstep*> supersteps_of(LoweredProgram& program) {
  return collect<Superstep*>(program);
}
std::vector<const Superstep*> supersteps_of(const LoweredProgram& program) {
  return collect<const Superstep*>(program);
}

std::uint32_t count_supersteps(const Block& block) {
  std::uint32_t count = 0;
  for (const Step& step : block.steps) {
    std::visit(Overloaded{[&](const Superstep&) { ++count; },
                          [&](const Loop& loop) {
                            count += count_supersteps(loop.condition) + count_supersteps(loop.body);
                          },
                          [&](const Branch& branch) {
                            for (const Block& arm : branch.arms) count += count_supersteps(arm);
                          },
                          [](const Call&) {}, [](const HostVisit&) {}},
               step);
  }
  return count;
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
  for (std::vector<BufferId>* buffers : {&moved.read, &moved.written}) {
    std::ranges::sort(*buffers);
    buffers->erase(std::unique(buffers->begin(), buffers->end()), buffers->end());
  }
  return moved;
}

SuperstepOrigins origins_of(const Superstep& superstep) {
  SuperstepOrigins origins;
  if (!superstep.names.empty()) {
    std::vector<std::string> names = superstep.names;
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    origins.exchange = {superstep.names[0], superstep.operation, superstep.source};
    if (names.size() > 1) origins.exchange.name += " +" + std::to_string(names.size() - 1);
  }
  for (const ComputeSet& set : superstep.computes) {
    origins.computes.push_back({set.name, set.operation, set.source});
  }
  return origins;
}

BufferId Execution::actual(BufferId buffer) const {
  if (call == nullptr) return buffer;
  const auto at = std::ranges::lower_bound(call->bindings, buffer, {}, &Call::Binding::formal);
  return at != call->bindings.end() && at->formal == buffer ? at->actual : buffer;
}

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
  const Loop* loop = nullptr;  ///< null: a branch
  UsedBuffers words;           ///< of its scalars
};

/// Walks what a call of a program executes.
class ExecutionWalk {
 public:
  explicit ExecutionWalk(const LoweredProgram& program) : program_(program) {
    for (const Procedure& procedure : program.procedures) {
      first_.push_back(number_);
      number_ += static_cast<std::uint32_t>(procedure.block.steps.size());
    }
    walk(program.main);
  }

  std::vector<Execution> executions;
  std::vector<ControlSpan> controls;  ///< inner ones first

 private:
  void walk(const Block& block) {
    for (const Step& step : block.steps) {
      std::visit(
          Overloaded{[&](const Superstep& superstep) {
                       executions.push_back({&superstep, number_++});
                     },
                     [&](const Call& call) { add(call); }, [&](const Loop& loop) { add(loop); },
                     [&](const Branch& branch) { add(branch); }, [](const HostVisit&) {}},
          step);
    }
  }

  void add(const Call& call) {
    const std::uint32_t procedure = index(call.procedure);
    std::uint32_t place = 0;
    for (const Step& step : program_.procedures[procedure].block.steps) {
      executions.push_back({&std::get<Superstep>(step), first_[procedure] + place, &call, place});
      ++place;
    }
  }

  void add(const Loop& loop) {
    const std::size_t begin = executions.size();
    walk(loop.condition);
    walk(loop.body);
    controls.push_back({begin, executions.size(), &loop, words_of(loop)});
  }

  void add(const Branch& branch) {
    const std::size_t begin = executions.size();
    for (const Block& arm : branch.arms) walk(arm);
    controls.push_back({begin, executions.size(), nullptr, words_of(branch)});
  }

  const LoweredProgram& program_;
  std::vector<std::uint32_t> first_;  ///< superstep of each procedure
  std::uint32_t number_ = 0;
};

void add_buffers(const Block& block, UsedBuffers& used) {
  for (const Step& step : block.steps) {
    std::visit(
        Overloaded{[&](const Superstep& superstep) {
                     const MovedBuffers moved = moved_buffers(superstep);
                     used.read.insert(moved.read.begin(), moved.read.end());
                     used.written.insert(moved.written.begin(), moved.written.end());
                     for (const ComputeSet& set : superstep.computes) {
                       used.read.insert(set.reads.begin(), set.reads.end());
                       used.written.insert(set.writes.begin(), set.writes.end());
                     }
                   },
                   [](const Call&) { SUPERSTEP_CHECK(false, "procedures come after loops"); },
                   [](const HostVisit&) { SUPERSTEP_CHECK(false, "a visit inside of a call"); },
                   [&](const auto& control) {
                     UsedBuffers its = buffers_of(control);
                     used.read.merge(its.read);
                     used.written.merge(its.written);
                   }},
        step);
  }
}

}  // namespace

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

std::vector<Execution> executions_of(const LoweredProgram& program) {
  return ExecutionWalk(program).executions;
}

std::vector<Lifetime> lifetimes_of(const LoweredProgram& program) {
  std::vector<Lifetime> lifetimes(program.buffers.size());
  std::vector<MovedBuffers> moved;  // by superstep
  for (const Superstep* superstep : supersteps_of(program)) {
    moved.push_back(moved_buffers(*superstep));
  }
  std::uint32_t point = 1;
  const ExecutionWalk walk(program);
  std::vector<std::uint32_t> begins;  // by execution, and the end
  for (const Execution& execution : walk.executions) {
    begins.push_back(point);
    const auto life = [&](BufferId buffer) -> Lifetime& {
      return lifetimes[index(execution.actual(buffer))];
    };
    for (const BufferId buffer : moved[execution.number].read) life(buffer).use(point);
    for (const BufferId buffer : moved[execution.number].written) {
      life(buffer).use(point);
      life(buffer).is_received = true;
    }
    ++point;
    for (const ComputeSet& set : execution.superstep->computes) {
      for (const auto* buffers : {&set.reads, &set.writes}) {
        for (const BufferId buffer : *buffers) {
          life(buffer).use(point);
          life(buffer).use(point + set.beside);
        }
      }
      ++point;
    }
  }
  begins.push_back(point);
  for (const ControlSpan& control : walk.controls) {
    const std::uint32_t begin = begins[control.begin];
    const std::uint32_t end = std::max(begin, begins[control.end] - 1);
    const auto use = [&](BufferId buffer) {
      lifetimes[index(buffer)].use(begin);
      if (control.loop != nullptr) lifetimes[index(buffer)].use(end);
    };
    std::ranges::for_each(control.words.read, use);
    std::ranges::for_each(control.words.written, use);
    if (control.loop == nullptr) continue;
    const auto use_if_outer = [&](BufferId buffer) {
      const Lifetime& life = lifetimes[index(buffer)];
      if (life.first < begin || life.last > end) use(buffer);
    };
    for (std::size_t e = control.begin; e < control.end; ++e) {
      const Execution& execution = walk.executions[e];
      const auto use_all = [&](const std::vector<BufferId>& buffers) {
        for (const BufferId buffer : buffers) use_if_outer(execution.actual(buffer));
      };
      use_all(moved[execution.number].read);
      use_all(moved[execution.number].written);
      for (const ComputeSet& set : execution.superstep->computes) {
        use_all(set.reads);
        use_all(set.writes);
      }
    }
    for (const ControlSpan& inner : walk.controls) {
      if (inner.begin < control.begin || inner.end > control.end) continue;
      std::ranges::for_each(inner.words.read, use_if_outer);
      std::ranges::for_each(inner.words.written, use_if_outer);
    }
  }
  for (std::size_t b = 0; b < lifetimes.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.is_result) lifetimes[b].use(point);
    if (buffer.kind == Buffer::Kind::kArgument || buffer.kind == Buffer::Kind::kState ||
        (buffer.kind == Buffer::Kind::kConstant && lifetimes[b].is_used())) {
      lifetimes[b].use(0);
      lifetimes[b].use(point);
    }
  }
  return lifetimes;
}

}  // namespace superstep
