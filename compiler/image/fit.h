#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compiler/image/storage.h"
#include "compiler/program/program.h"
#include "isa/machine_config.h"
#include "isa/program_image.h"

namespace superstep {

/// By tile, bytes of code and data for which there is no place; `code_end` is where its code ends.
[[nodiscard]] std::vector<std::uint64_t> missing_bytes(const MachineConfig& machine,
                                                       const Storage& storage,
                                                       const std::vector<std::uint32_t>& code_end);

/// Why a program does not fit, of the tile that misses most.
struct TileIsFull : DoesNotFit {
  TileIsFull(const std::string& message, std::string lack, std::uint32_t code,
             std::vector<BufferId> held)
      : DoesNotFit(message),
        shortage(std::move(lack)),
        code_bytes(code),
        buffers(std::move(held)) {}
  std::string shortage;  ///< what it lacks
  std::uint32_t code_bytes = 0;
  std::vector<BufferId> buffers;  ///< that it holds, biggest first
};

/// Throws TileIsFull for the tile that misses most, if any does.
void check_fits(const MachineConfig& machine, const LoweredProgram& program, const Storage& storage,
                const std::vector<std::uint32_t>& code_end,
                const std::vector<MemoryCategory>& categories);

}  // namespace superstep
