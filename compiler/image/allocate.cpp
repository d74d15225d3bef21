#include "compiler/image/allocate.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>
#include <utility>

namespace superstep {
namespace {

/// What is in use, and when: a search tree of blocks by address. A node also knows the extremes of
/// the blocks below it, so that a search passes at once over many that all live with the request
/// and leave no room between them, and over many that none does.
class Memory {
 public:
  void add(const StorageRequest& request, std::uint64_t at) {
    add({request.first, request.last}, at, request.bytes);
    for (const Period& other : request.others) add(other, at, request.bytes);
  }

  /// The first address from `begin` on where `bytes` are free while `request` lives.
  [[nodiscard]] std::uint64_t first_gap(const StorageRequest& request, std::uint64_t bytes,
                                        std::uint64_t begin) const {
    std::uint64_t at = first_gap(Period{request.first, request.last}, bytes, begin);
    if (request.others.empty()) return at;
    for (std::uint64_t before = at + 1; before != at;) {
      before = at;
      for (const Period& other : request.others) at = first_gap(other, bytes, at);
      at = first_gap(Period{request.first, request.last}, bytes, at);
    }
    return at;
  }

  /// The most bytes of [begin, end) that are free in one piece while `request` lives.
  [[nodiscard]] std::uint64_t largest_gap(const StorageRequest& request, std::uint64_t begin,
                                          std::uint64_t end) const {
    std::uint64_t fits = 0, exceeds = std::max(begin, end) - begin + 1;
    while (exceeds - fits > 1) {
      const std::uint64_t bytes = fits + (exceeds - fits) / 2;
      (first_gap(request, bytes, begin) + bytes <= end ? fits : exceeds) = bytes;
    }
    return fits;
  }

 private:
  using NodeId = std::uint32_t;  ///< 0: none
  using Period = StorageRequest::Period;

  void add(const Period& period, std::uint64_t at, std::uint64_t bytes) {
    const Blocks block{at, at + bytes, 0, period.first, period.first, period.last, period.last};
    nodes_.push_back({.own = block, .all = block, .priority = random_()});
    root_ = inserted(root_, static_cast<NodeId>(nodes_.size() - 1));
  }

  [[nodiscard]] std::uint64_t first_gap(const Period& period, std::uint64_t bytes,
                                        std::uint64_t begin) const {
    Search search{period, bytes, begin};
    find(search, root_);
    return search.at;
  }

  /// One block or several.
  struct Blocks {
    std::uint64_t begin, end;
    std::uint64_t gap;  ///< the largest between two of them
    std::uint32_t earliest_first, latest_first, earliest_last, latest_last;
  };
  struct Node {
    Blocks own, all;  ///< `all` with those of its children
    std::minstd_rand::result_type priority;
    NodeId before = 0, after = 0;
  };
  struct Search {
    Period period;
    std::uint64_t bytes;
    std::uint64_t at;  ///< what is below has no room
  };

  static Blocks joined(const Blocks& a, const Blocks& b) {
    return {a.begin,
            std::max(a.end, b.end),
            std::max({a.gap, b.gap, std::max(a.end, b.begin) - a.end}),
            std::min(a.earliest_first, b.earliest_first),
            std::max(a.latest_first, b.latest_first),
            std::min(a.earliest_last, b.earliest_last),
            std::max(a.latest_last, b.latest_last)};
  }

  void update(Node& node) {
    node.all = node.own;
    if (node.before != 0) node.all = joined(nodes_[node.before].all, node.all);
    if (node.after != 0) node.all = joined(node.all, nodes_[node.after].all);
  }

  static bool precedes(const Node& a, const Node& b) {
    return std::pair(a.own.begin, a.own.earliest_first) <
           std::pair(b.own.begin, b.own.earliest_first);
  }

  /// The tree `root` with a node more: a treap, whose random priorities keep it flat.
  NodeId inserted(NodeId root, NodeId added) {
    if (root == 0) return added;
    Node& node = nodes_[root];
    Node& fresh = nodes_[added];
    if (fresh.priority > node.priority) {
      std::tie(fresh.before, fresh.after) = split(root, fresh);
      update(fresh);
      return added;
    }
    NodeId& side = precedes(fresh, node) ? node.before : node.after;
    side = inserted(side, added);
    update(node);
    return root;
  }

