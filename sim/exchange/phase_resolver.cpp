#include "sim/exchange/phase_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "isa/exchange_ports.h"
#include "isa/fabric.h"
#include "isa/timing.h"
#include "base/each_index.h"
#include "sim/exchange/link_check.h"

namespace superstep {
namespace {

constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNoPort = std::numeric_limits<std::uint32_t>::max();

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

/// The addresses between the lowest and the highest of several runs.
struct Reach {
  std::uint32_t low = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t high = 0;

  void add(const WordRun& run) {
    low = std::min(low, run.address);
    high = std::max(high, run.end_address());
  }
};

/// A receive as the check of order sorts them.
struct Write {
  std::uint32_t address = 0;
  std::uint32_t receive = 0;  ///< its number
  std::uint32_t reach = 0;    ///< the furthest end of this one and those before
};

/// One port's part of the phase being resolved.
struct PortPhase {
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

std::uint64_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

}  // namespace

class PhaseResolver::Impl {
 public:
  explicit Impl(const MachineConfig& machine)
      : machine_(machine), item_(machine), last_of_item_(item_.cycles() - 1) {
    for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
      places_.push_back(place_of(machine, TileId{t}));
    }
  }

  std::optional<FabricFault> resolve(std::span<const FabricPort> ports, std::uint64_t begin,
                                     ResolvedPhase& phase) {
    ports_ = ports;
    if (sides_.size() < ports.size()) sides_.resize(ports.size());
    port_of_.assign(places_.size(), kNoPort);
    for (std::uint32_t p = 0; p < ports.size(); ++p) {
      SUPERSTEP_CHECK(p == 0 || ports[p - 1].tile < ports[p].tile, "ports ascend by tile");
      port_of_.at(index(ports[p].tile)) = p;
    }
    phase.ports.resize(ports.size());
    each_port([this](std::uint32_t p) { collect_sends(p); });
    each_port([this, begin, &phase](std::uint32_t p) {
      connect(p);
      check_elements(p);
      check_order(p);
      add_copies(p, begin);
      phase.ports[p] = result_of(p, begin);
    });
    if (has_links(machine_)) check_links();
    return gather(phase);
  }

 private:
  template <class Body>
  void each_port(Body body) {
    each_index(ports_.size(), 16, [&](std::size_t p) { body(static_cast<std::uint32_t>(p)); });
  }

