#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "sim/trace/rows.h"

namespace superstep {

/// Adds up runs of workers in the order of /vertices, where those of one tile in one superstep
/// follow one another. Behind them `book(key, busiest, busy)` has, for each key that they had,
/// cycles of the worker with most and of all.
template <class Key, class Book>
class WorkersOfTile {
 public:
  explicit WorkersOfTile(Book book) : book_(std::move(book)) {}

  void add(const VertexRow& row, const Key& key) {
    if (row.superstep != superstep_ || row.tile != tile_) finish();
    superstep_ = row.superstep;
    tile_ = row.tile;
    cycles_[key][row.worker] += row.length;
  }
  /// Behind the last.
  void finish() {
    for (const auto& [key, by_worker] : cycles_) {
      std::uint64_t busiest = 0, busy = 0;
      for (const auto& [worker, cycles] : by_worker) {
        busiest = std::max(busiest, cycles);
        busy += cycles;
      }
      book_(key, busiest, busy);
    }
    cycles_.clear();
  }

 private:
  Book book_;
  std::uint64_t superstep_ = 0;
  std::uint32_t tile_ = 0;
  std::map<Key, std::map<std::uint32_t, std::uint64_t>> cycles_;
};

}  // namespace superstep
