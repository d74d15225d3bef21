#include "compiler/image/allocate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace superstep {
namespace {

/// A multiple of what one access of any width occupies.
constexpr std::uint64_t kBank = 32 * 1024;

struct Placed {
  std::uint64_t begin, end;
};

/// Visits the gaps in [begin, end) between blocks in ascending order, until `visit` is true.
template <class Visit>
void each_gap(const std::vector<Placed>& blocks, std::uint64_t begin, std::uint64_t end,
              const Visit& visit) {
  std::uint64_t at = begin;
  for (const Placed& block : blocks) {
    if (block.end <= at) continue;
    if (block.begin >= end) break;
    if (block.begin > at && visit(at, block.begin)) return;
    at = block.end;
  }
  if (at < end) visit(at, end);
}

/// The first place for `bytes` in [begin, end) between blocks in ascending order.
std::optional<std::uint64_t> first_gap(const std::vector<Placed>& blocks, std::uint64_t bytes,
                                       std::uint64_t begin, std::uint64_t end) {
  std::optional<std::uint64_t> place;
  each_gap(blocks, begin, end, [&](std::uint64_t from, std::uint64_t to) {
    if (to - from >= bytes) place = from;
    return place.has_value();
  });
  return place;
}

std::uint64_t largest_gap(const std::vector<Placed>& blocks, std::uint64_t begin,
                          std::uint64_t end) {
  std::uint64_t largest = 0;
  each_gap(blocks, begin, end, [&](std::uint64_t from, std::uint64_t to) {
    largest = std::max(largest, to - from);
    return false;
  });
  return largest;
}

/// Those with a range of their own first, then the largest first.
std::vector<std::size_t> order_of(const std::vector<StorageRequest>& requests) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) {
    return std::pair(requests[i].range.has_value(), requests[i].bytes);
  });
  return order;
}

/// Places requests one after the other.
class Allocator {
 public:
  Allocator(const std::vector<StorageRequest>& requests, const std::vector<DataRange>& ranges)
      : requests_(requests), ranges_(ranges) {
    result_.addresses.resize(requests.size());
    for (const DataRange& range : ranges) end_ = std::max<std::uint64_t>(end_, range.end);
  }

  void add(std::size_t i) {
    find_alive(requests_[i]);
    const std::optional<std::uint64_t> place = place_in_ranges(requests_[i]);
    const std::uint64_t at = place ? *place : place_beyond(i);
    const auto after =
        std::ranges::upper_bound(placed_, at, {}, [](const auto& p) { return p.first.begin; });
    placed_.insert(after, {{at, at + requests_[i].bytes}, i});
    result_.addresses[i] = static_cast<std::uint32_t>(at);
  }

  Allocation take() { return std::move(result_); }

 private:
  /// What lives together with `request`, in ascending order.
  void find_alive(const StorageRequest& request) {
    alive_.clear();
    for (const auto& [block, other] : placed_) {
      if (requests_[other].first <= request.last && request.first <= requests_[other].last) {
        alive_.push_back(block);
      }
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> place_in_ranges(const StorageRequest& request) const {
    for (std::size_t r = 0; r < ranges_.size(); ++r) {
      if (request.range.value_or(r) != r) continue;
      const DataRange& range = ranges_[r];
      std::optional<std::uint64_t> at;
      if (request.is_received) {
        const std::uint64_t middle = range.begin + (range.end - range.begin) / 2 / kBank * kBank;
        at = first_gap(alive_, request.bytes, middle, range.end);
      }
      if (!at) at = first_gap(alive_, request.bytes, range.begin, range.end);
      if (at) return at;
    }
    return std::nullopt;
  }

  std::uint64_t place_beyond(std::size_t i) {
    const StorageRequest& request = requests_[i];
    if (!result_.misfit) {
      result_.misfit = {i, 0};
      for (std::size_t r = 0; r < ranges_.size(); ++r) {
        if (request.range.value_or(r) != r) continue;
        result_.misfit->largest_gap = std::max(
            result_.misfit->largest_gap, largest_gap(alive_, ranges_[r].begin, ranges_[r].end));
      }
    }
    const std::uint64_t at =
        first_gap(alive_, request.bytes, end_, std::numeric_limits<std::uint32_t>::max())
            .value_or(end_);
    result_.missing_bytes = std::max(result_.missing_bytes, at + request.bytes - end_);
    return at;
  }

  const std::vector<StorageRequest>& requests_;
  const std::vector<DataRange>& ranges_;
  std::uint64_t end_ = 0;                               ///< of the last range
  std::vector<std::pair<Placed, std::size_t>> placed_;  ///< ascending, with their requests
  std::vector<Placed> alive_;
  Allocation result_;
};

}  // namespace

Allocation allocate(const std::vector<StorageRequest>& requests,
                    const std::vector<DataRange>& ranges) {
  Allocator allocator(requests, ranges);
  for (const std::size_t i : order_of(requests)) allocator.add(i);
  return allocator.take();
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
