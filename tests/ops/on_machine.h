#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace superstep {

/// The results of a graph that is compiled for a builtin machine and runs there. Constants become
/// arguments, so that the machine computes and not the compiler. Throws what compilation throws,
/// and std::runtime_error for a trap.
std::vector<HostTensor> run_on(const std::string& machine, const Graph& graph,
                               std::span<const HostTensor> arguments);

}  // namespace superstep
