#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "isa/machine_config.h"

namespace superstep {

/// When a word is on a link.
struct LinkUse {
  std::uint32_t link = 0;
  std::uint32_t offset = 0;  ///< cycles after the word's slot on its source's bus
};

/// How a word comes from one tile to another.
struct Route {
  Cycles latency;
  std::vector<LinkUse> links;  ///< in order; none where each pair of tiles has a way of its own
};

/// Routes are static. Those from one tile are a tree, so that a word that several tiles receive is
/// on each link once.
///
/// Mesh: from each place along its row, then along the column of the destination. Ring: by the
/// shorter way in the order of the tiles, upwards when both are equally long.
[[nodiscard]] Route route(const MachineConfig& machine, TileId source, TileId destination);

/// Whether words share links.
[[nodiscard]] bool has_links(const MachineConfig& machine);
[[nodiscard]] std::uint32_t number_of_links(const MachineConfig& machine);

/// As traps name it: `the link of row 1, column 2, lane 0 to the next lane`.
[[nodiscard]] std::string link_name(const MachineConfig& machine, std::uint32_t link);

}  // namespace superstep
