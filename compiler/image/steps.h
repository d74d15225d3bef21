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
  std::vector<std::uint32_t> point;      ///< by step: when, as `Lifetime` counts time
};

/// Numbers the steps and describes them and their vertex types in `info`; `last_point` is that of
/// the host.
[[nodiscard]] Steps number_steps(std::span<const Execution> executions, std::uint32_t last_point,
                                 const CodeletLibrary& library, ProgramInfo& info);

/// The steps that code is marked with, which in a procedure count from its first.
struct MarkedSteps {
  std::vector<std::uint32_t> exchange, compute;  ///< by superstep; that of its first compute set
  std::vector<std::uint32_t> calls;              ///< by call: its first
};

[[nodiscard]] MarkedSteps marked_steps(std::span<const Execution> executions,
                                       std::size_t supersteps, const Steps& steps);

}  // namespace superstep
