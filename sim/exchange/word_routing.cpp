#include "sim/exchange/word_routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "isa/exchange_ports.h"

namespace superstep {
namespace {

constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

/// The pointer of one tile while its controls are walked in time.
struct Pointer {
  std::uint32_t address = 0;
  std::uint32_t pc = 0;
  bool set = false;
  std::size_t next = 0;  ///< the event that sets it next
};

/// The next event of a kind from number `event` on, or their number.
std::size_t next_of(PortEvent::Kind kind, const std::vector<PortEvent>& events, std::size_t event) {
  while (event < events.size() && events[event].kind != kind) ++event;
  return event;
}

/// What the sending side did around the word that is missing.
std::string silence(const UnresolvedPhase& phase, std::uint32_t source, std::uint32_t tile,
                    std::uint64_t cycle, std::uint64_t latency) {
  if (source == UnresolvedPhase::kNoPort)
    return fmt::format("tile {} takes no part in the phase", tile);
  const std::vector<WordRun>& sends = phase.sides[source].sends;
  const auto next = std::partition_point(
      sends.begin(), sends.end(), [&](const WordRun& s) { return s.begin + latency <= cycle; });
  const std::string late =
      next == sends.end()
          ? "none follows"
          : fmt::format("its next send (pc 0x{:x}) arrives at {}", next->pc, next->begin + latency);
  if (next == sends.begin()) return late;
  const WordRun& before = *std::prev(next);
  return fmt::format("its last send (pc 0x{:x}) arrived until {}, {}", before.pc,
                     before.end - 1 + latency, late);
}

/// Takes what arrives from one mux selection until cycle `end`; false after a fault.
bool receive_from(UnresolvedPhase& phase, std::uint32_t port, const PortEvent& mux,
                  std::uint64_t end, Pointer& pointer) {
  const std::vector<PortEvent>& events = phase.sides[port].events;
  const std::uint32_t source = phase.port_of[mux.value];
  const std::uint64_t latency = phase.latency(mux.value, index(phase.ports[port].tile));
  std::uint64_t cycle = mux.cycle;
  if (source != UnresolvedPhase::kNoPort) {
    const std::vector<WordRun>& sends = phase.sides[source].sends;
    auto send = std::partition_point(sends.begin(), sends.end(),
                                     [&](const WordRun& s) { return s.end + latency <= cycle; });
    for (; cycle < end && send != sends.end() && send->begin + latency <= cycle; ++send) {
      const std::uint64_t until = std::min(end, send->end + latency);
      const std::uint64_t first = send->begin + latency + phase.last_of_item;
      while (cycle < until) {
        // The next item that arrives, after so many.
        const std::uint64_t items =
            cycle <= first ? 0 : phase.item.items_in(cycle - first + phase.last_of_item);
        const std::uint64_t arrival = first + items * phase.item.cycles();
        if (arrival >= until) break;
        while (pointer.next < events.size() && events[pointer.next].cycle <= arrival) {
          const PortEvent& event = events[pointer.next];
          pointer = {event.value, event.pc, true,
                     next_of(PortEvent::Kind::kPointer, events, pointer.next + 1)};
        }
        std::uint64_t stop = until;
        if (pointer.next < events.size()) stop = std::min(stop, events[pointer.next].cycle);
        const std::uint64_t run_items = phase.item.items_in(stop - arrival + phase.last_of_item);
        const auto skipped = static_cast<std::uint32_t>(items * phase.item.words());
        const auto words = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(run_items * phase.item.words(), send->words - skipped));
        if (!pointer.set || !phase.in_memory(pointer.address, words)) {
          phase.fail(
              port, arrival, mux.pc,
              pointer.set
                  ? fmt::format("receives {} words from tile {} at 0x{:x}, outside tile memory",
                                words, mux.value, pointer.address)
                  : fmt::format("receives from tile {} before its incoming pointer is set",
                                mux.value));
          return false;
        }
        const std::uint64_t run_end = arrival + run_items * phase.item.cycles();
        phase.sides[port].receives.push_back({arrival, run_end, pointer.address, words, pointer.pc,
                                              source, send->address + skipped * 4});
        phase.sides[port].last_event =
            std::max(phase.sides[port].last_event, run_end - phase.item.cycles());
        pointer.address += words * 4;
        cycle = stop;
      }
      cycle = until;
    }
  }
  if (cycle + phase.last_of_item >= end) return true;
  phase.fail(port, cycle, mux.pc,
             fmt::format("mux selects tile {} but no word of it arrives at cycle {}: {}", mux.value,
                         cycle, silence(phase, source, mux.value, cycle, latency)));
  return false;
}

}  // namespace

void collect_sends(UnresolvedPhase& phase, std::uint32_t port) {
  PortPhase& side = phase.sides[port];
  side.clear();
  std::uint64_t busy_until = 0;
  std::uint64_t previous = 0;
  phase.ports[port].log->append_events(side.events);
  for (const PortEvent& event : side.events) {
    SUPERSTEP_CHECK(event.cycle >= previous, "port events are in program order");
    previous = event.cycle;
    side.last_event = std::max(side.last_event, event.cycle);
    if (event.kind != PortEvent::Kind::kSend || event.direction == kSendNowhere) continue;
    if (event.direction >= kSendPairedBit) {
      phase.fail(port, event.cycle, event.pc, "a send of 64-bit items is not modelled",
                 TrapKind::kUnmodelled);
      continue;
    }
    if (event.words == 0) continue;
    if (!phase.in_memory(event.value, event.words)) {
      phase.fail(
          port, event.cycle, event.pc,
          fmt::format("sends {} words from 0x{:x}, outside tile memory", event.words, event.value));
      continue;
    }
    SUPERSTEP_CHECK(event.cycle >= busy_until, "one send at a time leaves a tile");
    busy_until = event.cycle + phase.item.cycles_of(event.words);
    side.last_event = busy_until - 1;
    if (!side.sends.empty() && side.sends.back().end == event.cycle &&
        side.sends.back().end_address() == event.value &&
        phase.item.is_whole(side.sends.back().words)) {
      side.sends.back().end = busy_until;
      side.sends.back().words += event.words;
    } else {
      side.sends.push_back({event.cycle, busy_until, event.value, event.words, event.pc, 0, 0});
    }
  }
}

void receive_words(UnresolvedPhase& phase, std::uint32_t port) {
  const std::vector<PortEvent>& events = phase.sides[port].events;
  Pointer pointer;
  pointer.next = next_of(PortEvent::Kind::kPointer, events, 0);
  std::size_t next = 0;
  for (std::size_t m = next_of(PortEvent::Kind::kMux, events, 0); m < events.size(); m = next) {
    next = next_of(PortEvent::Kind::kMux, events, m + 1);
    const PortEvent& mux = events[m];
    const std::uint64_t end = next < events.size() ? events[next].cycle : kForever;
    if (mux.value == kMuxIdle || mux.value == kMuxHost || end == mux.cycle) continue;
    if (mux.value >= phase.port_of.size()) {
      phase.fail(port, mux.cycle, mux.pc,
                 fmt::format("mux selects source 0x{:x}, which is neither a tile, host nor idle",
                             mux.value));
      return;
    }
    if (!receive_from(phase, port, mux, end, pointer)) return;
  }
}

}  // namespace superstep
