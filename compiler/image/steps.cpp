#include "compiler/image/steps.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "compiler/program/call_loop.h"
#include "compiler/program/trips.h"

namespace superstep {
namespace {

std::uint32_t tiles_of(const ComputeSet& set) {
  std::vector<TileId> tiles;
  for (const Launch& launch : set.launches) tiles.push_back(launch.tile);
  std::ranges::sort(tiles);
  return static_cast<std::uint32_t>(std::unique(tiles.begin(), tiles.end()) - tiles.begin());
}

/// Numbers in the library, ascending.
std::vector<std::uint32_t> vertex_types_of(const ComputeSet& set, const CodeletLibrary& library) {
  std::vector<bool> used(library.codelets().size());
  for (const Launch& launch : set.launches) {
    if (launch.stages.empty()) used[library.number(set.codelet)] = true;
    for (const Launch::Stage& stage : launch.stages) used[library.number(stage.codelet)] = true;
  }
  std::vector<std::uint32_t> types;
  for (std::uint32_t c = 0; c < used.size(); ++c) {
    if (used[c]) types.push_back(c);
  }
  return types;
}

/// Numbers the steps of a program in order of execution.
class StepNumbering {
 public:
  StepNumbering(const LoweredProgram& program, std::span<const Execution> executions,
                const CodeletLibrary& library, std::vector<StepInfo>& steps)
      : program_(program), executions_(executions), library_(library), steps_(steps) {
    for (const Procedure& procedure : program.procedures) {
      first_loop_.push_back(loop_);
      loop_ += count_loops(procedure.block);
    }
    numbers.loops.resize(loop_ + count_loops(program.main));
    add({.kind = StepInfo::Kind::kHost, .name = "host", .operation = "", .source = {}},
        last_point_of(program));
    walk(program.main, {});
  }

  Steps numbers;

 private:
  using Parent = std::optional<std::uint32_t>;

  std::uint32_t add(StepInfo step, std::uint32_t point) {
    if (call_ != nullptr) {
      step.shared_code = index(call_->procedure);
      step.call_site = static_cast<std::uint32_t>(numbers.calls.size() - 1);
    }
    steps_.push_back(std::move(step));
    numbers.point.push_back(point);
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }

  std::uint32_t add_control(StepInfo::Kind kind, const Origin& origin, const Parent& parent,
                            std::uint32_t point) {
    return add({.kind = kind,
                .name = origin.name,
                .operation = origin.operation,
                .source = origin.source,
                .parent = parent},
               point);
  }

  void walk(const Block& block, const Parent& parent) {
    for (const Step& step : block.steps) {
      std::visit(
          Overloaded{[&](const Superstep&) { add(executions_[execution_++], parent); },
                     [&](const Call& call) { add(call, parent); },
                     [&](const Loop& loop) { add(loop, parent); },
                     [&](const Branch& branch) { add(branch, parent); }, [](const HostVisit&) {}},
          step);
    }
  }

  /// How a report names a loop or branch: in a procedure by what is called.
  [[nodiscard]] Origin next_control(const Origin& own) {
    return call_ != nullptr ? call_->controls[control_++] : own;
  }

  void add(const Call& call, const Parent& parent) {
    first_ = static_cast<std::uint32_t>(steps_.size());
    numbers.calls.push_back(first_);
    call_ = &call;
    control_ = 0;
    const std::size_t next = std::exchange(loop_, first_loop_[index(call.procedure)]);
    walk(program_.procedures[index(call.procedure)].block, parent);
    loop_ = next;
    first_ = 0;
    call_ = nullptr;
  }

  void add(const Loop& loop, const Parent& parent) {
    std::uint32_t& marked = numbers.loops[loop_++];
    ++point_;
    if (&loop.condition == &call_of(program_)) {
      marked = kHostStep;
      return walk(loop.condition, parent);
    }
    const std::uint32_t number =
        add_control(StepInfo::Kind::kLoop, next_control(loop.origin), parent, point_);
    steps_[number].trips = trips_of(loop);
    marked = number - first_;
    walk(loop.condition, number);
    walk(loop.body, number);
    ++point_;
  }

  void add(const Branch& branch, const Parent& parent) {
    const Origin origin = next_control(branch.origin);
    const std::uint32_t number = add_control(StepInfo::Kind::kBranch, origin, parent, ++point_);
    for (std::size_t arm = 0; arm < branch.arms.size(); ++arm) {
      Origin of_arm = origin;
      of_arm.name += ".arm" + std::to_string(arm);
      // It has no point of its own: that of its first step.
      walk(branch.arms[arm], add_control(StepInfo::Kind::kArm, of_arm, number, point_ + 1));
    }
  }

