#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "compiler/graph/graph.h"
#include "compiler/progress.h"
#include "isa/program_image.h"

namespace superstep {

/// Reads StableHLO text, pretty or generic form. Throws one error with every problem of the module:
/// MalformedInput if any is malformed, else Unsupported.
[[nodiscard]] Module import_stablehlo(std::string_view text, const std::string& file);

/// Compiles a module for a machine. Throws DoesNotFit with the worst tile, its categories and its
/// biggest tensors; the memory part of `info` is then passed to `on_memory` first, so that a report
/// can still be written. `keep_exchange_plan` fills in `ProgramInfo::exchanges`, which no run
/// needs.
[[nodiscard]] ProgramImage compile(const Module& module, const MachineConfig& machine,
                                   const CompileProgress& progress = {},
                                   const std::function<void(const ProgramInfo&)>& on_memory = {},
                                   bool keep_exchange_plan = false);

}  // namespace superstep
