#include "sim/exchange/phase_cache.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

#include "base/each_index.h"
#include "base/hash.h"

namespace superstep {
namespace {

/// More would make looking for one slow.
constexpr std::size_t kMostPhases = 1024;
/// What is known of phases that are not kept; a megabyte or two.
constexpr std::size_t kMostMisses = 32 * kMostPhases;
/// Of a kept phase, those of no row.
constexpr std::size_t kMostEvents = 4096;

template <class T>
std::size_t bytes_of(const std::vector<T>& vector) {
  return vector.size() * sizeof(T);
}

}  // namespace

/// The hash is of the tile, its rows, and when and with what value events come: these differ rarely
/// in what else they say, and are compared.
PhaseCache::Told PhaseCache::told(const FabricPort& port) {
  const PortLog& log = *port.log;
  if (log.empty()) return {};
  Told told{log.begin(), fnv1a(kFnv1aBasis, index(port.tile)), log.events().size(), false};
  for (const PortLog::Played& played : log.rows()) {
    told.hash = fnv1a(fnv1a(told.hash, played.row->id()), played.cycle - told.begin);
  }
  for (const PortEvent& event : log.events()) {
    told.hash = fnv1a(told.hash, (event.cycle - told.begin) ^ std::uint64_t{event.value} << 32);
  }
  return told;
}

void PhaseCache::sum_up(std::span<const FabricPort> ports) {
  told_.resize(ports.size());
  begin_ = std::numeric_limits<std::uint64_t>::max();
  std::size_t events = 0;
  std::mutex adding;
  each_part(ports.size(), kPortsARange, [&](std::size_t first, std::size_t end) {
    std::uint64_t begin_of_range = std::numeric_limits<std::uint64_t>::max();
    std::size_t events_of_range = 0;
    for (std::size_t p = first; p != end; ++p) {
      told_[p] = told(ports[p]);
      if (!told_[p].is_empty) begin_of_range = std::min(begin_of_range, told_[p].begin);
      events_of_range += told_[p].events;
    }
    const std::scoped_lock lock(adding);
    begin_ = std::min(begin_, begin_of_range);
    events += events_of_range;
  });
  // A sum, whose parts a host computes at once.
  hash_ = 0;
  for (const Told& told : told_) {
    if (!told.is_empty) hash_ += fnv1a(told.hash, told.begin - begin_);
  }
  may_be_kept_ = events <= kMostEvents;
}

bool PhaseCache::is_told(const Key& key, std::span<const FabricPort> ports,
                         std::size_t port) const {
  const Key::Port& end = key.ports[port];
  const Key::Port begin = port == 0 ? Key::Port{} : key.ports[port - 1];
  const PortLog& log = *ports[port].log;
  const std::span rows = std::span(key.rows).subspan(begin.rows_end, end.rows_end - begin.rows_end);
  const std::span events =
      std::span(key.events).subspan(begin.events_end, end.events_end - begin.events_end);
  return end.tile == ports[port].tile &&
         std::ranges::equal(rows, log.rows(),
                            [&](const Key::Row& row, const PortLog::Played& played) {
                              return row == Key::Row{played.row->id(), played.cycle - begin_,
                                                     played.events_before};
                            }) &&
         std::ranges::equal(events, log.events(), [&](PortEvent event, const PortEvent& other) {
           event.cycle += begin_;
           return event == other;
         });
}

bool PhaseCache::is_told(const Key& key, std::span<const FabricPort> ports) const {
  if (key.ports.size() != ports.size()) return false;
  std::atomic<bool> differs = false;
  each_part(ports.size(), kPortsARange, [&](std::size_t first, std::size_t end) {
    for (std::size_t p = first; p != end; ++p) {
      if (!is_told(key, ports, p)) return differs.store(true, std::memory_order_relaxed);
    }
  });
  return !differs;
}

void PhaseCache::fill(Key& key, std::span<const FabricPort> ports) const {
  key.ports.clear();
  key.rows.clear();
  key.events.clear();
  for (const FabricPort& port : ports) {
    for (const PortLog::Played& played : port.log->rows()) {
      key.rows.push_back({played.row->id(), played.cycle - begin_, played.events_before});
    }
    for (PortEvent event : port.log->events()) {
      event.cycle -= begin_;
      key.events.push_back(event);
    }
    key.ports.push_back({port.tile, key.rows.size(), key.events.size()});
  }
}

const ResolvedPhase* PhaseCache::find(std::span<const FabricPort> ports) {
  sum_up(ports);
  if (!may_be_kept_) return nullptr;
  ++uses_;
  for (Kept& kept : phases_) {
    if (kept.hash != hash_ || !is_told(kept.key, ports)) continue;
    kept.last_use = uses_;
    return &kept.phase;
  }
  if (misses_.size() >= kMostMisses) misses_.clear();
  last_miss_ = std::exchange(misses_[hash_], uses_);
  fill(wanted_, ports);
  return nullptr;
}

/// The missed one takes the place of those that were last used before it was missed before.
bool PhaseCache::make_room(std::size_t bytes) {
  if (bytes > most_bytes_) return false;
  while (bytes_ + bytes > most_bytes_ || phases_.size() == kMostPhases) {
    const auto least = std::ranges::min_element(phases_, {}, &Kept::last_use);
    if (least->last_use >= last_miss_) return false;
    misses_[least->hash] = least->last_use;
    bytes_ -= least->bytes;
    std::swap(*least, phases_.back());
    phases_.pop_back();
  }
  return true;
}

void PhaseCache::keep(const ResolvedPhase& phase) {
  if (!may_be_kept_) return;
  const std::size_t bytes = bytes_of(wanted_.ports) + bytes_of(wanted_.rows) +
                            bytes_of(wanted_.events) + bytes_of(phase.ports) +
                            bytes_of(phase.copies) + bytes_of(phase.copies_end);
  if (!make_room(bytes)) return;
  misses_.erase(hash_);
  bytes_ += bytes;
  phases_.push_back({wanted_, hash_, uses_, bytes, phase});
}

}  // namespace superstep
