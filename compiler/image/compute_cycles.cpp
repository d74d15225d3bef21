#include "compiler/image/compute_cycles.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "compiler/cost/launch_cycles.h"

namespace superstep {
namespace {

/// Of launches that run at once, from the issue of the first instruction to that of the next one
/// behind the wait for the workers.
std::uint64_t cycles_of(std::span<const PlacedLaunch> launches, LaunchCycles& cycles,
                        const MachineConfig& machine) {
  const PlacedLaunch& first = launches.front();
  if (launches.size() == 1) return cycles.alone(first.codelet, *first.launch);
  std::vector<vertex::WorkerTiming> workers;
  for (const PlacedLaunch& launch : launches) {
    const auto& all = cycles.workers(launch.codelet, *launch.launch);
    workers.insert(workers.end(), all.begin(), all.begin() + launch.busy);
  }
  return vertex::launch_cycles(machine, workers) + 1;
}

}  // namespace

ComputeCycles predict_compute(const std::vector<TileProgram>& tiles, std::size_t supersteps,
                              const CodeletLibrary& library, const MachineConfig& machine) {
  LaunchCycles alone(machine, [&](std::uint32_t vertex) -> const vertex::Codelet& {
    return library.codelet(vertex);
  });
  ComputeCycles most;
  for (const TileProgram& t : tiles) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
        cycles;  // a tile may launch a set several times
    std::vector<std::uint64_t>& in_code = most.by_tile.emplace_back(supersteps);
    for (auto launch = t.launches.begin(); launch != t.launches.end();) {
      const auto first = launch++;
      while (launch != t.launches.end() && launch->is_with_previous) ++launch;
      const std::uint64_t taken = cycles_of(std::span(first, launch), alone, machine);
      cycles[{first->superstep, first->set}] += taken;
      in_code[first->superstep] += taken;
    }
    for (const auto& [set, taken] : cycles) most.of_set[set] = std::max(most.of_set[set], taken);
  }
  return most;
}

std::uint64_t call_cycles(const ComputeCycles& cycles, std::span<const Execution> executions,
                          const Steps& steps, std::span<const std::uint64_t> times) {
  if (executions.empty()) return 0;
  std::vector<std::uint64_t> of_superstep(steps.superstep.back() + 1), of_tile(of_superstep.size());
  for (const std::vector<std::uint64_t>& in_code : cycles.by_tile) {
    std::ranges::fill(of_tile, 0);
    for (std::size_t e = 0; e < executions.size(); ++e) {
      if (executions[e].superstep->computes.empty()) continue;
      of_tile[steps.superstep[e]] += times[steps.compute[e]] * in_code[executions[e].number];
    }
    for (std::size_t s = 0; s < of_tile.size(); ++s) {
      of_superstep[s] = std::max(of_superstep[s], of_tile[s]);
    }
  }
  return std::accumulate(of_superstep.begin(), of_superstep.end(), std::uint64_t{0});
}

}  // namespace superstep
