#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/timing.h"
#include "sim/exchange/phase.h"

namespace superstep {

/// Consecutive words at consecutive addresses, item by item. The first item is in memory in cycle
/// `begin`: when it begins to leave, or has arrived.
struct WordRun {
  std::uint64_t begin = 0, end = 0;  ///< as many cycles apart as the items take
  std::uint32_t address = 0;
  std::uint32_t words = 0;
  std::uint32_t pc = 0;
  std::uint32_t other = 0;          ///< of a receive: the sending port
  std::uint32_t other_address = 0;  ///< of a receive: where the words come from

  [[nodiscard]] std::uint32_t bytes() const { return words * 4; }
  [[nodiscard]] std::uint32_t end_address() const { return address + bytes(); }
};

/// One port's part of a phase that is being resolved.
struct PortPhase {
  /// A receive as the check of order sorts them.
  struct Write {
    std::uint32_t address = 0;
    std::uint32_t receive = 0;  ///< its number
    std::uint32_t reach = 0;    ///< the furthest end of this one and those before
  };

  std::vector<PortEvent> events;
  std::vector<WordRun> sends, receives;
  std::vector<WordCopy> copies;
  std::vector<Write> writes;
  std::optional<FabricFault> fault;
  std::uint64_t last_event = 0;
  bool overwrites = false;

  /// As new, but for the capacity of the vectors.
  void clear() {
    events.clear();
    sends.clear();
    receives.clear();
    copies.clear();
    fault.reset();
    last_event = 0;
    overwrites = false;
  }
};

/// A phase while it is resolved: its ports, and what is known of each so far. Threads may work on
/// several ports at a time.
struct UnresolvedPhase {
  static constexpr std::uint32_t kNoPort = std::numeric_limits<std::uint32_t>::max();

  UnresolvedPhase(const MachineConfig& machine, LatencyLaw law);

  /// Goes on to another phase, of which nothing is known.
  void begin(std::span<const FabricPort> ports);

  /// Notes a fault of a port; the earliest counts.
  void fail(std::uint32_t port, std::uint64_t cycle, std::uint32_t pc, std::string cause,
            TrapKind kind = TrapKind::kProgram);

  /// Whether so many words from an address are words of a tile's memory.
  [[nodiscard]] bool in_memory(std::uint32_t address, std::uint64_t words) const {
    return address % 4 == 0 && address >= machine.tile.memory_base &&
           address + words * 4 <= machine.memory_end();
  }
  /// Of the item of a run that is on its way in a cycle.
  [[nodiscard]] std::uint32_t address_at(const WordRun& run, std::uint64_t cycle) const {
    return run.address + static_cast<std::uint32_t>(item.words_in(cycle - run.begin)) * 4;
  }
  [[nodiscard]] std::uint64_t latency(std::uint32_t source_tile,
                                      std::uint32_t destination_tile) const {
    if (law) return law(TileId{source_tile}, TileId{destination_tile}).value();
    return exchange_latency(machine, places[source_tile], places[destination_tile]).value();
  }
  /// From the cycle in which an item leaves a port to that in which another one has it.
  [[nodiscard]] std::uint64_t way(std::uint32_t from_port, std::uint32_t to_port) const {
    return latency(index(ports[from_port].tile), index(ports[to_port].tile)) + last_of_item;
  }

  const MachineConfig& machine;
  LatencyLaw law;  ///< empty for the machine's
  ExchangeItem item;
  std::uint64_t last_of_item;  ///< cycles from the first to the last of an item
  std::span<const FabricPort> ports;
  std::vector<PortPhase> sides;        ///< by port
  std::vector<std::uint32_t> port_of;  ///< by tile; kNoPort without one
  std::vector<TilePlace> places;       ///< by tile
};

}  // namespace superstep
