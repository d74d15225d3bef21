#include "sim/watch_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace superstep {

void WatchFeed::add(Observer& observer) {
  Watcher watcher{&observer, observer.watch()};
  if (watcher.watch.tiles.empty()) return;
  if (watcher.watch.as_issued && watcher.watch.tiles.size() > 1) {
    throw MalformedInput(
        fmt::format("as issued an observer sees one tile, not {}: tiles run at the same time",
                    watcher.watch.tiles.size()));
  }
  std::ranges::sort(watcher.watch.tiles);
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

void WatchFeed::open(std::uint64_t superstep) {
  bool has_changed = false;
  for (Watcher& watcher : watchers_) {
    const bool is_open =
        superstep >= watcher.watch.first_superstep && superstep <= watcher.watch.last_superstep;
    has_changed = has_changed || is_open != watcher.is_open;
    watcher.is_open = is_open;
  }
  if (!has_changed) return;
  make_room();
  for (Watched& watched : watched_) {
    const TileId tile = tiles_.id(watched.entry);
    std::vector<Observer*> as_issued;
    std::vector<SharedRoom*> instructions, runs;
    for (const Watcher& watcher : watchers_) {
      if (!watcher.sees(tile)) continue;
      if (watcher.keeps_runs()) runs.push_back(&watcher.rooms->runs);
      if (watcher.keeps_instructions()) instructions.push_back(&watcher.rooms->instructions);
      if (watcher.watch.instructions && watcher.watch.as_issued)
        as_issued.push_back(watcher.observer);
    }
    if (runs != watched.runs) tiles_.tile(watched.entry).note_runs(SharedRooms(runs));
    watched.runs = std::move(runs);
    watched.log->wanted_by(std::move(as_issued), SharedRooms(std::move(instructions)));
    if (watched.log->is_wanted() == watched.is_attached) continue;
    watched.is_attached = watched.log->is_wanted();
    tiles_.tile(watched.entry).observe(watched.is_attached ? watched.log.get() : nullptr);
  }
}

void WatchFeed::attach() {
  for (const Watched& watched : watched_) {
    if (watched.is_attached) tiles_.tile(watched.entry).observe(watched.log.get());
  }
}

void WatchFeed::deliver(std::optional<Cycles> trap) {
  deliver_instructions(trap);
  // Those of a superstep that is not whole are not.
  if (!trap) deliver_runs();
  make_room();
}

void WatchFeed::deliver_runs() {
  for (const Watcher& watcher : watchers_) {
    if (watcher.is_open && watcher.keeps_runs() && watcher.rooms->runs.is_exceeded())
      watcher.observer->on_too_many_worker_runs();
  }
  for (const Watched& watched : watched_) {
    const TileWork& work = tiles_.work(watched.entry);
    if (watched.runs.empty() || work.launches.count == 0) continue;
    std::vector<const WorkerRun*> runs;
    for (const WorkerRun& run : work.runs) runs.push_back(&run);
    std::ranges::sort(runs, {},
                      [](const WorkerRun* run) { return std::tuple(run->begin, run->worker); });
    for (const Watcher& watcher : watchers_) {
      if (!watcher.keeps_runs() || !watcher.sees(tiles_.id(watched.entry)) ||
          watcher.rooms->runs.is_exceeded())
        continue;
      for (const WorkerRun* run : runs) {
        watcher.observer->on_worker_run(tiles_.id(watched.entry), *run);
      }
    }
  }
}

void WatchFeed::deliver_instructions(std::optional<Cycles> trap) {
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
    if (!watcher.is_open || !watcher.keeps_instructions()) continue;
    if (watcher.rooms->instructions.is_exceeded()) {
      watcher.observer->on_too_many_instructions();
      continue;
    }
    for (const Issued& issued : all) {
      if (watcher.sees(issued.tile)) {
        watcher.observer->on_instruction(issued.tile, *issued.instruction);
      }
    }
  }
  for (const Watched& watched : watched_) watched.log->list().clear();
}

/// For the next superstep.
void WatchFeed::make_room() {
  for (const Watcher& watcher : watchers_) {
    watcher.rooms->instructions.open(watcher.watch.most_instructions);
    watcher.rooms->runs.open(watcher.watch.most_worker_runs);
  }
}

}  // namespace superstep
