#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace superstep {

/// Busy cycles, neighbours joined, ascending.
class BusyCycles {
 public:
  static constexpr std::uint64_t kNeverBusy = std::numeric_limits<std::uint64_t>::max() / 2;

  /// The first cycle from `from` on at which `length` cycles are free.
  [[nodiscard]] std::uint64_t first_gap(std::uint64_t from, std::uint64_t length) const {
    if (busy_.empty() || from >= busy_.back().second) return from;
    auto next = std::partition_point(busy_.begin(), busy_.end(),
                                     [&](const auto& b) { return b.second <= from; });
    while (next != busy_.end() && next->first < from + length) {
      from = std::max(from, next->second);
      ++next;
    }
    return from;
  }

  /// The first busy cycle after the free cycle `from`.
  [[nodiscard]] std::uint64_t free_until(std::uint64_t from) const {
    const auto next = std::partition_point(busy_.begin(), busy_.end(),
                                           [&](const auto& b) { return b.second <= from; });
    return next == busy_.end() ? kNeverBusy : next->first;
  }

  void add(std::uint64_t begin, std::uint64_t end) {
    auto at = std::partition_point(busy_.begin(), busy_.end(),
                                   [&](const auto& b) { return b.second < begin; });
    if (at == busy_.end() || at->first > end) {
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

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> busy_;
};

/// The memory blocks that a run of words touches, first to last.
struct Blocks {
  std::uint32_t first, last;
};

/// A tile's send port or receive port: when it is busy, and with which memory blocks.
class Port {
 public:
  BusyCycles busy;

  [[nodiscard]] std::uint64_t first_gap_apart(Blocks blocks, std::uint64_t from,
                                              std::uint64_t length) const {
    for (const auto& [block, cycles] : by_block_) {
      if (block >= blocks.first && block <= blocks.last) from = cycles.first_gap(from, length);
    }
    return from;
  }

  [[nodiscard]] std::uint64_t free_until_apart(Blocks blocks, std::uint64_t from) const {
    std::uint64_t until = BusyCycles::kNeverBusy;
    for (const auto& [block, cycles] : by_block_) {
      if (block >= blocks.first && block <= blocks.last) {
        until = std::min(until, cycles.free_until(from));
      }
    }
    return until;
  }

  void add(Blocks blocks, std::uint64_t begin, std::uint64_t end) {
    busy.add(begin, end);
    for (std::uint32_t block = blocks.first; block <= blocks.last; ++block) {
      auto at = std::find_if(by_block_.begin(), by_block_.end(),
                             [&](const auto& b) { return b.first == block; });
      if (at == by_block_.end()) at = by_block_.insert(at, {block, {}});
      at->second.add(begin, end);
    }
  }

 private:
  std::vector<std::pair<std::uint32_t, BusyCycles>> by_block_;
};

}  // namespace superstep
