#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "compiler/schedule/place.h"
#include "compiler/schedule/tasks.h"

namespace superstep {

/// Placements by what they depend on: tiles, words and shared memory blocks of the tasks, but no
/// addresses. Equal steps of a program, and a step whose buffers moved, are placed once. May be
/// used by several threads.
class PlacementCache {
 public:
  [[nodiscard]] std::shared_ptr<const Placement> place(const Tasks& tasks);

 private:
  struct Entry {
    std::vector<std::uint32_t> key;
    std::shared_ptr<const Placement> placement;
  };

  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> entries_;  ///< by hash of the key
};

}  // namespace superstep
