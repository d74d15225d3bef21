#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/schedule/tasks.h"

namespace superstep {

/// Busy cycles, neighbours joined, ascending.
class BusyCycles {
 public:
  static constexpr std::uint32_t kNeverBusy = std::numeric_limits<std::uint32_t>::max() / 2;

  /// The first cycle from `from` on at which `length` cycles are free.
  [[nodiscard]] std::uint32_t first_gap(std::uint32_t from, std::uint32_t length) const {
    if (busy_.empty() || from >= busy_.back().second) return from;
    auto next = after(from);
    while (next != busy_.end() && next->first < from + length) {
      from = std::max(from, next->second);
      ++next;
    }
    return from;
  }

  /// The first busy cycle after the free cycle `from`.
  [[nodiscard]] std::uint32_t free_until(std::uint32_t from) const {
    const auto next = after(from);
    return next == busy_.end() ? kNeverBusy : next->first;
  }

  void add(std::uint32_t begin, std::uint32_t end) {
    if (busy_.empty() || begin > busy_.back().second) {
      busy_.emplace_back(begin, end);
      return;
    }
    auto at = std::partition_point(busy_.begin(), busy_.end(),
                                   [&](const auto& b) { return b.second < begin; });
    if (at->first > end) {
      busy_.insert(at, {begin, end});
      return;
    }
    at->first = std::min(at->first, begin);
    at->second = std::max(at->second, end);
    auto last = std::next(at);
    while (last != busy_.end() && last->first <= at->second) {
      at->second = std::max(at->second, last->second);
      ++last;
    }
    busy_.erase(std::next(at), last);
  }

  void clear() { busy_.clear(); }

 private:
  using Interval = std::pair<std::uint32_t, std::uint32_t>;

  [[nodiscard]] std::vector<Interval>::const_iterator after(std::uint32_t from) const {
    return std::partition_point(busy_.begin(), busy_.end(),
                                [&](const Interval& b) { return b.second <= from; });
  }

  std::vector<Interval> busy_;
};

/// A tile's send port or receive port: when it is busy, and when with which of the memory blocks
/// that the other port of the tile uses as well.
class Port {
 public:
  BusyCycles busy;

  [[nodiscard]] std::uint32_t first_gap_apart(BlockSet blocks, std::uint32_t from,
                                              std::uint32_t length) const {
    for (const auto& [block, cycles] : by_block_) {
      if ((block & blocks) != 0) from = cycles.first_gap(from, length);
    }
    return from;
  }

  [[nodiscard]] std::uint32_t free_until_apart(BlockSet blocks, std::uint32_t from) const {
    std::uint32_t until = BusyCycles::kNeverBusy;
    for (const auto& [block, cycles] : by_block_) {
      if ((block & blocks) != 0) until = std::min(until, cycles.free_until(from));
    }
    return until;
  }

  void add(BlockSet blocks, std::uint32_t begin, std::uint32_t end) {
    busy.add(begin, end);
    for (; blocks != 0; blocks &= blocks - 1) {
      const BlockSet block = blocks & -blocks;
      auto at = std::ranges::find(by_block_, block, [](const auto& entry) { return entry.first; });
      if (at == by_block_.end()) at = by_block_.insert(at, {block, {}});
      at->second.add(begin, end);
    }
  }

  void clear() {
    busy.clear();
    by_block_.clear();
  }

 private:
  std::vector<std::pair<BlockSet, BusyCycles>> by_block_;
};

}  // namespace superstep
