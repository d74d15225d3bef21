#include "sim/exchange/phase_cache.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/hash.h"
#include "base/each_index.h"

namespace superstep {
namespace {

/// More would make looking for one slow.
constexpr std::size_t kMostPhases = 1024;

template <class T>
std::size_t bytes_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

/// Whether `events`, each `begin` cycles earlier, are those from `kept` on.
bool are_equal(std::span<const PortEvent> events, std::uint64_t begin, const PortEvent* kept) {
  for (const PortEvent& event : events) {
    if (event.cycle - begin != kept->cycle || event.value != kept->value ||
        event.words != kept->words || event.pc != kept->pc || event.kind != kept->kind ||
        event.direction != kept->direction) {
      return false;
    }
    ++kept;
  }
  return true;
}

}  // namespace

/// Of how many events each port has and where its first one is: what most phases differ in, so that
/// their content is compared once.
std::uint64_t PhaseCache::hash_of(std::span<const FabricPort> ports, std::uint64_t begin) {
  std::uint64_t hash = kFnv1aBasis;
  for (const FabricPort& port : ports) {
    hash = fnv1a(hash, index(port.tile) | std::uint64_t{port.events.size()} << 32);
    if (port.events.empty()) continue;
    const PortEvent& first = port.events.front();
    hash = fnv1a(hash, first.cycle - begin);
    hash = fnv1a(hash, first.pc | std::uint64_t{first.value} << 32);
  }
  return hash;
}

bool PhaseCache::matches(const Kept& kept, std::span<const FabricPort> ports, std::uint64_t begin) {
  if (kept.tiles.size() != ports.size()) return false;
  std::atomic<bool> differs = false;
  each_index(ports.size(), 16, [&](std::size_t p) {
    if (differs.load(std::memory_order_relaxed)) return;
    const std::size_t first = p == 0 ? 0 : kept.events_end[p - 1];
    if (kept.tiles[p] != ports[p].tile || kept.events_end[p] - first != ports[p].events.size() ||
        !are_equal(ports[p].events, begin, kept.events.data() + first)) {
      differs.store(true, std::memory_order_relaxed);
    }
  });
  return !differs;
}

const ResolvedPhase* PhaseCache::find(std::span<const FabricPort> ports, std::uint64_t begin) {
  hash_ = hash_of(ports, begin);
  for (const std::unique_ptr<Kept>& kept : phases_) {
    if (kept->hash != hash_ || !matches(*kept, ports, begin)) continue;
    kept->last_use = ++uses_;
    return kept->phase.get();
  }
  return nullptr;
}

void PhaseCache::keep(std::span<const FabricPort> ports, std::uint64_t begin,
                      std::unique_ptr<ResolvedPhase>& phase) {
  if (spare_ == nullptr) spare_ = std::make_unique<Kept>();
  spare_->hash = hash_;
  spare_->last_use = ++uses_;
  copy_events(ports, begin, *spare_);
  spare_->bytes = bytes_of(spare_->tiles) + bytes_of(spare_->events) +
                  bytes_of(spare_->events_end) + bytes_of(phase->ports) + bytes_of(phase->copies) +
                  bytes_of(phase->copies_end);
  if (spare_->bytes > most_bytes_) return;
  std::swap(spare_->phase, phase);
  if (phase == nullptr) phase = std::make_unique<ResolvedPhase>();
  bytes_ += spare_->bytes;
  phases_.push_back(std::move(spare_));
  while (bytes_ > most_bytes_ || phases_.size() > kMostPhases) {
    const auto least =
        std::ranges::min_element(phases_, {}, [](const auto& kept) { return kept->last_use; });
    spare_ = std::move(*least);
    bytes_ -= spare_->bytes;
    *least = std::move(phases_.back());
    phases_.pop_back();
  }
}

void PhaseCache::copy_events(std::span<const FabricPort> ports, std::uint64_t begin, Kept& kept) {
  kept.tiles.clear();
  kept.events_end.clear();
  std::size_t end = 0;
  for (const FabricPort& port : ports) {
    end += port.events.size();
    kept.tiles.push_back(port.tile);
    kept.events_end.push_back(end);
  }
  kept.events.resize(end);
  each_index(ports.size(), 16, [&](std::size_t p) {
    PortEvent* to = kept.events.data() + kept.events_end[p] - ports[p].events.size();
    for (PortEvent event : ports[p].events) {
      event.cycle -= begin;
      *to++ = event;
    }
  });
}

}  // namespace superstep
