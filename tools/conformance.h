#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isa/machine_config.h"

namespace superstep {

/// A module that checks itself, as text.
struct ConformanceModule {
  std::string file;
  std::string text;
  /// Wherever the folder lies: `interpret/abs.mlir#2`, by the folder's name, the path in it and, of
  /// several modules of a file, the number.
  std::string name;
  std::string problem;  ///< why there is no text
};

enum class Verdict : std::uint8_t {
  kPassed,
  kWrong,    ///< a check fails, the program traps, or it does not end
  kRefused,  ///< it is not supported, or does not fit
  kNotRun,   ///< what the checks compare is right, but no step of a tile is of an op that makes it
  kMalformed,  ///< its text is no module, or cannot be read
};
[[nodiscard]] const char* name_of(Verdict verdict);

/// What became of one module.
struct ConformanceOutcome {
  std::string name, file, function;
  std::string primitive;  ///< of JAX, or the op, by the name of the file
  std::string dtype;      ///< likewise; else that of what is checked
  Verdict verdict = Verdict::kPassed;
  std::string reason;                     ///< unless it passed
  std::string disabled;                   ///< why the module itself says that it is not to be run
  std::uint64_t device_steps = 0;         ///< supersteps in which tiles compute or exchange
  std::uint64_t worker_instructions = 0;  ///< of the whole run
};

/// Every module of a file, or of the *.mlir files below a folder, in order. Each of these files has
/// at least one: what cannot be read, or says nothing, is one with a problem.
[[nodiscard]] std::vector<ConformanceModule> conformance_modules(const std::string& path);

/// What ends a module that does not end by itself.
struct ConformanceLimits {
  std::uint64_t max_supersteps = 10'000'000;
  std::function<bool()> interrupted = {};  ///< asked now and then
};

/// Compiles and runs a module with its data as arguments, so that tiles compute what it checks, and
/// compares results on the host. Nothing that the module does is thrown. Nothing where its run was
/// interrupted.
[[nodiscard]] std::optional<ConformanceOutcome> run_conformance(const ConformanceModule& module,
                                                                const MachineConfig& machine,
                                                                const ConformanceLimits& limits);

}  // namespace superstep
