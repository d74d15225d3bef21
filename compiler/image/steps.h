#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/program/blocks.h"
#include "isa/program_image.h"

namespace superstep {

inline constexpr std::uint32_t kHostStep = 0;

/// The numbers of a program's steps.
struct Steps {
  std::vector<std::uint32_t> exchange;   ///< by execution; where nothing moves, that of `compute`
  std::vector<std::uint32_t> compute;    ///< by execution: that of its first compute set
  std::vector<std::uint32_t> superstep;  ///< by execution: as `StepInfo` numbers it
  std::vector<std::uint32_t> first;      ///< by execution: that of its call; of `main` 0
  std::vector<std::uint32_t> calls;      ///< by call, in order of execution: its first
  /// By loop, those of procedures first, which count from their first; that over calls is the
  /// host's.
  std::vector<std::uint32_t> loops;
  std::vector<std::uint32_t> point;  ///< by step: when, as `Lifetime` counts time
};

/// Numbers the steps and describes them and their vertex types in `info`.
[[nodiscard]] Steps number_steps(const LoweredProgram& program,
                                 std::span<const Execution> executions,
                                 const CodeletLibrary& library, ProgramInfo& info);

/// Sets what loops, branches and arms are predicted to take, by what is predicted for other steps.
void predict_control(std::vector<StepInfo>& steps, std::uint64_t barrier_cycles);

/// The steps that code is marked with, which in a procedure count from its first.
struct MarkedSteps {
  std::vector<std::uint32_t> exchange, compute;  ///< by superstep; that of its first compute set
  std::vector<std::uint32_t> calls, loops;       ///< as `Steps` has them
};

[[nodiscard]] MarkedSteps marked_steps(std::span<const Execution> executions,
                                       std::size_t supersteps, const Steps& steps);

}  // namespace superstep
