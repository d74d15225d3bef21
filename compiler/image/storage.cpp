#include "compiler/image/storage.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <limits>
#include <map>
#include <utility>

#include "compiler/program/blocks.h"

namespace superstep {
namespace {

/// What a tile needs: entries of buffers that share storage are one request.
struct Requests {
  std::vector<StorageRequest> requests;
  std::vector<std::uint32_t> by_entry;
};

/// `shared` has, by buffer, the first of those that share its storage.
Requests requests_of(const std::vector<Storage::Entry>& entries,
                     const std::vector<BufferId>& shared) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  Requests result;
  result.requests.reserve(entries.size());
  result.by_entry.reserve(entries.size());
  std::vector<std::uint32_t> known(shared.size(), kNone);
  for (const Storage::Entry& entry : entries) {
    std::uint32_t& number = known[index(shared[index(entry.buffer)])];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(result.requests.size());
      result.by_entry.push_back(number);
      result.requests.push_back(entry.request);
      continue;
    }
    result.by_entry.push_back(number);
    StorageRequest& request = result.requests[number];
    request.bytes = std::max(request.bytes, entry.request.bytes);
    request.is_received |= entry.request.is_received;
    request.others.push_back({entry.request.first, entry.request.last});
  }
  return result;
}

/// By buffer, the first of those that share its storage: what calls put in place of each other.
std::vector<BufferId> shared_storage(const LoweredProgram& program) {
  boost::disjoint_sets_with_storage<> sets(program.buffers.size());
  for (const Call* call : calls_of(program)) {
    for (const auto& [formal, actual] : call->bindings) {
      sets.union_set(index(formal), index(actual));
    }
  }
  std::vector<std::uint32_t> first(program.buffers.size(), UINT32_MAX);  // by set
  std::vector<BufferId> shared;
  for (std::uint32_t b = 0; b < first.size(); ++b) {
    std::uint32_t& its = first[sets.find_set(b)];
    its = std::min(its, b);
    shared.push_back(BufferId{its});
  }
  return shared;
}

/// What exchanges write lies in the upper half of a range, in memory elements of its own: an access
/// to the interleaved region occupies two.
DataRange data_range(const MachineConfig& machine, std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t pair = 2 * machine.tile.element_bytes;
  return {begin, end, begin + (std::max(begin, end) - begin) / 2 / pair * pair};
}

/// Places what one tile holds; data of region 0 begins at `data_begin`.
Allocation allocate_tile(const MachineConfig& machine, std::vector<StorageRequest> requests,
                         std::uint32_t data_begin) {
  const std::uint32_t region1 = machine.tile.region1_base;
  const std::uint32_t region2 = machine.region2_base();
  // The first range is the interleaved region, the second what code leaves of the executable one.
  std::vector<DataRange> ranges{data_range(machine, std::max(region1, data_begin), region2),
                                data_range(machine, std::min(data_begin, region1), region1)};
  if (region2 < machine.memory_end()) {
    ranges.push_back(data_range(machine, std::max(region2, data_begin), machine.memory_end()));
  }
  Allocation allocation = allocate(requests, ranges);
  const auto attempt = [&](const std::vector<DataRange>& in) {
    if (allocation.missing_bytes == 0) return;
    Allocation other = allocate(requests, in);
    if (other.missing_bytes < allocation.missing_bytes) allocation = std::move(other);
  };
  // Big tensors may fit when they lie across the border of the regions, and when what exchanges
  // write is not kept apart.
  const bool is_free = std::ranges::none_of(
      requests, [](const StorageRequest& request) { return request.range.has_value(); });
  const std::vector<DataRange> across{data_range(machine, data_begin, machine.memory_end())};
  if (is_free) attempt(across);
  for (StorageRequest& request : requests) request.is_received = false;
  attempt(ranges);
  if (is_free) attempt(across);
  return allocation;
}

}  // namespace

