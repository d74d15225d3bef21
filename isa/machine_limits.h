#pragma once

#include <cstdint>
#include <string>

#include "isa/machine_config.h"

namespace superstep {

/// How much of a machine an encoding can name.
struct EncodingLimits {
  std::uint32_t tiles, memory_end, workers;
};

/// mk2: the numbers of the exchange muxes from 0x600 on are the host's and others, its pointers
/// have 18 bits of words, `setzi` 20 bits of an address, and a worker's number has 3 bits. wide:
/// packed addresses have 21 bits (`tapack`), and the supervisor has 16 registers for workers.
[[nodiscard]] constexpr EncodingLimits limits_of(Encoding encoding) {
  return encoding == Encoding::kMk2 ? EncodingLimits{0x600, 0x100000, 8}
                                    : EncodingLimits{8192, 0x200000, kMostWorkers};
}

/// Why a machine needs the wide encoding, as `problems` says it of mk2; empty when it does not.
[[nodiscard]] std::string beyond_mk2(const MachineConfig& machine);

}  // namespace superstep
