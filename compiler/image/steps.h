#pragma once

#include <cstdint>
#include <vector>

#include "compiler/image/codelets.h"
#include "compiler/program/program.h"
#include "isa/program_image.h"

namespace superstep {

inline constexpr std::uint32_t kHostStep = 0;

/// The numbers of a program's steps.
struct Steps {
  std::vector<std::uint32_t> exchange;  ///< by superstep; where nothing moves, that of `compute`
  std::vector<std::uint32_t> compute;   ///< by superstep: that of its first compute set
  std::vector<std::uint32_t> point;     ///< by step: when, as `Storage::entries` counts time
};

/// Numbers the steps and describes them and their vertex types in `info`.
[[nodiscard]] Steps number_steps(const LoweredProgram& program, const CodeletLibrary& library,
                                 ProgramInfo& info);

}  // namespace superstep
