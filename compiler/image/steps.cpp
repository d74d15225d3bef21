#include "compiler/image/steps.h"

#include <algorithm>
#include <utility>

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

}  // namespace

Steps number_steps(std::span<const Execution> executions, std::uint32_t last_point,
                   const CodeletLibrary& library, ProgramInfo& info) {
  Steps numbers;
  std::vector<StepInfo>& steps = info.steps;
  steps.push_back({.kind = StepInfo::Kind::kHost, .name = "host", .operation = "", .source = {}});
  numbers.point = {last_point};
  std::uint32_t number = 0;  // of the superstep
  for (const Execution& execution : executions) {
    const Superstep& superstep = *execution.superstep;
    const SuperstepOrigins origins = execution.origins();
    // Without an exchange there is no barrier: it goes on with the superstep before.
    if (!superstep.movements.empty()) ++number;
    numbers.exchange.push_back(static_cast<std::uint32_t>(steps.size()));
    if (!superstep.movements.empty()) {
      StepInfo step{.kind = StepInfo::Kind::kExchange,
                    .name = origins.exchange.name,
                    .operation = origins.exchange.operation,
                    .source = origins.exchange.source};
      for (const Movement& movement : superstep.movements) {
        step.exchange_bytes += 4ULL * movement.words * movement.destinations.size();
      }
      step.superstep = number;
      numbers.point.push_back(execution.point);
      steps.push_back(std::move(step));
    }
    numbers.superstep.push_back(number);
    numbers.compute.push_back(static_cast<std::uint32_t>(steps.size()));
    for (std::size_t c = 0; c < superstep.computes.size(); ++c) {
      const ComputeSet& set = superstep.computes[c];
      const Origin& origin = origins.computes[c];
      steps.push_back({.kind = StepInfo::Kind::kCompute,
                       .name = origin.name,
                       .operation = origin.operation,
                       .source = origin.source,
                       .superstep = number,
                       .flops = set.flops,
                       .vertices = static_cast<std::uint32_t>(set.launches.size()),
                       .tiles = tiles_of(set),
                       .vertex_types = vertex_types_of(set, library)});
      numbers.point.push_back(execution.point + 1 + static_cast<std::uint32_t>(c));
    }
  }
  for (const vertex::Codelet& codelet : library.codelets()) {
    info.vertex_types.push_back(
        {codelet.name, 4 * static_cast<std::uint32_t>(codelet.words.size())});
  }
  return numbers;
}

MarkedSteps marked_steps(std::span<const Execution> executions, std::size_t supersteps,
                         const Steps& steps) {
  MarkedSteps marked;
  marked.exchange.resize(supersteps);
  marked.compute.resize(supersteps);
  std::uint32_t base = 0;
  for (std::size_t e = 0; e < executions.size(); ++e) {
    const Execution& execution = executions[e];
    if (execution.call == nullptr) base = 0;
    if (execution.call != nullptr && execution.place == 0) {
      base = steps.exchange[e];
      marked.calls.push_back(base);
    }
    marked.exchange[execution.number] = steps.exchange[e] - base;
    marked.compute[execution.number] = steps.compute[e] - base;
  }
  return marked;
}

}  // namespace superstep
