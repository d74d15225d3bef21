#pragma once

#include <cstdint>
#include <vector>

#include "compiler/image/storage.h"
#include "compiler/program/program.h"
#include "isa/machine_config.h"
#include "isa/program_image.h"

namespace superstep {

/// By tile, bytes of code and data for which there is no place; `code_end` is where its code ends.
[[nodiscard]] std::vector<std::uint64_t> missing_bytes(const MachineConfig& machine,
                                                       const Storage& storage,
                                                       const std::vector<std::uint32_t>& code_end);

/// Throws DoesNotFit for the tile that misses most, if any does.
void check_fits(const MachineConfig& machine, const LoweredProgram& program, const Storage& storage,
                const std::vector<std::uint32_t>& code_end,
                const std::vector<MemoryCategory>& categories);

}  // namespace superstep
