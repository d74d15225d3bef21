#include "sim/exchange/phase_resolver.h"

#include <algorithm>
#include <utility>

#include "base/each_index.h"
#include "isa/fabric.h"
#include "sim/exchange/phase_hazards.h"
#include "sim/exchange/unresolved_phase.h"
#include "sim/exchange/word_routing.h"

namespace superstep {
namespace {

std::uint64_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

PortTraffic traffic_of(const UnresolvedPhase& phase, std::uint32_t port) {
  const PortPhase& side = phase.sides[port];
  const TilePlace& here = phase.places[index(phase.ports[port].tile)];
  PortTraffic traffic;
  std::uint64_t until = 0;
  const auto occupy = [&](std::uint64_t begin, std::uint64_t end) {
    traffic.busy_cycles += std::max(until, end) - std::max(until, begin);
    until = std::max(until, end);
  };
  auto receive = side.receives.begin();
  const auto occupy_next = [&] {
    occupy(receive->begin - phase.last_of_item, receive->end - phase.last_of_item);
    ++receive;
  };
  for (const WordRun& send : side.sends) {
    traffic.sent_bytes += send.bytes();
    while (receive != side.receives.end() && receive->begin - phase.last_of_item < send.begin)
      occupy_next();
    occupy(send.begin, send.end);
  }
  while (receive != side.receives.end()) occupy_next();
  const WordRun* last = nullptr;
  for (const WordRun& run : side.receives) {
    traffic.received_bytes += run.bytes();
    const TilePlace& there = phase.places[index(phase.ports[run.other].tile)];
    traffic.word_rows += run.bytes() / 4 * distance(here.row, there.row);
    traffic.word_columns += run.bytes() / 4 * distance(here.column, there.column);
    const bool goes_on = last != nullptr && last->other == run.other && last->end == run.begin &&
                         last->address + last->bytes() == run.address;
    if (!goes_on) ++traffic.messages;
    last = &run;
  }
  return traffic;
}

PortResult result_of(const UnresolvedPhase& phase, std::uint32_t port, std::uint64_t begin) {
  const PortPhase& side = phase.sides[port];
  PortResult result{.traffic = traffic_of(phase, port)};
  if (!side.events.empty()) result.last_event = side.last_event - begin;
  for (const WordRun& run : side.receives) {
    result.lowest_write = std::min(result.lowest_write, run.address);
  }
  return result;
}

/// Of the words that a port receives; they leave so long after `begin`.
void add_copies(UnresolvedPhase& phase, std::uint32_t port, std::uint64_t begin) {
  PortPhase& side = phase.sides[port];
  for (const WordRun& run : side.receives) {
    const std::uint32_t from = run.other_address - phase.machine.tile.memory_base;
    const std::uint32_t to = run.address - phase.machine.tile.memory_base;
    const std::uint64_t sent = run.begin - phase.way(run.other, port) - begin;
    if (!side.copies.empty()) {
      WordCopy& last = side.copies.back();
      if (last.source == run.other && last.from + last.bytes == from &&
          last.to + last.bytes == to && phase.item.is_whole(last.bytes / 4) &&
          last.sent + phase.item.cycles_of(last.bytes / 4) == sent) {
        last.bytes += run.bytes();
        continue;
      }
    }
    side.copies.push_back(
        {.source = run.other, .from = from, .to = to, .bytes = run.bytes(), .sent = sent});
  }
}

/// Puts together what is known of the ports; the earliest fault.
std::optional<FabricFault> gather_ports(UnresolvedPhase& phase, ResolvedPhase& resolved) {
  std::optional<FabricFault> fault;
  resolved.copies.clear();
  resolved.copies_end.clear();
  resolved.overwrites = false;
  std::size_t copies = 0;
  for (std::size_t p = 0; p < phase.ports.size(); ++p) copies += phase.sides[p].copies.size();
  resolved.copies.reserve(copies);
  for (std::size_t p = 0; p < phase.ports.size(); ++p) {
    PortPhase& side = phase.sides[p];
    resolved.copies.insert(resolved.copies.end(), side.copies.begin(), side.copies.end());
    resolved.copies_end.push_back(resolved.copies.size());
    resolved.overwrites |= side.overwrites;
    if (side.fault && (!fault || side.fault->cycle < fault->cycle)) fault = std::move(side.fault);
  }
  return fault;
}

}  // namespace

PhaseResolver::PhaseResolver(const MachineConfig& machine, LatencyLaw law)
    : phase_(std::make_unique<UnresolvedPhase>(machine, std::move(law))) {}
PhaseResolver::~PhaseResolver() = default;

std::optional<FabricFault> PhaseResolver::resolve(std::span<const FabricPort> ports,
                                                  std::uint64_t begin, ResolvedPhase& resolved) {
  UnresolvedPhase& phase = *phase_;
  const auto each_port = [&](const auto& body) {
    each_index(ports.size(), 16, [&](std::size_t p) { body(static_cast<std::uint32_t>(p)); });
  };
  phase.begin(ports);
  resolved.ports.resize(ports.size());
  each_port([&](std::uint32_t p) { collect_sends(phase, p); });
  each_port([&](std::uint32_t p) {
    receive_words(phase, p);
    check_port(phase, p);
    add_copies(phase, p, begin);
    resolved.ports[p] = result_of(phase, p, begin);
  });
  if (has_links(phase.machine)) check_links(phase);
  return gather_ports(phase, resolved);
}

}  // namespace superstep