  std::optional<FabricFault> gather(ResolvedPhase& phase) {
    std::optional<FabricFault> fault;
    phase.copies.clear();
    phase.copies_end.clear();
    phase.overwrites = false;
    std::size_t copies = 0;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) copies += sides_[p].copies.size();
    phase.copies.reserve(copies);
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
      PortPhase& side = sides_[p];
      phase.copies.insert(phase.copies.end(), side.copies.begin(), side.copies.end());
      phase.copies_end.push_back(phase.copies.size());
      phase.overwrites |= side.overwrites;
      if (side.fault && (!fault || side.fault->cycle < fault->cycle)) fault = std::move(side.fault);
    }
    return fault;
  }

  [[nodiscard]] PortResult result_of(std::uint32_t port, std::uint64_t begin) const {
    const PortPhase& side = sides_[port];
    PortResult result{.traffic = traffic_of(port)};
    if (!side.events.empty()) result.last_event = side.last_event - begin;
    for (const WordRun& run : side.receives) {
      result.lowest_write = std::min(result.lowest_write, run.address);
    }
    return result;
  }

  void fail(std::uint32_t port, std::uint64_t cycle, std::uint32_t pc, std::string cause,
            TrapKind kind = TrapKind::kProgram) {
    std::optional<FabricFault>& fault = sides_[port].fault;
    if (fault && fault->cycle <= cycle) return;
    fault = FabricFault{cycle, ports_[port].tile, pc, std::move(cause), kind};
  }

  [[nodiscard]] bool in_memory(std::uint32_t address, std::uint64_t words) const {
    return address % 4 == 0 && address >= machine_.tile.memory_base &&
           address + words * 4 <= machine_.memory_end();
  }

  void collect_sends(std::uint32_t port) {
    PortPhase& side = sides_[port];
    side.clear();
    std::uint64_t busy_until = 0;
    std::uint64_t previous = 0;
    ports_[port].log->append_events(side.events);
    for (const PortEvent& event : side.events) {
      SUPERSTEP_CHECK(event.cycle >= previous, "port events are in program order");
      previous = event.cycle;
      side.last_event = std::max(side.last_event, event.cycle);
      if (event.kind != PortEvent::Kind::kSend || event.direction == kSendNowhere) continue;
      if (event.direction >= kSendPairedBit) {
        fail(port, event.cycle, event.pc, "a send of 64-bit items is not modelled",
             TrapKind::kUnmodelled);
        continue;
      }
      if (event.words == 0) continue;
      if (!in_memory(event.value, event.words)) {
        fail(port, event.cycle, event.pc,
             fmt::format("sends {} words from 0x{:x}, outside tile memory", event.words,
                         event.value));
        continue;
      }
      SUPERSTEP_CHECK(event.cycle >= busy_until, "one send at a time leaves a tile");
      busy_until = event.cycle + item_.cycles_of(event.words);
      side.last_event = busy_until - 1;
      if (!side.sends.empty() && side.sends.back().end == event.cycle &&
          side.sends.back().end_address() == event.value &&
          item_.is_whole(side.sends.back().words)) {
        side.sends.back().end = busy_until;
        side.sends.back().words += event.words;
      } else {
        side.sends.push_back({event.cycle, busy_until, event.value, event.words, event.pc, 0, 0});
      }
    }
  }

  /// The pointer of one tile while its controls are walked in time.
  struct Pointer {
    std::uint32_t address = 0;
    std::uint32_t pc = 0;
    bool set = false;
    std::size_t next = 0;  ///< the event that sets it next
  };

  /// The next event of a kind from number `event` on, or their number.
  [[nodiscard]] std::size_t next_of(PortEvent::Kind kind, std::uint32_t port,
                                    std::size_t event) const {
    const std::vector<PortEvent>& events = sides_[port].events;
    while (event < events.size() && events[event].kind != kind) ++event;
    return event;
  }

  void connect(std::uint32_t port) {
    const std::vector<PortEvent>& events = sides_[port].events;
    Pointer pointer;
    pointer.next = next_of(PortEvent::Kind::kPointer, port, 0);
    std::size_t next = 0;
    for (std::size_t m = next_of(PortEvent::Kind::kMux, port, 0); m < events.size(); m = next) {
      next = next_of(PortEvent::Kind::kMux, port, m + 1);
      const PortEvent& mux = events[m];
      const std::uint64_t end = next < events.size() ? events[next].cycle : kForever;
      if (mux.value == kMuxIdle || mux.value == kMuxHost || end == mux.cycle) continue;
      if (mux.value >= port_of_.size()) {
        fail(port, mux.cycle, mux.pc,
             fmt::format("mux selects source 0x{:x}, which is neither a tile, host nor idle",
                         mux.value));
        return;
      }
      if (!receive(port, mux, end, pointer)) return;
    }
  }

  [[nodiscard]] std::uint32_t address_at(const WordRun& run, std::uint64_t cycle) const {
    return run.address + static_cast<std::uint32_t>(item_.words_in(cycle - run.begin)) * 4;
  }

  [[nodiscard]] std::uint64_t latency(std::uint32_t source, std::uint32_t destination) const {
    return exchange_latency(machine_, places_[source], places_[destination]).value();
  }

  /// Takes what arrives from one mux selection until cycle `end`; false after a fault.
  bool receive(std::uint32_t port, const PortEvent& mux, std::uint64_t end, Pointer& pointer) {
    const std::vector<PortEvent>& events = sides_[port].events;
    const std::uint32_t source = port_of_[mux.value];
    const std::uint64_t latency = this->latency(mux.value, index(ports_[port].tile));
    std::uint64_t cycle = mux.cycle;
    if (source != kNoPort) {
      const std::vector<WordRun>& sends = sides_[source].sends;
      auto send = std::partition_point(sends.begin(), sends.end(),
                                       [&](const WordRun& s) { return s.end + latency <= cycle; });
      for (; cycle < end && send != sends.end() && send->begin + latency <= cycle; ++send) {
        const std::uint64_t until = std::min(end, send->end + latency);
        const std::uint64_t first = send->begin + latency + last_of_item_;
        while (cycle < until) {
          // The next item that arrives, after so many.
          const std::uint64_t items =
              cycle <= first ? 0 : item_.items_in(cycle - first + last_of_item_);
          const std::uint64_t arrival = first + items * item_.cycles();
          if (arrival >= until) break;
          while (pointer.next < events.size() && events[pointer.next].cycle <= arrival) {
            const PortEvent& event = events[pointer.next];
            pointer = {event.value, event.pc, true,
                       next_of(PortEvent::Kind::kPointer, port, pointer.next + 1)};
          }
          std::uint64_t stop = until;
          if (pointer.next < events.size()) stop = std::min(stop, events[pointer.next].cycle);
          const std::uint64_t run_items = item_.items_in(stop - arrival + last_of_item_);
          const auto skipped = static_cast<std::uint32_t>(items * item_.words());
          const auto words = static_cast<std::uint32_t>(
              std::min<std::uint64_t>(run_items * item_.words(), send->words - skipped));
          if (!pointer.set || !in_memory(pointer.address, words)) {
            fail(port, arrival, mux.pc,
                 pointer.set
                     ? fmt::format("receives {} words from tile {} at 0x{:x}, outside tile memory",
                                   words, mux.value, pointer.address)
                     : fmt::format("receives from tile {} before its incoming pointer is set",
                                   mux.value));
            return false;
          }
          const std::uint64_t run_end = arrival + run_items * item_.cycles();
          sides_[port].receives.push_back({arrival, run_end, pointer.address, words, pointer.pc,
                                           source, send->address + skipped * 4});
          sides_[port].last_event = std::max(sides_[port].last_event, run_end - item_.cycles());
          pointer.address += words * 4;
          cycle = stop;
        }
        cycle = until;
      }
    }
    if (cycle + last_of_item_ >= end) return true;
    fail(port, cycle, mux.pc,
         fmt::format("mux selects tile {} but no word of it arrives at cycle {}: {}", mux.value,
                     cycle, silence(source, mux.value, cycle, latency)));
    return false;
  }

  /// What the sending side did around the word that is missing.
  [[nodiscard]] std::string silence(std::uint32_t source, std::uint32_t tile, std::uint64_t cycle,
                                    std::uint64_t latency) const {
    if (source == kNoPort) return fmt::format("tile {} takes no part in the phase", tile);
    const std::vector<WordRun>& sends = sides_[source].sends;
    const auto next = std::partition_point(
        sends.begin(), sends.end(), [&](const WordRun& s) { return s.begin + latency <= cycle; });
    const std::string late = next == sends.end()
                                 ? "none follows"
                                 : fmt::format("its next send (pc 0x{:x}) arrives at {}", next->pc,
                                               next->begin + latency);
    if (next == sends.begin()) return late;
    const WordRun& before = *std::prev(next);
    return fmt::format("its last send (pc 0x{:x}) arrived until {}, {}", before.pc,
                       before.end - 1 + latency, late);
  }

  /// Sends, receives and instruction fetch of one cycle must touch different elements.
  void check_elements(std::uint32_t port) {
    const PortPhase& side = sides_[port];
    auto receive = side.receives.begin();
    for (const WordRun& send : side.sends) {
      while (receive != side.receives.end() && receive->end <= send.begin) ++receive;
      for (auto r = receive; r != side.receives.end() && r->begin < send.end; ++r) {
        const std::optional<std::uint64_t> cycle = conflict(send, *r);
        if (!cycle) continue;
        fail(port, *cycle, send.pc,
             fmt::format("sends from 0x{:x} and receives from tile {} at 0x{:x} in the same memory "
                         "element and cycle",
                         address_at(send, *cycle), index(ports_[r->other].tile),
                         address_at(*r, *cycle)));
        break;
      }
    }
    check_fetch(port);
  }

  [[nodiscard]] std::optional<std::uint64_t> conflict(const WordRun& a, const WordRun& b) const {
    std::uint64_t cycle = std::max(a.begin, b.begin);
    const std::uint64_t end = std::min(a.end, b.end);
    const std::uint32_t step = item_.cycles();
    if ((cycle - std::min(a.begin, b.begin)) % step != 0) return std::nullopt;
    const std::uint32_t block = machine_.tile.element_bytes;
    // Addresses that are further apart than a pair of elements stay so: both grow alike.
    const std::uint32_t apart = address_at(a, cycle) - address_at(b, cycle);
    const std::uint32_t least = 2 * block + 4 * (item_.words() - 1);
    if (apart >= least && 0 - apart >= least) return std::nullopt;
    while (cycle < end) {
      const std::uint32_t x = address_at(a, cycle);
      const std::uint32_t y = address_at(b, cycle);
      // Up to the next element boundary of either side the pattern repeats every 16 bytes.
      const std::uint64_t words = (block - std::max(x % block, y % block)) / 4;
      const std::uint64_t stop =
          std::min(end, cycle + std::max<std::uint64_t>(words / item_.words(), 1) * step);
      const std::uint64_t repeat = cycle + std::max(4 / item_.words(), 1U) * step;
      for (std::uint64_t c = cycle; c < std::min(stop, repeat); c += step) {
        if (share_element(a, b, c)) return c;
      }
      cycle = stop;
    }
    return std::nullopt;
  }

  /// Whether what two runs access in a cycle lies in one element.
  [[nodiscard]] bool share_element(const WordRun& a, const WordRun& b, std::uint64_t cycle) const {
    const std::uint32_t x = address_at(a, cycle), y = address_at(b, cycle);
    const std::uint32_t most = item_.words() * 4;
    const std::uint32_t x_end = std::min(x + most, a.end_address());
    const std::uint32_t y_end = std::min(y + most, b.end_address());
    for (std::uint32_t p = x; p < x_end; p += 4) {
      for (std::uint32_t q = y; q < y_end; q += 4) {
        if (memory_element(machine_, p) == memory_element(machine_, q)) return true;
      }
    }
    return false;
  }

  void check_fetch(std::uint32_t port) {
    std::uint32_t low = machine_.tile.region1_base;
    std::uint32_t high = 0;
    for (const PortEvent& event : sides_[port].events) {
      if (event.pc < machine_.tile.memory_base) continue;
      low = std::min(low, event.pc);
      high = std::max(high, event.pc);
    }
    if (high == 0) return;
    const std::uint32_t last =
        std::min(high + machine_.tile.fetch_ahead_bytes - 4, machine_.tile.region1_base - 4);
    const std::uint32_t first_element = memory_element(machine_, low);
    const std::uint32_t last_element = memory_element(machine_, last);
    const auto check = [&](const WordRun& run, const char* what) {
      if (run.address >= machine_.tile.region1_base) return;
      if (memory_element(machine_, run.address) > last_element) return;
      const std::uint32_t end = std::min(run.address + run.bytes(), machine_.tile.region1_base) - 4;
      if (memory_element(machine_, end) < first_element) return;
      fail(port, run.begin, run.pc,
           fmt::format("{} 0x{:x} in the memory element of the exchange code at 0x{:x}", what,
                       run.address, low));
    };
    for (const WordRun& send : sides_[port].sends) check(send, "sends from");
    for (const WordRun& receive : sides_[port].receives) check(receive, "receives at");
  }

  void check_links() {
    std::vector<LinkedWords> words;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
      for (const WordRun& run : sides_[p].receives) {
        const TileId source = ports_[run.other].tile, destination = ports_[p].tile;
        const std::uint64_t way = latency(index(source), index(destination)) + last_of_item_;
        words.push_back({source, destination, run.begin - way, run.end - way, run.other_address});
      }
    }
    const std::optional<LinkClash> clash = find_clash(machine_, words);
    if (!clash) return;
    const auto text_of = [&](const LinkedWords& run, std::uint64_t sent) {
      return fmt::format("that of tile {} at 0x{:x} to tile {}", index(run.source),
                         run.address + 4 * item_.words_in(sent - run.begin),
                         index(run.destination));
    };
    const auto sent = [&](const LinkedWords& run) {
      for (const LinkUse& use : route(machine_, run.source, run.destination).links) {
        if (use.link == clash->link) return clash->cycle - use.offset;
      }
      return run.begin;
    };
    fail(port_of_[index(clash->other.source)], clash->cycle, 0,
         fmt::format("two words on {} in one cycle: {} and {}", link_name(machine_, clash->link),
                     text_of(clash->one, sent(clash->one)),
                     text_of(clash->other, sent(clash->other))));
  }

  /// Sources are read as they were before the phase, so no send may read what arrived earlier.
  void check_order(std::uint32_t port) {
    PortPhase& side = sides_[port];
    Reach sent, received;
    for (const WordRun& send : side.sends) sent.add(send);
    for (const WordRun& receive : side.receives) received.add(receive);
    if (sent.high <= received.low || received.high <= sent.low) return;
    sort_writes(side);
    for (const WordRun& send : side.sends) {
      auto write =
          std::partition_point(side.writes.begin(), side.writes.end(),
                               [&](const Write& w) { return w.address < send.end_address(); });
      while (write != side.writes.begin() && std::prev(write)->reach > send.address) {
        --write;
        const WordRun& receive = side.receives[write->receive];
        if (receive.end_address() <= send.address) continue;
        side.overwrites = true;
        const std::uint32_t shared = std::max(receive.address, send.address);
        const std::uint64_t read_at = send.begin + item_.cycle_of((shared - send.address) / 4);
        const std::uint64_t written_at =
            receive.begin + item_.cycle_of((shared - receive.address) / 4);
        if (written_at >= read_at) continue;
        fail(port, read_at, send.pc,
             fmt::format("sends 0x{:x} at cycle {} after it was overwritten at cycle {} by tile {}",
                         shared, read_at, written_at, index(ports_[receive.other].tile)));
      }
    }
  }

  /// The receives of a side by address, those of one address in order of arrival.
  static void sort_writes(PortPhase& side) {
    side.writes.clear();
    for (std::uint32_t r = 0; r < side.receives.size(); ++r) {
      side.writes.push_back({.address = side.receives[r].address, .receive = r});
    }
    std::ranges::sort(side.writes, [](const Write& a, const Write& b) {
      return a.address != b.address ? a.address < b.address : a.receive < b.receive;
    });
    std::uint32_t reach = 0;
    for (Write& write : side.writes) {
      reach = std::max(reach, side.receives[write.receive].end_address());
      write.reach = reach;
    }
  }

  [[nodiscard]] PortTraffic traffic_of(std::uint32_t port) const {
    const PortPhase& side = sides_[port];
    const TilePlace& here = places_[index(ports_[port].tile)];
    PortTraffic traffic;
    std::uint64_t until = 0;
    const auto occupy = [&](std::uint64_t begin, std::uint64_t end) {
      traffic.busy_cycles += std::max(until, end) - std::max(until, begin);
      until = std::max(until, end);
    };
    auto receive = side.receives.begin();
    const auto occupy_next = [&] {
      occupy(receive->begin - last_of_item_, receive->end - last_of_item_);
      ++receive;
    };
    for (const WordRun& send : side.sends) {
      traffic.sent_bytes += send.bytes();
      while (receive != side.receives.end() && receive->begin - last_of_item_ < send.begin)
        occupy_next();
      occupy(send.begin, send.end);
    }
    while (receive != side.receives.end()) occupy_next();
    const WordRun* last = nullptr;
    for (const WordRun& run : side.receives) {
      traffic.received_bytes += run.bytes();
      const TilePlace& there = places_[index(ports_[run.other].tile)];
      traffic.word_rows += run.bytes() / 4 * distance(here.row, there.row);
      traffic.word_columns += run.bytes() / 4 * distance(here.column, there.column);
      const bool goes_on = last != nullptr && last->other == run.other && last->end == run.begin &&
                           last->address + last->bytes() == run.address;
      if (!goes_on) ++traffic.messages;
      last = &run;
    }
    return traffic;
  }

  void add_copies(std::uint32_t port, std::uint64_t begin) {
    PortPhase& side = sides_[port];
    for (const WordRun& run : side.receives) {
      const std::uint32_t from = run.other_address - machine_.tile.memory_base;
      const std::uint32_t to = run.address - machine_.tile.memory_base;
      const std::uint64_t way =
          latency(index(ports_[run.other].tile), index(ports_[port].tile)) + last_of_item_;
      const std::uint64_t sent = run.begin - way - begin;
      if (!side.copies.empty()) {
        WordCopy& last = side.copies.back();
        if (last.source == run.other && last.from + last.bytes == from &&
            last.to + last.bytes == to && item_.is_whole(last.bytes / 4) &&
            last.sent + item_.cycles_of(last.bytes / 4) == sent) {
          last.bytes += run.bytes();
          continue;
        }
      }
      side.copies.push_back(
          {.source = run.other, .from = from, .to = to, .bytes = run.bytes(), .sent = sent});
    }
  }

  const MachineConfig& machine_;
  ExchangeItem item_;
  std::uint64_t last_of_item_;  ///< cycles from the first to the last of an item
  std::span<const FabricPort> ports_;
  std::vector<PortPhase> sides_;        ///< by port
  std::vector<std::uint32_t> port_of_;  ///< by tile
  std::vector<TilePlace> places_;       ///< by tile
};

PhaseResolver::PhaseResolver(const MachineConfig& machine)
    : impl_(std::make_unique<Impl>(machine)) {}
PhaseResolver::~PhaseResolver() = default;

std::optional<FabricFault> PhaseResolver::resolve(std::span<const FabricPort> ports,
                                                  std::uint64_t begin, ResolvedPhase& phase) {
  return impl_->resolve(ports, begin, phase);
}

}  // namespace superstep
