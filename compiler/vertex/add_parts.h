#pragma once

#include <cstdint>

#include "compiler/vertex/codelet.h"

namespace superstep::vertex {

/// Words of vertex state of one worker: {parts, address of its elements in the first part, address
/// of its sums, pairs of sums, pitch / 16}.
inline constexpr std::int64_t kAddPartsStateWords = 5;
/// Sums that are made together.
inline constexpr std::int64_t kAddPartsGroup = 4;

/// f32 sums of parts that lie `pitch` bytes apart, a multiple of 16 in region 1: 0 plus the first
/// part plus the second and so on. A worker's elements begin 16-byte aligned.
[[nodiscard]] Codelet add_parts(const MachineConfig& machine);

/// Worker slots for `pairs` pairs of sums.
[[nodiscard]] std::int64_t add_parts_slots(std::int64_t parts, std::int64_t pairs);

}  // namespace superstep::vertex
