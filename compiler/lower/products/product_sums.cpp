#include "compiler/lower/products/product_sums.h"

#include <algorithm>

#include "base/divide.h"
#include "compiler/vertex/add_parts.h"

namespace superstep {
namespace {

/// Results that a tile adds of a run of parts are a multiple [chosen: two groups for a worker, in
/// one message of a part].
constexpr std::int64_t kWidthUnit = 2 * vertex::kAddPartsGroup;

}  // namespace

std::int64_t SumPlan::received(const SumProblem& problem) const {
  return runs == 1 ? problem.per_tile * parts : std::max(width * parts, problem.at_end * runs);
}

std::int64_t cycles_to_add(const MachineConfig& machine, const Costs& costs, std::int64_t sums,
                           std::int64_t parts) {
  const std::int64_t groups =
      divide_up(divide_up(sums, vertex::kAddPartsGroup), machine.tile.workers);
  return costs.launch(vertex::add_parts_slots(parts, groups));
}

SumPlan plan_sums(const MachineConfig& machine, const Costs& costs, const SumProblem& problem) {
  // Where rows are neighbours in the result, each result travels alone and is put in its place.
  const auto stage = [&](std::int64_t sums, std::int64_t parts, bool come_in_runs,
                         std::int64_t sent) {
    const std::int64_t moved = std::max(sums * parts, sent);
    return costs.phase() +
           (come_in_runs ? costs.moved(moved) : costs.port(moved, moved) + costs.launch()) +
           (parts > 1 ? cycles_to_add(machine, costs, sums, parts) : 0);
  };
  SumPlan best{
      .parts = problem.parts,
      .cycles = stage(problem.per_tile, problem.parts, problem.come_in_runs, problem.sent)};
  // Numbers of runs some tenth apart.
  for (std::int64_t runs = 2; 2 * runs <= problem.parts; runs += 1 + runs / 8) {
    SumPlan plan{.parts = divide_up(problem.parts, runs)};
    plan.runs = divide_up(problem.parts, plan.parts);
    plan.width = round_up(divide_up(problem.results * plan.runs, machine.tiles()), kWidthUnit);
    if (divide_up(problem.results, plan.width) * plan.runs > machine.tiles()) continue;
    plan.cycles = stage(plan.width, plan.parts, problem.come_in_runs, problem.sent) +
                  stage(problem.at_end, plan.runs, true, plan.width);
    if (plan.cycles < best.cycles) best = plan;
  }
  return best;
}

}  // namespace superstep
