#include "isa/fabric.h"

#include <fmt/format.h>

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

class Path {
 public:
  explicit Path(const MachineConfig& machine) : hop_(machine.exchange.hop_latency) {}

  void add(std::uint32_t link) {
    links_.push_back({link, hop_ * static_cast<std::uint32_t>(links_.size())});
  }
  [[nodiscard]] std::vector<LinkUse> links() && { return std::move(links_); }

 private:
  std::uint32_t hop_;
  std::vector<LinkUse> links_;
};

std::vector<LinkUse> mesh_links(const MachineConfig& machine, TileId source, TileId destination) {
  const TilePlace from = place_of(machine, source), to = place_of(machine, destination);
  const std::uint32_t columns = mesh_columns(machine);
  const std::uint32_t to_x = mesh_column(machine, to);
  std::uint32_t x = mesh_column(machine, from), y = from.row;
  Path path(machine);
  const auto leave = [&](std::uint32_t link) { path.add((y * columns + x) * kMeshLinks + link); };
  for (; x < to_x; ++x) leave(kUpX);
  for (; x > to_x; --x) leave(kDownX);
  for (; y < to.row; ++y) leave(kUpY);
  for (; y > to.row; --y) leave(kDownY);
  return std::move(path).links();
}

std::vector<LinkUse> ring_links(const MachineConfig& machine, TileId source, TileId destination) {
  const std::uint32_t tiles = machine.tiles(), to = index(destination);
  const bool is_up = (to + tiles - index(source)) % tiles <= tiles / 2;
  Path path(machine);
  for (std::uint32_t at = index(source); at != to; at = (at + (is_up ? 1 : tiles - 1)) % tiles)
    path.add(at * kRingLinks + (is_up ? kUp : kDown));
  return std::move(path).links();
}

}  // namespace

Route route(const MachineConfig& machine, TileId source, TileId destination) {
  Route route{exchange_latency(machine, source, destination), {}};
  if (machine.exchange.fabric == FabricKind::kMesh)
    route.links = mesh_links(machine, source, destination);
  if (machine.exchange.fabric == FabricKind::kRing)
    route.links = ring_links(machine, source, destination);
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
