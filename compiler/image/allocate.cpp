#include "compiler/image/allocate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace superstep {
namespace {

/// A multiple of what one access of any width occupies.
constexpr std::uint64_t kBank = 32 * 1024;

struct Placed {
  std::uint64_t begin, end;
};

/// The first gap of `bytes` in [begin, end) between blocks in ascending order.
std::optional<std::uint64_t> first_gap(const std::vector<Placed>& blocks, std::uint64_t bytes,
                                       std::uint64_t begin, std::uint64_t end) {
  std::uint64_t at = begin;
  for (const Placed& block : blocks) {
    if (block.end <= at) continue;
    if (block.begin >= at + bytes) break;
    at = block.end;
  }
  if (at + bytes > end) return std::nullopt;
  return at;
}

}  // namespace

Allocation allocate(const std::vector<StorageRequest>& requests,
                    const std::vector<DataRange>& ranges) {
  Allocation result;
  result.addresses.resize(requests.size());
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) {
    return std::pair(requests[i].range.has_value(), requests[i].bytes);
  });
  std::uint64_t highest_end = 0;
  for (const DataRange& range : ranges)
    highest_end = std::max<std::uint64_t>(highest_end, range.end);
  std::vector<std::pair<Placed, std::size_t>> placed;
  std::vector<Placed> alive;
  for (const std::size_t i : order) {
    const StorageRequest& request = requests[i];
    alive.clear();
    for (const auto& [block, other] : placed) {
      if (requests[other].first <= request.last && request.first <= requests[other].last) {
        alive.push_back(block);
      }
    }
    std::optional<std::uint64_t> at;
    for (std::size_t r = 0; r < ranges.size() && !at; ++r) {
      if (request.range.value_or(r) != r) continue;
      const DataRange& range = ranges[r];
      if (request.is_received) {
        const std::uint64_t middle = range.begin + (range.end - range.begin) / 2 / kBank * kBank;
        at = first_gap(alive, request.bytes, middle, range.end);
      }
      if (!at) at = first_gap(alive, request.bytes, range.begin, range.end);
    }
    if (!at) {
      at = first_gap(alive, request.bytes, highest_end, std::numeric_limits<std::uint32_t>::max());
      if (!at) at = highest_end;
      result.missing_bytes = std::max(result.missing_bytes, *at + request.bytes - highest_end);
    }
    const Placed block{*at, *at + request.bytes};
    const auto after = std::ranges::upper_bound(placed, block.begin, {},
                                                [](const auto& p) { return p.first.begin; });
    placed.insert(after, {block, i});
    result.addresses[i] = static_cast<std::uint32_t>(*at);
  }
  return result;
}

std::uint64_t peak_bytes(const std::vector<StorageRequest>& requests) {
  std::map<std::uint32_t, std::int64_t> changes;
  for (const StorageRequest& request : requests) {
    changes[request.first] += request.bytes;
    changes[request.last + 1] -= request.bytes;
  }
  std::int64_t alive = 0, peak = 0;
  for (const auto& [point, change] : changes) peak = std::max(peak, alive += change);
  return static_cast<std::uint64_t>(peak);
}

}  // namespace superstep
