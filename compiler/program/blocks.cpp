#include "compiler/program/blocks.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/overloaded.h"

namespace superstep {
namespace {

template <class Pointer, class Program>
std::vector<Pointer> collect(Program& program) {
  std::vector<Pointer> supersteps;
  const auto add = [&](auto& block) {
    for (auto& step : block.steps) {
      std::visit(Overloaded{[](const Call&) {},  // its supersteps are those of the procedure
                            [&](std::remove_pointer_t<Pointer>& superstep) {
                              supersteps.push_back(&superstep);
                            }},
                 step);
    }
  };
  for (auto& procedure : program.procedures) add(procedure.block);
  add(program.main);
  return supersteps;
}

}  // namespace

std::vector<Superstep*> supersteps_of(LoweredProgram& program) {
  return collect<Superstep*>(program);
}
std::vector<const Superstep*> supersteps_of(const LoweredProgram& program) {
  return collect<const Superstep*>(program);
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

std::vector<Execution> executions_of(const LoweredProgram& program) {
  std::vector<std::uint32_t> first;  // superstep of each procedure
  std::uint32_t number = 0;
  for (const Procedure& procedure : program.procedures) {
    first.push_back(number);
    number += static_cast<std::uint32_t>(procedure.block.steps.size());
  }
  std::vector<Execution> executions;
  const auto add_call = [&](const Call& call) {
    const std::uint32_t procedure = index(call.procedure);
    std::uint32_t place = 0;
    for (const Step& step : program.procedures[procedure].block.steps) {
      executions.push_back({&std::get<Superstep>(step), first[procedure] + place, &call, place});
      ++place;
    }
  };
  for (const Step& step : program.main.steps) {
    std::visit(Overloaded{[&](const Superstep& superstep) {
                            executions.push_back({&superstep, number++});
                          },
                          add_call},
               step);
  }
  return executions;
}

std::vector<Lifetime> lifetimes_of(const LoweredProgram& program) {
  std::vector<Lifetime> lifetimes(program.buffers.size());
  std::vector<MovedBuffers> moved;  // by superstep
  for (const Superstep* superstep : supersteps_of(program)) {
    moved.push_back(moved_buffers(*superstep));
  }
  std::uint32_t point = 1;
  for (const Execution& execution : executions_of(program)) {
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
