#pragma once

#include <cstdint>

#include "sim/exchange/unresolved_phase.h"

namespace superstep {

/// Notes the hazards of a port whose words are known, as faults. Structural: sends, receives and
/// instruction fetch of one cycle must touch different memory elements. Of data: sources are read
/// as they were before the phase, so no send may read what arrived earlier; whether the port
/// receives into what it sends is noted, too.
void check_port(UnresolvedPhase& phase, std::uint32_t port);

/// The same between ports: two different words on one link in one cycle.
void check_links(UnresolvedPhase& phase);

}  // namespace superstep
