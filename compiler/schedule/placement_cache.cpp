#include "compiler/schedule/placement_cache.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace superstep {
namespace {

/// All that `place_tasks` reads.
std::vector<std::uint32_t> key_of(const Tasks& tasks) {
  const auto has_blocks = [](const Arrival& to) { return to.blocks != 0; };
  const bool shares_blocks = std::ranges::any_of(tasks.arrivals, has_blocks);
  std::vector<std::uint32_t> key = {tasks.most_uses(), tasks.has_chains(), shares_blocks};
  key.reserve(key.size() + 4 * tasks.list.size() + tasks.arrivals.size());
  const auto add_blocks = [&](BlockSet blocks) {
    if (!shares_blocks) return;
    key.push_back(static_cast<std::uint32_t>(blocks));
    key.push_back(static_cast<std::uint32_t>(blocks >> 32));
  };
  for (const Task& task : tasks.list) {
    key.insert(key.end(), {task.source, task.cycles, task.collective, task.arrival_count});
    add_blocks(task.blocks);
    for (const Arrival& to : tasks.arrivals_of(task)) {
      key.push_back(to.tile);
      add_blocks(to.blocks);
    }
  }
  return key;
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& key) {
  std::uint64_t hash = kFnv1aBasis;
  for (const std::uint32_t word : key) hash = fnv1a(hash, word);
  return hash;
}

}  // namespace

std::shared_ptr<const Placement> PlacementCache::place(const Tasks& tasks) {
  std::vector<std::uint32_t> key = key_of(tasks);
  const std::uint64_t hash = hash_of(key);
  {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = entries_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      if (entry->second.key == key) return entry->second.placement;
    }
  }
  auto placement = std::make_shared<const Placement>(place_tasks(tasks));
  const std::lock_guard lock(mutex_);
  entries_.emplace(hash, Entry{std::move(key), placement});
  return placement;
}

}  // namespace superstep