  /// The nodes of a tree that precede `at`, and the others.
  std::pair<NodeId, NodeId> split(NodeId root, const Node& at) {
    if (root == 0) return {0, 0};
    Node& node = nodes_[root];
    std::pair<NodeId, NodeId> parts;
    if (precedes(node, at)) {
      std::tie(node.after, parts.second) = split(node.after, at);
      parts.first = root;
    } else {
      std::tie(parts.first, node.before) = split(node.before, at);
      parts.second = root;
    }
    update(node);
    return parts;
  }

  /// Moves `search.at` behind what is in its way; true once there is room in front of a block.
  bool find(Search& search, NodeId number) const {
    if (number == 0) return false;
    const Node& node = nodes_[number];
    if (const auto answer = pass(search, node.all)) return *answer;
    if (find(search, node.before)) return true;
    const auto answer = pass(search, node.own);
    return (answer && *answer) || find(search, node.after);
  }

  /// The same for blocks that can be taken together; empty where each has to be looked at.
  static std::optional<bool> pass(Search& search, const Blocks& blocks) {
    const auto& [period, bytes, at] = search;
    const bool none_lives =
        period.last < blocks.earliest_first || blocks.latest_last < period.first;
    if (none_lives || blocks.end <= at) return false;
    const bool all_live =
        blocks.latest_first <= period.last && period.first <= blocks.earliest_last;
    if (!all_live || blocks.gap >= bytes) return std::nullopt;
    if (at + bytes <= blocks.begin) return true;
    search.at = blocks.end;
    return false;
  }

  std::vector<Node> nodes_{1};
  NodeId root_ = 0;
  std::minstd_rand random_;
};

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
    const std::optional<std::uint64_t> place = place_in_ranges(requests_[i]);
    const std::uint64_t at = place ? *place : place_beyond(i);
    memory_.add(requests_[i], at);
    result_.addresses[i] = static_cast<std::uint32_t>(at);
  }

  Allocation take() { return std::move(result_); }

 private:
  [[nodiscard]] std::optional<std::uint64_t> place_in_ranges(const StorageRequest& request) const {
    for (std::size_t r = 0; r < ranges_.size(); ++r) {
      if (request.range.value_or(r) != r) continue;
      const DataRange& range = ranges_[r];
      const auto place_from = [&](std::uint64_t begin) {
        const std::uint64_t at = memory_.first_gap(request, request.bytes, begin);
        return at + request.bytes <= range.end ? std::optional(at) : std::nullopt;
      };
      std::optional<std::uint64_t> at;
      if (request.is_received) at = place_from(range.received);
      if (!at) at = place_from(range.begin);
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
        result_.misfit->largest_gap =
            std::max(result_.misfit->largest_gap,
                     memory_.largest_gap(request, ranges_[r].begin, ranges_[r].end));
      }
    }
    const std::uint64_t at = memory_.first_gap(request, request.bytes, end_);
    result_.missing_bytes = std::max(result_.missing_bytes, at + request.bytes - end_);
    return at;
  }

  const std::vector<StorageRequest>& requests_;
  const std::vector<DataRange>& ranges_;
  std::uint64_t end_ = 0;  ///< of the last range
  Memory memory_;
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
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;  // at a point, what ends comes first
  changes.reserve(2 * requests.size());
  for (const StorageRequest& request : requests) {
    const auto live = [&](std::uint32_t first, std::uint32_t last) {
      changes.emplace_back(first, request.bytes);
      changes.emplace_back(std::uint64_t{last} + 1, -std::int64_t{request.bytes});
    };
    live(request.first, request.last);
    for (const auto& [first, last] : request.others) live(first, last);
  }
  std::ranges::sort(changes);
  std::int64_t alive = 0, peak = 0;
  for (const auto& [point, change] : changes) peak = std::max(peak, alive += change);
  return static_cast<std::uint64_t>(peak);
}

}  // namespace superstep
