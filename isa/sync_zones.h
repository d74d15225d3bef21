#pragma once

#include <cstdint>

namespace superstep {

/// Sync zones that the machine models: what `sans` armed, the workers of a tile
/// (TEXCH_SYNCZONE_LOCAL of PopLibs), all tiles, and these with the host (osmarks/ipu-stack for the
/// others).
constexpr std::uint32_t kZoneAns = 1;
constexpr std::uint32_t kZoneLocal = 2;
constexpr std::uint32_t kZoneInternal = 3;
constexpr std::uint32_t kZoneExternal = 4;

}  // namespace superstep
