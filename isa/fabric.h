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

/// When a word is on neighbouring links of a line: a row or a column of a mesh in one direction, or
/// the ring. Links of a line are numbered as words pass them, one hop latency after the other.
struct LineUse {
  std::uint32_t line = 0;
  std::uint32_t begin = 0, end = 0;  ///< links of the line
  std::uint32_t offset = 0;          ///< on the first, after the word's slot on its source's bus
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

/// The links of a route, line by line in order. On one line those from one tile to several have one
/// first link.
[[nodiscard]] std::vector<LineUse> lines_of_route(const MachineConfig& machine, TileId source,
                                                  TileId destination);
/// The link of a line with this number.
[[nodiscard]] std::uint32_t link_of_line(const MachineConfig& machine, std::uint32_t line,
                                         std::uint32_t number);

/// The links of it.
void append_links(const MachineConfig& machine, const LineUse& use, std::vector<LinkUse>& links);

/// Whether words share links.
[[nodiscard]] bool has_links(const MachineConfig& machine);
[[nodiscard]] std::uint32_t number_of_links(const MachineConfig& machine);

/// As traps name it: `the link of row 1, column 2, lane 0 to the next lane`.
[[nodiscard]] std::string link_name(const MachineConfig& machine, std::uint32_t link);

}  // namespace superstep
