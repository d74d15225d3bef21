#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "isa/machine_config.h"

namespace superstep {

/// A packet of the host link; its cycles count from the beginning of the visit.
struct HostPacket {
  std::uint32_t transfer = 0;  ///< number of its stream's, in the visit
  std::size_t entry = 0;       ///< of the image: its tile
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;
  Cycles ready = {};            ///< before, it cannot go
  Cycles begin = {}, end = {};  ///< on its link
};

/// Says when the packets of one direction pass.
///
/// They go when the phase latency is over, those that are ready by then in their order and the
/// others as they become ready, and are dealt to the links in turn. A packet begins when the one
/// before it has left its link, and one of its link's `packets_in_flight` places is free: that of a
/// packet is free again a phase latency after its end. It ends the packet overhead and its bytes
/// by the bandwidth later. Times are exact, and rounded up to whole cycles only in the packets; one
/// behind the last cycle of 64 bits is that cycle.
void time_packets(const MachineConfig& machine, std::vector<HostPacket>& packets);

}  // namespace superstep
