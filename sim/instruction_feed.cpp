#include "sim/instruction_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace superstep {

void InstructionFeed::add(Observer& observer) {
  Watcher watcher{&observer, observer.watch()};
  if (watcher.watch.tiles.empty()) return;
  if (watcher.watch.as_issued && watcher.watch.tiles.size() > 1) {
    throw MalformedInput(
        fmt::format("as issued an observer sees one tile, not {}: tiles run at the same time",
                    watcher.watch.tiles.size()));
  }
  for (const TileId tile : watcher.watch.tiles) {
    const std::optional<std::size_t> entry = tiles_.entry_of(tile);
    if (!entry) {
      throw MalformedInput(fmt::format("tile {} is watched, but has no program", index(tile)));
    }
    const auto at = std::ranges::lower_bound(watched_, *entry, {}, &Watched::entry);
    if (at == watched_.end() || at->entry != *entry) {
      watched_.insert(at, {.entry = *entry, .log = std::make_unique<Log>(tile)});
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
    std::vector<Observer*> as_issued;
    bool keeps = false;
    for (const Watcher& watcher : watchers_) {
      if (!watcher.is_open || std::ranges::count(watcher.watch.tiles, tile) == 0) continue;
      if (watcher.watch.as_issued) {
        as_issued.push_back(watcher.observer);
      } else {
        keeps = true;
      }
    }
    watched.log->wanted_by(std::move(as_issued), keeps);
    if (watched.log->is_wanted() == watched.is_attached) continue;
    watched.is_attached = watched.log->is_wanted();
    tiles_.tile(watched.entry).observe(watched.is_attached ? watched.log.get() : nullptr);
  }
}

void InstructionFeed::attach() {
  for (const Watched& watched : watched_) {
    if (watched.is_attached) tiles_.tile(watched.entry).observe(watched.log.get());
  }
}

void InstructionFeed::deliver(std::optional<Cycles> trap) {
  struct Issued {
    TileId tile;
    const IssuedInstruction* instruction;
  };
  std::vector<Issued> all;
  for (const Watched& watched : watched_) {
    for (const IssuedInstruction& instruction : watched.log->list()) {
      if (trap && instruction.cycle > trap->value()) continue;
      all.push_back({tiles_.id(watched.entry), &instruction});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Issued& issued) {
    return std::tuple(issued.instruction->cycle, issued.tile);
  });
  for (const Watcher& watcher : watchers_) {
    if (!watcher.is_open || watcher.watch.as_issued) continue;
    for (const Issued& issued : all) {
      if (std::ranges::count(watcher.watch.tiles, issued.tile) == 0) continue;
      watcher.observer->on_instruction(issued.tile, *issued.instruction);
    }
  }
  for (const Watched& watched : watched_) watched.log->list().clear();
}

}  // namespace superstep
