#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/schedule/tasks.h"

namespace superstep {

/// Busy cycles as bits.
class BusyCycles {
 public:
  static constexpr std::uint32_t kNeverBusy = std::numeric_limits<std::uint32_t>::max() / 2;
  static constexpr std::uint32_t kWindow = 64;

  /// The cycles from `from` on, the first in the lowest bit.
  [[nodiscard]] std::uint64_t window(std::uint32_t from) const { return view().window(from); }

  /// No cycle from here on is busy.
  [[nodiscard]] std::uint32_t end() const { return used_ * kWindow; }
  /// All cycles before are busy, in whole windows.
  [[nodiscard]] std::uint32_t full_until() const { return full_ * kWindow; }

  void add(std::uint32_t begin, std::uint32_t end) {
    set(begin, end);
    while (full_ < used_ && bits_[full_] == ~std::uint64_t{0}) ++full_;
  }

  void clear() {
    std::fill_n(bits_.begin(), used_, 0);
    used_ = full_ = 0;
  }

  /// The cycles as they are until some are added.
  struct View {
    const std::uint64_t* bits;
    std::uint32_t used;  ///< windows, with an idle one behind

    [[nodiscard]] std::uint64_t window(std::uint32_t from) const {
      const std::uint32_t word = from / kWindow, shift = from % kWindow;
      if (word >= used) return 0;
      return bits[word] >> shift | bits[word + 1] << 1 << (kWindow - 1 - shift);
    }
  };
  [[nodiscard]] View view() const { return {bits_.data(), used_}; }

 private:
  void set(std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t first = begin / kWindow, last = (end - 1) / kWindow;
    used_ = std::max(used_, last + 1);
    if (used_ >= bits_.size()) bits_.resize(2 * std::size_t{used_});
    const std::uint64_t from = ~std::uint64_t{0} << begin % kWindow;
    const std::uint64_t until = ~std::uint64_t{0} >> (kWindow - 1 - (end - 1) % kWindow);
    if (first == last) {
      bits_[first] |= from & until;
      return;
    }
    bits_[first] |= from;
    for (std::uint32_t word = first + 1; word < last; ++word) bits_[word] = ~std::uint64_t{0};
    bits_[last] |= until;
  }

  std::vector<std::uint64_t> bits_;
  std::uint32_t used_ = 0;  ///< windows; those behind are idle
  std::uint32_t full_ = 0;  ///< windows from the first on without a free cycle
};

/// A tile's send port or receive port: when it is busy, and when with which of the memory blocks
/// that the other port of the tile uses as well.
class Port {
 public:
  BusyCycles busy;

  /// Calls `use` with the busy cycles of each of the blocks.
  void for_each_of(BlockSet blocks, auto use) const {
    if (blocks == 0) return;
    for (const auto& [block, cycles] : by_block_) {
      if ((block & blocks) != 0) use(cycles);
    }
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

/// When all ports of a task are free, in cycles of its sender.
class JointCycles {
 public:
  void clear() {
    ports_.clear();
    begin_ = end_ = 0;
  }

  /// Cycles that come `latency` after those of the sender.
  void add(const BusyCycles& busy, std::uint32_t latency) {
    if (busy.end() <= latency) return;
    ports_.push_back({busy.view(), latency});
    end_ = std::max(end_, busy.end() - latency);
    begin_ = std::max(begin_, std::max(busy.full_until(), latency) - latency);
  }

  /// The first cycle from `from` on at which `length` cycles are free.
  [[nodiscard]] std::uint32_t first_gap(std::uint32_t from, std::uint32_t length) const {
    from = std::max(from, begin_);
    std::uint32_t before = 0;  // free cycles that end at `from`
    for (; from < end_; from += BusyCycles::kWindow) {
      const std::uint64_t busy = window(from);
      if (before + static_cast<std::uint32_t>(std::countr_zero(busy)) >= length) break;
      const std::uint64_t starts = runs(~busy, length);
      if (starts != 0) return from + static_cast<std::uint32_t>(std::countr_zero(starts));
      before = busy == 0 ? before + BusyCycles::kWindow
                         : static_cast<std::uint32_t>(std::countl_zero(busy));
    }
    return from - before;
  }

  /// The first busy cycle from `from` on.
  [[nodiscard]] std::uint32_t free_until(std::uint32_t from) const {
    for (; from < end_; from += BusyCycles::kWindow) {
      const std::uint64_t busy = window(from);
      if (busy != 0) return from + static_cast<std::uint32_t>(std::countr_zero(busy));
    }
    return BusyCycles::kNeverBusy;
  }

 private:
  struct Shifted {
    BusyCycles::View busy;
    std::uint32_t latency;
  };

  [[nodiscard]] std::uint64_t window(std::uint32_t from) const {
    std::uint64_t busy = 0;
    for (const Shifted& port : ports_) {
      busy |= port.busy.window(from + port.latency);
    }
    return busy;
  }

  /// The bits at which so many ones begin.
  static std::uint64_t runs(std::uint64_t ones, std::uint32_t length) {
    if (length > BusyCycles::kWindow) return 0;
    for (std::uint32_t known = 1; known < length && ones != 0;) {
      const std::uint32_t more = std::min(known, length - known);
      ones &= ones >> more;
      known += more;
    }
    return ones;
  }

  std::vector<Shifted> ports_;
  std::uint32_t begin_ = 0;  ///< no cycle before is free
  std::uint32_t end_ = 0;    ///< no cycle from here on is busy
};

}  // namespace superstep
