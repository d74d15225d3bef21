#include "sim/exchange/unresolved_phase.h"

#include <utility>

#include "base/error.h"

namespace superstep {

UnresolvedPhase::UnresolvedPhase(const MachineConfig& described, LatencyLaw of_user)
    : machine(described),
      law(std::move(of_user)),
      item(described),
      last_of_item(item.cycles() - 1) {
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    places.push_back(place_of(machine, TileId{t}));
  }
}

void UnresolvedPhase::begin(std::span<const FabricPort> of_phase) {
  ports = of_phase;
  if (sides.size() < ports.size()) sides.resize(ports.size());
  port_of.assign(places.size(), kNoPort);
  for (std::uint32_t p = 0; p < ports.size(); ++p) {
    SUPERSTEP_CHECK(p == 0 || ports[p - 1].tile < ports[p].tile, "ports ascend by tile");
    port_of.at(index(ports[p].tile)) = p;
  }
}

void UnresolvedPhase::fail(std::uint32_t port, std::uint64_t cycle, std::uint32_t pc,
                           std::string cause, TrapKind kind) {
  std::optional<FabricFault>& fault = sides[port].fault;
  if (fault && fault->cycle <= cycle) return;
  fault = FabricFault{cycle, ports[port].tile, pc, std::move(cause), kind};
}

}  // namespace superstep
