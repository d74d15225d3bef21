#include "sim/exchange/phase_hazards.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.h"
#include "isa/fabric.h"
#include "isa/timing.h"
#include "sim/exchange/link_check.h"

namespace superstep {
namespace {

/// Whether what two runs access in a cycle lies in one element.
bool share_element(const UnresolvedPhase& phase, const WordRun& a, const WordRun& b,
                   std::uint64_t cycle) {
  const std::uint32_t x = phase.address_at(a, cycle), y = phase.address_at(b, cycle);
  const std::uint32_t most = phase.item.words() * 4;
  const std::uint32_t x_end = std::min(x + most, a.end_address());
  const std::uint32_t y_end = std::min(y + most, b.end_address());
  for (std::uint32_t p = x; p < x_end; p += 4) {
    for (std::uint32_t q = y; q < y_end; q += 4) {
      if (memory_element(phase.machine, p) == memory_element(phase.machine, q)) return true;
    }
  }
  return false;
}

/// The first cycle in which a send and a receive need one memory element.
std::optional<std::uint64_t> conflict(const UnresolvedPhase& phase, const WordRun& a,
                                      const WordRun& b) {
  std::uint64_t cycle = std::max(a.begin, b.begin);
  const std::uint64_t end = std::min(a.end, b.end);
  const std::uint32_t step = phase.item.cycles();
  if ((cycle - std::min(a.begin, b.begin)) % step != 0) return std::nullopt;
  const std::uint32_t block = phase.machine.tile.element_bytes;
  // Addresses that are further apart than a pair of elements stay so: both grow alike.
  const std::uint32_t apart = phase.address_at(a, cycle) - phase.address_at(b, cycle);
  const std::uint32_t least = 2 * block + 4 * (phase.item.words() - 1);
  if (apart >= least && 0 - apart >= least) return std::nullopt;
  while (cycle < end) {
    const std::uint32_t x = phase.address_at(a, cycle);
    const std::uint32_t y = phase.address_at(b, cycle);
    // Up to the next element boundary of either side the pattern repeats every 16 bytes.
    const std::uint64_t words = (block - std::max(x % block, y % block)) / 4;
    const std::uint64_t stop =
        std::min(end, cycle + std::max<std::uint64_t>(words / phase.item.words(), 1) * step);
    const std::uint64_t repeat = cycle + std::max(4 / phase.item.words(), 1U) * step;
    for (std::uint64_t c = cycle; c < std::min(stop, repeat); c += step) {
      if (share_element(phase, a, b, c)) return c;
    }
    cycle = stop;
  }
  return std::nullopt;
}

/// Sends and receives of one cycle must touch different elements.
void check_elements(UnresolvedPhase& phase, std::uint32_t port) {
  const PortPhase& side = phase.sides[port];
  auto receive = side.receives.begin();
  for (const WordRun& send : side.sends) {
    while (receive != side.receives.end() && receive->end <= send.begin) ++receive;
    for (auto r = receive; r != side.receives.end() && r->begin < send.end; ++r) {
      const std::optional<std::uint64_t> cycle = conflict(phase, send, *r);
      if (!cycle) continue;
      phase.fail(
          port, *cycle, send.pc,
          fmt::format("sends from 0x{:x} and receives from tile {} at 0x{:x} in the same memory "
                      "element and cycle",
                      phase.address_at(send, *cycle), index(phase.ports[r->other].tile),
                      phase.address_at(*r, *cycle)));
      break;
    }
  }
}

/// Exchange code is fetched from elements that no word of the phase may need.
void check_fetch(UnresolvedPhase& phase, std::uint32_t port) {
  std::uint32_t low = phase.machine.tile.region1_base;
  std::uint32_t high = 0;
  for (const PortEvent& event : phase.sides[port].events) {
    if (event.pc < phase.machine.tile.memory_base) continue;
    low = std::min(low, event.pc);
    high = std::max(high, event.pc);
  }
  if (high == 0) return;
  const std::uint32_t last = std::min(high + phase.machine.tile.fetch_ahead_bytes - 4,
                                      phase.machine.tile.region1_base - 4);
  const std::uint32_t first_element = memory_element(phase.machine, low);
  const std::uint32_t last_element = memory_element(phase.machine, last);
  const auto check = [&](const WordRun& run, const char* what) {
    if (run.address >= phase.machine.tile.region1_base) return;
    if (memory_element(phase.machine, run.address) > last_element) return;
    const std::uint32_t end =
        std::min(run.address + run.bytes(), phase.machine.tile.region1_base) - 4;
    if (memory_element(phase.machine, end) < first_element) return;
    phase.fail(port, run.begin, run.pc,
               fmt::format("{} 0x{:x} in the memory element of the exchange code at 0x{:x}", what,
                           run.address, low));
  };
  for (const WordRun& send : phase.sides[port].sends) check(send, "sends from");
  for (const WordRun& receive : phase.sides[port].receives) check(receive, "receives at");
}

/// The addresses between the lowest and the highest of several runs.
struct Reach {
  std::uint32_t low = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t high = 0;