  void add(const Execution& execution, const Parent& parent) {
    const Superstep& superstep = *execution.superstep;
    const SuperstepOrigins origins = execution.origins();
    // Without an exchange there is no barrier: it goes on with the superstep before.
    if (!superstep.movements.empty() || !superstep.feeds.empty()) ++number_;
    point_ = execution.point;
    numbers.first.push_back(first_);
    numbers.exchange.push_back(static_cast<std::uint32_t>(steps_.size()));
    if (!superstep.feeds.empty()) {
      add({.kind = StepInfo::Kind::kHost,
           .name = origins.exchange.name,
           .operation = origins.exchange.operation,
           .source = origins.exchange.source,
           .parent = parent},
          point_);
    }
    if (!superstep.movements.empty()) {
      StepInfo step{.kind = StepInfo::Kind::kExchange,
                    .name = origins.exchange.name,
                    .operation = origins.exchange.operation,
                    .source = origins.exchange.source,
                    .superstep = number_,
                    .parent = parent,
                    .fused = origins.exchange.fused};
      for (const Movement& movement : superstep.movements) {
        step.exchange_bytes += 4ULL * movement.words * movement.destinations.size();
      }
      add(std::move(step), point_);
    }
    numbers.superstep.push_back(number_);
    numbers.compute.push_back(static_cast<std::uint32_t>(steps_.size()));
    for (std::size_t c = 0; c < superstep.computes.size(); ++c) {
      const ComputeSet& set = superstep.computes[c];
      const Origin& origin = origins.computes[c];
      add({.kind = StepInfo::Kind::kCompute,
           .name = origin.name,
           .operation = origin.operation,
           .source = origin.source,
           .superstep = number_,
           .parent = parent,
           .flops = set.flops,
           .vertices = static_cast<std::uint32_t>(set.launches.size()),
           .tiles = tiles_of(set),
           .vertex_types = vertex_types_of(set, library_),
           .fused = origin.fused},
          ++point_);
    }
  }

  const LoweredProgram& program_;
  std::span<const Execution> executions_;
  const CodeletLibrary& library_;
  std::vector<StepInfo>& steps_;
  std::size_t execution_ = 0;
  std::uint32_t number_ = 0;             ///< of the superstep
  std::uint32_t point_ = 0;              ///< of the buffers' lifetimes: the last that has passed
  std::uint32_t first_ = 0;              ///< step of the call that is walked
  std::vector<std::size_t> first_loop_;  ///< of each procedure
  std::size_t loop_ = 0;                 ///< the next one
  const Call* call_ = nullptr;           ///< that is walked
  std::size_t control_ = 0;              ///< the next one of the call
};

}  // namespace

Steps number_steps(const LoweredProgram& program, std::span<const Execution> executions,
                   const CodeletLibrary& library, ProgramInfo& info) {
  StepNumbering numbering(program, executions, library, info.steps);
  for (const vertex::Codelet& codelet : library.codelets()) {
    info.vertex_types.push_back(
        {codelet.name, 4 * static_cast<std::uint32_t>(codelet.words.size())});
  }
  return std::move(numbering.numbers);
}

void predict_control(std::vector<StepInfo>& steps, std::uint64_t barrier_cycles) {
  using Kind = StepInfo::Kind;
  for (StepInfo& step : steps) {
    if (step.is_control()) step.predicted_cycles = 0;
  }
  // Steps follow those that execute them.
  for (std::size_t s = steps.size(); s-- > 0;) {
    const StepInfo& step = steps[s];
    if (!step.parent) continue;
    std::uint64_t& of_parent = steps[*step.parent].predicted_cycles;
    if (step.kind == Kind::kArm) {
      of_parent = std::max(of_parent, step.predicted_cycles);
    } else {
      const bool moves = step.kind == Kind::kExchange;
      of_parent += step.trips.value_or(1) * step.predicted_cycles + (moves ? barrier_cycles : 0);
    }
  }
}

MarkedSteps marked_steps(std::span<const Execution> executions, std::size_t supersteps,
                         const Steps& steps) {
  MarkedSteps marked;
  marked.calls = steps.calls;
  marked.loops = steps.loops;
  marked.exchange.resize(supersteps);
  marked.compute.resize(supersteps);
  for (std::size_t e = 0; e < executions.size(); ++e) {
    marked.exchange[executions[e].number] = steps.exchange[e] - steps.first[e];
    marked.compute[executions[e].number] = steps.compute[e] - steps.first[e];
  }
  return marked;
}

}  // namespace superstep
