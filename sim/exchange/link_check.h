#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "isa/machine_config.h"

namespace superstep {

/// Words that one tile sends and another receives, item by item.
struct LinkedWords {
  TileId source{}, destination{};
  std::uint64_t begin = 0, end = 0;  ///< cycles in which they leave
  std::uint32_t address = 0;         ///< from which the first of them leaves
};

/// Two different words on one link in one cycle.
struct LinkClash {
  std::uint64_t cycle = 0;
  std::uint32_t link = 0;
  LinkedWords one, other;  ///< that of `other` begins later, or is of a higher tile
};

/// The earliest clash, of the lowest link, of the words of a phase on the links of a machine.
[[nodiscard]] std::optional<LinkClash> find_clash(const MachineConfig& machine,
                                                  std::span<const LinkedWords> words);

}  // namespace superstep
