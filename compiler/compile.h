#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "compiler/graph/graph.h"
#include "compiler/progress.h"
#include "isa/program_image.h"

namespace superstep {

struct LoweredProgram;

/// Reads StableHLO text, pretty or generic form. Throws one error with every problem of the module:
/// MalformedInput if any is malformed, else Unsupported.
[[nodiscard]] Module import_stablehlo(std::string_view text, const std::string& file);

/// What a caller wants of a compile besides the image; all may be empty.
struct CompileOptions {
  CompileProgress progress = {};
  /// Gets the memory part of `info` of a program that does not fit, before DoesNotFit is thrown.
  std::function<void(const ProgramInfo&)> on_memory = {};
  /// Gets the module as the passes leave it.
  std::function<void(const Module&)> on_graph = {};
  /// Gets the steps, again where another plan is tried.
  std::function<void(const LoweredProgram&)> on_steps = {};
  /// Fills in `ProgramInfo::exchanges`, which no run needs.
  bool keep_exchange_plan = false;
};

/// Compiles a module. Throws MalformedInput when the machine has `problems`, and DoesNotFit with
/// the worst tile, its categories and its biggest tensors.
[[nodiscard]] ProgramImage compile(const Module& module, const MachineConfig& machine,
                                   const CompileOptions& options = {});

}  // namespace superstep