  void add(const WordRun& run) {
    low = std::min(low, run.address);
    high = std::max(high, run.end_address());
  }
};

/// The receives of a side by address, those of one address in order of arrival.
void sort_writes(PortPhase& side) {
  side.writes.clear();
  for (std::uint32_t r = 0; r < side.receives.size(); ++r) {
    side.writes.push_back({.address = side.receives[r].address, .receive = r});
  }
  std::ranges::sort(side.writes, [](const PortPhase::Write& a, const PortPhase::Write& b) {
    return a.address != b.address ? a.address < b.address : a.receive < b.receive;
  });
  std::uint32_t reach = 0;
  for (PortPhase::Write& write : side.writes) {
    reach = std::max(reach, side.receives[write.receive].end_address());
    write.reach = reach;
  }
}

/// Sources are read as they were before the phase, so no send may read what arrived earlier.
void check_order(UnresolvedPhase& phase, std::uint32_t port) {
  PortPhase& side = phase.sides[port];
  Reach sent, received;
  for (const WordRun& send : side.sends) sent.add(send);
  for (const WordRun& receive : side.receives) received.add(receive);
  if (sent.high <= received.low || received.high <= sent.low) return;
  sort_writes(side);
  for (const WordRun& send : side.sends) {
    auto write = std::partition_point(
        side.writes.begin(), side.writes.end(),
        [&](const PortPhase::Write& w) { return w.address < send.end_address(); });
    while (write != side.writes.begin() && std::prev(write)->reach > send.address) {
      --write;
      const WordRun& receive = side.receives[write->receive];
      if (receive.end_address() <= send.address) continue;
      side.overwrites = true;
      const std::uint32_t shared = std::max(receive.address, send.address);
      const std::uint64_t read_at = send.begin + phase.item.cycle_of((shared - send.address) / 4);
      const std::uint64_t written_at =
          receive.begin + phase.item.cycle_of((shared - receive.address) / 4);
      if (written_at >= read_at) continue;
      phase.fail(
          port, read_at, send.pc,
          fmt::format("sends 0x{:x} at cycle {} after it was overwritten at cycle {} by tile {}",
                      shared, read_at, written_at, index(phase.ports[receive.other].tile)));
    }
  }
}

}  // namespace

void check_port(UnresolvedPhase& phase, std::uint32_t port) {
  check_elements(phase, port);
  check_fetch(phase, port);
  check_order(phase, port);
}

void check_links(UnresolvedPhase& phase) {
  std::vector<LinkedWords> words;
  for (std::uint32_t p = 0; p < phase.ports.size(); ++p) {
    for (const WordRun& run : phase.sides[p].receives) {
      const TileId source = phase.ports[run.other].tile, destination = phase.ports[p].tile;
      const std::uint64_t way = phase.way(run.other, p);
      words.push_back({source, destination, run.begin - way, run.end - way, run.other_address});
    }
  }
  const std::optional<LinkClash> clash = find_clash(phase.machine, words);
  if (!clash) return;
  const auto text_of = [&](const LinkedWords& run, std::uint64_t sent) {
    return fmt::format("that of tile {} at 0x{:x} to tile {}", index(run.source),
                       run.address + 4 * phase.item.words_in(sent - run.begin),
                       index(run.destination));
  };
  const auto sent = [&](const LinkedWords& run) {
    for (const LinkUse& use : route(phase.machine, run.source, run.destination).links) {
      if (use.link == clash->link) return clash->cycle - use.offset;
    }
    return run.begin;
  };
  const std::uint32_t blamed = phase.port_of[index(clash->other.source)];
  const std::uint64_t left = sent(clash->other);
  const auto send = std::ranges::find_if(phase.sides[blamed].sends, [&](const WordRun& run) {
    return run.begin <= left && left < run.end;
  });
  SUPERSTEP_CHECK(send != phase.sides[blamed].sends.end(), "a word on a link that nobody sends");
  phase.fail(
      blamed, clash->cycle, send->pc,
      fmt::format("two words on {} in one cycle: {} and {}", link_name(phase.machine, clash->link),
                  text_of(clash->one, sent(clash->one)), text_of(clash->other, left)));
}

}  // namespace superstep
