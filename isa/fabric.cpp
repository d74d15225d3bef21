#include "isa/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/timing.h"

namespace superstep {
namespace {

/// Links that leave a place of a mesh, and a tile of a ring.
enum MeshLink : std::uint32_t { kUpX, kDownX, kUpY, kDownY, kMeshLinks };
enum RingLink : std::uint32_t { kUp, kDown, kRingLinks };

/// Lanes lie side by side in their row.
std::uint32_t mesh_columns(const MachineConfig& machine) {
  return machine.grid.columns * machine.grid.lanes;
}
std::uint32_t mesh_column(const MachineConfig& machine, const TilePlace& place) {
  return place.column * machine.grid.lanes + place.lane;
}

/// A row or column of a mesh, or the ring, and the direction; a link of it is one of that kind.
std::uint32_t mesh_line(std::uint32_t row_or_column, MeshLink link) {
  return row_or_column * kMeshLinks + link;
}

/// A way, line by line.
class Path {
 public:
  explicit Path(const MachineConfig& machine) : hop_(machine.exchange.hop_latency) {}

  void add(std::uint32_t line, std::uint32_t begin, std::uint32_t end) {
    if (begin == end) return;
    lines_.push_back({line, begin, end, hop_ * links_});
    links_ += end - begin;
  }
  [[nodiscard]] std::vector<LineUse> lines() && { return std::move(lines_); }

 private:
  std::uint32_t hop_;
  std::uint32_t links_ = 0;
  std::vector<LineUse> lines_;
};

std::vector<LineUse> mesh_lines(const MachineConfig& machine, TileId source, TileId destination) {
  const TilePlace from = place_of(machine, source), to = place_of(machine, destination);
  const std::uint32_t from_x = mesh_column(machine, from), to_x = mesh_column(machine, to);
  const std::uint32_t last_x = mesh_columns(machine) - 1, last_y = machine.grid.rows - 1;
  Path path(machine);
  if (from_x < to_x) path.add(mesh_line(from.row, kUpX), from_x, to_x);
  if (from_x > to_x) path.add(mesh_line(from.row, kDownX), last_x - from_x, last_x - to_x);
  if (from.row < to.row) path.add(mesh_line(to_x, kUpY), from.row, to.row);
  if (from.row > to.row) path.add(mesh_line(to_x, kDownY), last_y - from.row, last_y - to.row);
  return std::move(path).lines();
}

std::vector<LineUse> ring_lines(const MachineConfig& machine, TileId source, TileId destination) {
  const std::uint32_t tiles = machine.tiles(), from = index(source), to = index(destination);
  const std::uint32_t upwards = (to + tiles - from) % tiles;
  const bool is_up = upwards <= tiles / 2;
  const std::uint32_t begin = is_up ? from : tiles - 1 - from;
  const std::uint32_t end = begin + (is_up ? upwards : tiles - upwards) % tiles;
  const std::uint32_t line = is_up ? kUp : kDown;
  Path path(machine);
  path.add(line, begin, std::min(end, tiles));
  if (end > tiles) path.add(line, 0, end - tiles);
  return std::move(path).lines();
}

}  // namespace

std::vector<LineUse> lines_of_route(const MachineConfig& machine, TileId source,
                                    TileId destination) {
  switch (machine.exchange.fabric) {
    case FabricKind::kMesh:
      return mesh_lines(machine, source, destination);
    case FabricKind::kRing:
      return ring_lines(machine, source, destination);
    default:
      return {};
  }
}

std::uint32_t link_of_line(const MachineConfig& machine, std::uint32_t line, std::uint32_t number) {
  if (machine.exchange.fabric == FabricKind::kRing) {
    const std::uint32_t tile = line == kUp ? number : machine.tiles() - 1 - number;
    return tile * kRingLinks + line;
  }
  const std::uint32_t columns = mesh_columns(machine), link = line % kMeshLinks;
  std::uint32_t x = line / kMeshLinks, y = line / kMeshLinks;
  if (link == kUpX) x = number;
  if (link == kDownX) x = columns - 1 - number;
  if (link == kUpY) y = number;
  if (link == kDownY) y = machine.grid.rows - 1 - number;
  return (y * columns + x) * kMeshLinks + link;
}

void append_links(const MachineConfig& machine, const LineUse& use, std::vector<LinkUse>& links) {
  std::uint32_t offset = use.offset;
  for (std::uint32_t number = use.begin; number < use.end; ++number) {
    links.push_back({link_of_line(machine, use.line, number), offset});
    offset += machine.exchange.hop_latency;
  }
}

Route route(const MachineConfig& machine, TileId source, TileId destination) {
  Route route{exchange_latency(machine, source, destination), {}};
  for (const LineUse& use : lines_of_route(machine, source, destination)) {
    append_links(machine, use, route.links);
  }
  return route;
}

bool has_links(const MachineConfig& machine) {
  return machine.exchange.fabric == FabricKind::kMesh ||
         machine.exchange.fabric == FabricKind::kRing;
}

std::uint32_t number_of_links(const MachineConfig& machine) {
  if (!has_links(machine)) return 0;
  return machine.exchange.fabric == FabricKind::kRing
             ? machine.tiles() * kRingLinks
             : machine.grid.rows * mesh_columns(machine) * kMeshLinks;
}

std::string link_name(const MachineConfig& machine, std::uint32_t link) {
  if (machine.exchange.fabric == FabricKind::kRing) {
    return fmt::format("the link of tile {} {}", link / kRingLinks,
                       link % kRingLinks == kUp ? "upwards" : "downwards");
  }
  constexpr const char* kWays[] = {"to the next lane", "to the lane before", "to the next row",
                                   "to the row before"};
  const std::uint32_t place = link / kMeshLinks, x = place % mesh_columns(machine);
  return fmt::format("the link of row {}, column {}, lane {} {}", place / mesh_columns(machine),
                     x / machine.grid.lanes, x % machine.grid.lanes, kWays[link % kMeshLinks]);
}

}  // namespace superstep