Storage::Storage(const MachineConfig& machine, const LoweredProgram& program)
    : machine_(machine),
      program_(program),
      shared_(shared_storage(program)),
      by_tile_(machine.tiles()),
      room_(machine.tiles()),
      missing_(machine.tiles()),
      misfits_(machine.tiles()) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (!lifetimes[b].is_used()) continue;
    const Buffer& buffer = program.buffers[b];
    for (const Interval& interval : buffer.layout->intervals()) {
      StorageRequest request{buffer.bytes(interval), lifetimes[b].first, lifetimes[b].last,
                             lifetimes[b].is_received};
      // 128-bit accesses are aligned; what has no range of its own is placed after those that have.
      if (buffer.region != Buffer::Region::kAny) request.bytes = (request.bytes + 15) / 16 * 16;
      if (buffer.region == Buffer::Region::kInterleaved) request.range = 0;
      if (buffer.region == Buffer::Region::kFirst) request.range = 1;
      for (const TileId tile : interval.tiles)
        by_tile_[index(tile)].push_back({BufferId{b}, request});
    }
  }
  for (const std::vector<Entry>& entries : by_tile_) {
    live_.push_back(peak_bytes(requests_of(entries, shared_).requests));
  }
}

bool Storage::has_room(const std::vector<std::uint32_t>& data_begin) {
  for (std::size_t t = 0; t < by_tile_.size(); ++t) {
    room_[t] = machine_.memory_end() - std::min(data_begin[t], machine_.memory_end());
    missing_[t] = std::max<std::uint64_t>(live_[t], room_[t]) - room_[t];
  }
  return std::ranges::all_of(missing_, [](std::uint64_t bytes) { return bytes == 0; });
}

void Storage::place(const std::vector<std::uint32_t>& data_begin, const CompileProgress& progress) {
  if (!has_room(data_begin)) return;
  addresses_.assign(program_.buffers.size(), std::vector<std::uint32_t>(machine_.tiles()));
  // Most tiles hold what others hold.
  std::map<std::pair<std::uint32_t, std::vector<StorageRequest>>, Allocation> known;
  for (std::uint32_t t = 0; t < by_tile_.size(); ++t) {
    show_share(progress, "allocate memory", t, by_tile_.size(), "tiles");
    Requests requests = requests_of(by_tile_[t], shared_);
    const auto [at, is_new] =
        known.try_emplace({data_begin[t], std::move(requests.requests)}, Allocation{});
    Allocation& allocation = at->second;
    if (is_new) allocation = allocate_tile(machine_, at->first.second, data_begin[t]);
    for (std::size_t i = 0; i < by_tile_[t].size(); ++i) {
      addresses_[index(by_tile_[t][i].buffer)][t] = allocation.addresses[requests.by_entry[i]];
    }
    missing_[t] = allocation.missing_bytes;
    misfits_[t] = allocation.misfit;
    if (misfits_[t]) {
      // In terms of entries.
      const auto entry = std::ranges::find(requests.by_entry, misfits_[t]->request);
      misfits_[t]->request = static_cast<std::size_t>(entry - requests.by_entry.begin());
    }
  }
}

std::vector<std::uint32_t> Storage::peak_by_tile(Buffer::Kind kind) const {
  std::vector<std::uint32_t> peaks;
  for (const std::vector<Entry>& entries : by_tile_) {
    std::vector<StorageRequest> requests;
    for (const Entry& entry : entries) {
      if (program_.buffers[index(entry.buffer)].kind == kind) requests.push_back(entry.request);
    }
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    peaks.push_back(static_cast<std::uint32_t>(std::min(kMost, peak_bytes(requests))));
  }
  return peaks;
}

std::vector<std::pair<BufferId, std::uint32_t>> Storage::on(TileId tile) const {
  std::vector<std::pair<BufferId, std::uint32_t>> buffers;
  for (const Entry& entry : by_tile_[index(tile)]) {
    if (program_.buffers[index(entry.buffer)].kind == Buffer::Kind::kState) continue;
    buffers.emplace_back(entry.buffer, entry.request.bytes);
  }
  std::ranges::stable_sort(buffers, std::greater{}, &std::pair<BufferId, std::uint32_t>::second);
  return buffers;
}

}  // namespace superstep
