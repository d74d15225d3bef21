#pragma once

#include <algorithm>
#include <vector>

#include "sim/chip/message.h"
#include "sim/tile/tile.h"

namespace superstep {

/// What tiles stopped for. Threads that ran some of them each add theirs, in any order.
struct StopSummary {
  bool has_faults = false;
  bool is_interrupted = false;
  bool waits_for_words = false;
  bool has_port_events = false;
  std::vector<BarrierArrival> arrivals;  ///< one of each zone

  void add(TileId id, const TileStop& stop, bool ports_were_told) {
    has_port_events |= ports_were_told;
    has_faults |= stop.kind == TileStop::Kind::kFault;
    is_interrupted |= stop.kind == TileStop::Kind::kInterrupted;
    waits_for_words |= stop.kind == TileStop::Kind::kExchangeDone;
    if (stop.kind != TileStop::Kind::kSync) return;
    const WaitingTile tile{id, Cycles(stop.cycle), stop.zone, stop.pc};
    add({.tiles = 1, .last = tile, .first = tile});
  }

  void add(const StopSummary& other) {
    has_faults |= other.has_faults;
    is_interrupted |= other.is_interrupted;
    waits_for_words |= other.waits_for_words;
    has_port_events |= other.has_port_events;
    for (const BarrierArrival& arrival : other.arrivals) add(arrival);
  }

 private:
  void add(const BarrierArrival& more) {
    const auto at = std::ranges::find(arrivals, more.last.zone,
                                      [](const BarrierArrival& a) { return a.last.zone; });
    if (at == arrivals.end()) {
      arrivals.push_back(more);
      return;
    }
    at->tiles += more.tiles;
    if (more.first.tile < at->first.tile) at->first = more.first;
    const bool is_later = more.last.cycle > at->last.cycle ||
                          (more.last.cycle == at->last.cycle && more.last.tile < at->last.tile);
    if (is_later) at->last = more.last;
  }
};

}  // namespace superstep
