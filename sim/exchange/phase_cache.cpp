#include "sim/exchange/phase_cache.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace superstep {
namespace {

/// More would make looking for one slow.
constexpr std::size_t kMostPhases = 1024;
/// Of a kept phase, those of no row.
constexpr std::size_t kMostEvents = 4096;

template <class T>
std::size_t bytes_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

}  // namespace

bool PhaseCache::fill(Key& key, std::span<const FabricPort> ports, std::uint64_t begin) {
  key.ports.clear();
  key.rows.clear();
  key.events.clear();
  for (const FabricPort& port : ports) {
    for (const PortLog::Played& played : port.log->rows()) {
      key.rows.push_back({played.row->id(), played.cycle - begin, played.events_before});
    }
    if (key.events.size() + port.log->events().size() > kMostEvents) return false;
    for (PortEvent event : port.log->events()) {
      event.cycle -= begin;
      key.events.push_back(event);
    }
    key.ports.push_back({port.tile, key.rows.size(), key.events.size()});
  }
  return true;
}

/// Of rows and of where the events are: events differ rarely in what else they say, and are
/// compared.
std::uint64_t PhaseCache::hash_of(const Key& key) {
  std::uint64_t hash = kFnv1aBasis;
  for (const Key::Port& port : key.ports) {
    hash = fnv1a(hash, index(port.tile) | std::uint64_t{port.events_end} << 32);
  }
  for (const Key::Row& row : key.rows) hash = fnv1a(fnv1a(hash, row.id), row.cycle);
  for (const PortEvent& event : key.events) {
    hash = fnv1a(hash, event.cycle ^ std::uint64_t{event.value} << 32);
  }
  return hash;
}

const ResolvedPhase* PhaseCache::find(std::span<const FabricPort> ports, std::uint64_t begin) {
  may_be_kept_ = fill(wanted_, ports, begin);
  if (!may_be_kept_) return nullptr;
  hash_ = hash_of(wanted_);
  for (const std::unique_ptr<Kept>& kept : phases_) {
    if (kept->hash != hash_ || kept->key != wanted_) continue;
    kept->last_use = ++uses_;
    return kept->phase.get();
  }
  return nullptr;
}

void PhaseCache::keep(std::unique_ptr<ResolvedPhase>& phase) {
  if (!may_be_kept_) return;
  if (spare_ == nullptr) spare_ = std::make_unique<Kept>();
  std::swap(spare_->key, wanted_);
  spare_->hash = hash_;
  spare_->last_use = ++uses_;
  spare_->bytes = bytes_of(spare_->key.ports) + bytes_of(spare_->key.rows) +
                  bytes_of(spare_->key.events) + bytes_of(phase->ports) + bytes_of(phase->copies) +
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

}  // namespace superstep
