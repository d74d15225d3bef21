#pragma once

#include <cstdint>

#include "sim/exchange/unresolved_phase.h"

namespace superstep {

/// Takes what a port was told, and what it sends from that.
void collect_sends(UnresolvedPhase& phase, std::uint32_t port);

/// Follows the mux and the pointer of a port through the phase: what it receives of the sends of
/// all ports, which are known.
void receive_words(UnresolvedPhase& phase, std::uint32_t port);

}  // namespace superstep
