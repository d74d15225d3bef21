#include "sim/instruction_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace superstep {

void InstructionFeed::add(Observer& observer) {
  Watcher watcher{&observer, observer.watch()};
  if (watcher.watch.tiles.empty()) return;
  for (const TileId tile : watcher.watch.tiles) {
    const std::optional<std::size_t> entry = tiles_.entry_of(tile);
    if (!entry) {
      throw MalformedInput(fmt::format("tile {} is watched, but has no program", index(tile)));
    }
    const auto at = std::ranges::lower_bound(watched_, *entry, {}, &Watched::entry);
    if (at == watched_.end() || at->entry != *entry) {
      watched_.insert(at, {.entry = *entry, .log = std::make_unique<Log>()});
    }
  }
  watchers_.push_back(std::move(watcher));
}

void InstructionFeed::open(std::uint64_t superstep) {
  for (Watcher& watcher : watchers_) {
    watcher.is_open =
        superstep >= watcher.watch.first_superstep && superstep <= watcher.watch.last_superstep;
  }
  for (Watched& watched : watched_) {
    const TileId tile = tiles_.id(watched.entry);
    const bool is_wanted = std::ranges::any_of(watchers_, [&](const Watcher& watcher) {
      return watcher.is_open && std::ranges::count(watcher.watch.tiles, tile) > 0;
    });
    if (is_wanted == watched.is_attached) continue;
    tiles_.tile(watched.entry).observe(is_wanted ? watched.log.get() : nullptr);
    watched.is_attached = is_wanted;
  }
}

void InstructionFeed::deliver() {
  struct Issued {
    TileId tile;
    const IssuedInstruction* instruction;
  };
  std::vector<Issued> all;
  for (const Watched& watched : watched_) {
    for (const IssuedInstruction& instruction : watched.log->list()) {
      all.push_back({tiles_.id(watched.entry), &instruction});
    }
  }
  if (all.empty()) return;
  std::ranges::stable_sort(all, {}, [](const Issued& issued) {
    return std::tuple(issued.instruction->cycle, issued.tile);
  });
  for (const Watcher& watcher : watchers_) {
    if (!watcher.is_open) continue;
    for (const Issued& issued : all) {
      if (std::ranges::count(watcher.watch.tiles, issued.tile) == 0) continue;
      watcher.observer->on_instruction(issued.tile, *issued.instruction);
    }
  }
  for (const Watched& watched : watched_) watched.log->list().clear();
}

}  // namespace superstep
