#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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
#include "tests/gc200.h"

namespace superstep::test {

/// 64 tiles, as those of the builtin machine `small64`.
inline MachineConfig small64() {
  MachineConfig machine = gc200();
  machine.grid = {4, 4, 4};
  return machine;
}

inline std::vector<TileId> all_tiles(const MachineConfig& machine) {
  std::vector<TileId> tiles;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) tiles.push_back(TileId{t});
  return tiles;
}

/// Executes the rows of a phase word by word, knowing only the latency law and the width, and
/// checks that every word of every transfer is delivered exactly once and nothing else is. For
/// small phases.
class PhaseChecker {
 public:
  explicit PhaseChecker(const MachineConfig& machine)
      : machine_(machine),
        words_a_cycle_(std::max(machine.exchange.width_bytes / 4, 1U)),
        cycles_a_word_(std::max(4 / machine.exchange.width_bytes, 1U)) {}

  void expect_delivers(const ExchangePhase& phase, const std::vector<Transfer>& transfers) {
    std::map<TileWord, TileWord> expected;
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
      events_[index(row.tile)] = RowDecoder(release, machine_).run(row.code);
    }
    for (const auto& [tile, events] : events_) collect_sends(tile, events);
    std::map<TileWord, TileWord> delivered;
    for (const auto& [tile, events] : events_) deliver(tile, events, delivered);
    EXPECT_EQ(delivered, expected);
    EXPECT_EQ(last_event_, phase.length.value());
  }

 private:
  using TileWord = std::pair<std::uint32_t, std::uint32_t>;  ///< tile, address

  void collect_sends(std::uint32_t tile, const std::vector<PortEvent>& events) {
    for (const PortEvent& event : events) {
      if (event.kind != PortEvent::Kind::kSend) continue;
      for (std::uint32_t w = 0; w < event.words; ++w) {
        const std::uint64_t begin = event.cycle + w / words_a_cycle_ * cycles_a_word_;
        std::vector<std::uint32_t>& words = read_[tile][begin];
        words.push_back(event.value + 4 * w);
        sent_[tile][begin + cycles_a_word_ - 1].push_back(event.value + 4 * w);
        if (w % words_a_cycle_ != 0) continue;
        for (std::uint64_t cycle = begin; cycle < begin + cycles_a_word_; ++cycle) {
          EXPECT_TRUE(busy_[tile].insert(cycle).second)
              << "tile " << tile << " sends two items in cycle " << cycle;
        }
      }
    }
  }

  void deliver(std::uint32_t tile, const std::vector<PortEvent>& events,
               std::map<TileWord, TileWord>& delivered) {
    std::uint32_t mux = kMuxIdle, pointer = 0;
    std::uint64_t cycle = 0;
    std::uint32_t silent = 0;
    const auto until = [&](std::uint64_t end) {
      for (; cycle < end && mux != kMuxIdle; ++cycle) {
        const std::uint64_t sent =
            cycle - exchange_latency(machine_, TileId{mux}, TileId{tile}).value();
        const auto item = sent_[mux].find(sent);
        if (item == sent_[mux].end()) {
          ASSERT_LT(++silent, cycles_a_word_) << "tile " << tile << " listens to tile " << mux
                                              << ", which is silent, in cycle " << cycle;
          continue;
        }
        silent = 0;
        use_links(mux, tile, sent + 1 - cycles_a_word_);
        for (const std::uint32_t word : item->second) {
          const bool first = delivered.insert({{tile, pointer}, {mux, word}}).second;
          EXPECT_TRUE(first) << "tile " << tile << " gets 0x" << std::hex << pointer << " twice";
          const auto own = read_[tile].find(cycle);
          for (const std::uint32_t read :
               own == read_[tile].end() ? std::vector<std::uint32_t>{} : own->second) {
            EXPECT_NE(memory_element(machine_, read), memory_element(machine_, pointer))
                << "tile " << tile << " sends and receives in one element, cycle " << cycle;
          }
          pointer += 4;
        }
      }
      cycle = end;
    };
    for (const PortEvent& event : events) {
      if (event.kind == PortEvent::Kind::kSend) continue;
      until(event.cycle);
      if (event.kind == PortEvent::Kind::kMux) {
        mux = event.value;
        silent = 0;
      }
      if (event.kind == PortEvent::Kind::kPointer) pointer = event.value;
      last_event_ = std::max(last_event_, event.cycle);
    }
    EXPECT_EQ(mux, kMuxIdle) << "tile " << tile << " still listens after its row";
  }

  /// A link carries one item at a time, whoever receives it.
  void use_links(std::uint32_t from, std::uint32_t to, std::uint64_t sent) {
    for (const LinkUse& use : route(machine_, TileId{from}, TileId{to}).links) {
      for (std::uint64_t cycle = sent; cycle < sent + cycles_a_word_; ++cycle) {
        const auto [on_link, is_free] =
            on_links_.insert({{use.link, cycle + use.offset}, {from, sent}});
        EXPECT_TRUE(is_free || on_link->second == std::pair(from, sent))
            << link_name(machine_, use.link) << " has words of tiles " << on_link->second.first
            << " and " << from << " in cycle " << cycle + use.offset;
      }
    }
  }

  const MachineConfig& machine_;
  std::uint32_t words_a_cycle_, cycles_a_word_;
  /// By link and cycle the sender of the item and when it began to leave.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::uint32_t, std::uint64_t>>
      on_links_;
  std::map<std::uint32_t, std::vector<PortEvent>> events_;
  using Words = std::map<std::uint64_t, std::vector<std::uint32_t>>;  ///< addresses by cycle
  std::map<std::uint32_t, Words> read_, sent_;  ///< by the first and the last cycle of their item
  std::map<std::uint32_t, std::set<std::uint64_t>> busy_;
  std::uint64_t last_event_ = 0;
};

}  // namespace superstep::test
