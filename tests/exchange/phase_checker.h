#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "isa/exchange_ports.h"
#include "isa/fabric.h"
#include "isa/timing.h"
#include "tests/exchange/row_decoder.h"

namespace superstep::test {

/// 64 tiles, as those of the builtin machine `small64`.
inline MachineConfig small64() {
  MachineConfig machine;
  machine.grid = {4, 4, 4};
  return machine;
}

inline std::vector<TileId> all_tiles(const MachineConfig& machine) {
  std::vector<TileId> tiles;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) tiles.push_back(TileId{t});
  return tiles;
}

/// Executes the rows of a phase word by word, knowing only the latency law, and checks that every
/// word of every transfer is delivered exactly once and nothing else is. For small phases.
class PhaseChecker {
 public:
  explicit PhaseChecker(const MachineConfig& machine) : machine_(machine) {}

  void expect_delivers(const ExchangePhase& phase, const std::vector<Transfer>& transfers) {
    std::map<Place, Place> expected;
    for (const Transfer& transfer : transfers) {
      for (const TransferEnd& to : transfer.destinations) {
        for (std::uint32_t w = 0; w < transfer.words; ++w) {
          expected[{index(to.tile), to.address + 4 * w}] = {index(transfer.source.tile),
                                                            transfer.source.address + 4 * w};
        }
      }
    }
    for (const ExchangeRow& row : phase.rows) {
      const std::uint64_t release = release_skew(machine_, row.tile).value();
      events_[index(row.tile)] = RowDecoder(release, machine_.isa.encoding).run(row.code);
    }
    for (const auto& [tile, events] : events_) collect_sends(tile, events);
    std::map<Place, Place> delivered;
    for (const auto& [tile, events] : events_) deliver(tile, events, delivered);
    EXPECT_EQ(delivered, expected);
    EXPECT_EQ(last_event_, phase.length.value());
  }

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  ///< tile, address

  void collect_sends(std::uint32_t tile, const std::vector<PortEvent>& events) {
    for (const PortEvent& event : events) {
      if (event.kind != PortEvent::Kind::kSend) continue;
      for (std::uint32_t w = 0; w < event.words; ++w) {
        const bool first = bus_[tile].insert({event.cycle + w, event.value + 4 * w}).second;
        EXPECT_TRUE(first) << "tile " << tile << " sends two words in cycle " << event.cycle + w;
      }
    }
  }

  void deliver(std::uint32_t tile, const std::vector<PortEvent>& events,
               std::map<Place, Place>& delivered) {
    std::uint32_t mux = kMuxIdle, pointer = 0;
    std::uint64_t cycle = 0;
    const auto until = [&](std::uint64_t end) {
      for (; cycle < end && mux != kMuxIdle; ++cycle) {
        const std::uint64_t sent =
            cycle - exchange_latency(machine_, TileId{mux}, TileId{tile}).value();
        const auto word = bus_[mux].find(sent);
        ASSERT_NE(word, bus_[mux].end()) << "tile " << tile << " listens to tile " << mux
                                         << ", which is silent, in cycle " << cycle;
        use_links(mux, tile, sent);
        const bool first = delivered.insert({{tile, pointer}, {mux, word->second}}).second;
        EXPECT_TRUE(first) << "tile " << tile << " gets 0x" << std::hex << pointer << " twice";
        const auto own = bus_[tile].find(cycle);
        if (own != bus_[tile].end()) {
          EXPECT_NE(memory_element(machine_, own->second), memory_element(machine_, pointer))
              << "tile " << tile << " sends and receives in one element, cycle " << cycle;
        }
        pointer += 4;
      }
      cycle = end;
    };
    for (const PortEvent& event : events) {
      if (event.kind == PortEvent::Kind::kSend) continue;
      until(event.cycle);
      if (event.kind == PortEvent::Kind::kMux) mux = event.value;
      if (event.kind == PortEvent::Kind::kPointer) pointer = event.value;
      last_event_ = std::max(last_event_, event.cycle);
    }
    EXPECT_EQ(mux, kMuxIdle) << "tile " << tile << " still listens after its row";
  }

  /// A link carries one word a cycle, whoever receives it.
  void use_links(std::uint32_t from, std::uint32_t to, std::uint64_t sent) {
    for (const LinkUse& use : route(machine_, TileId{from}, TileId{to}).links) {
      const auto [on_link, is_free] =
          on_links_.insert({{use.link, sent + use.offset}, {from, sent}});
      EXPECT_TRUE(is_free || on_link->second == std::pair(from, sent))
          << link_name(machine_, use.link) << " has words of tiles " << on_link->second.first
          << " and " << from << " in cycle " << sent + use.offset;
    }
  }

  const MachineConfig& machine_;
  /// By link and cycle the sender of the word and when it left.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::uint32_t, std::uint64_t>>
      on_links_;
  std::map<std::uint32_t, std::vector<PortEvent>> events_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::uint32_t>> bus_;  ///< cycle to address
  std::uint64_t last_event_ = 0;
};

}  // namespace superstep::test
