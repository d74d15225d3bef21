#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "compiler/schedule/merge.h"
#include "compiler/schedule/place.h"
#include "compiler/schedule/placement_cache.h"
#include "compiler/schedule/row_encoder.h"
#include "isa/exchange_ports.h"
#include "isa/sync_zones.h"
#include "isa/timing.h"

namespace superstep {
namespace {

/// How many pieces ahead memory is asked for, in three steps [chosen].
constexpr std::size_t kPiecesAhead = 8;

struct RowEvents {
  std::vector<RowSend> sends;
  std::vector<RowReceive> receives;

  void sort_and_join(const ExchangeItem& item) {
    std::sort(sends.begin(), sends.end(),
              [](const RowSend& a, const RowSend& b) { return a.cycle < b.cycle; });
    std::sort(receives.begin(), receives.end(),
              [](const RowReceive& a, const RowReceive& b) { return a.cycle < b.cycle; });
    std::size_t kept = 0;
    for (const RowSend& send : sends) {
      if (kept > 0 && item.is_whole(sends[kept - 1].words) &&
          sends[kept - 1].cycle + item.cycles_of(sends[kept - 1].words) == send.cycle &&
          sends[kept - 1].address + sends[kept - 1].words * 4 == send.address) {
        sends[kept - 1].words += send.words;
      } else {
        sends[kept++] = send;
      }
    }
    sends.resize(kept);
  }
};

/// Calls `part(send, skipped words, words, start)` for what a piece has of the sends of its task.
void for_each_part(const Tasks& tasks, const TaskPiece& piece, const ExchangeItem& item,
                   auto part) {
  std::uint32_t skipped = piece.offset, left = piece.cycles, start = piece.start;
  for (const MergedTransfers::Send& send : tasks.sends_of(tasks.list[piece.task])) {
    const auto whole = static_cast<std::uint32_t>(item.cycles_of(send.words));
    if (skipped >= whole) {
      skipped -= whole;
      continue;
    }
    const std::uint32_t cycles = std::min(left, whole - skipped);
    const auto first = static_cast<std::uint32_t>(item.words_in(skipped));
    const auto words = static_cast<std::uint32_t>(item.words_in(cycles));
    part(send, first, std::min(words, send.words - first), start);
    skipped = 0;
    start += cycles;
    left -= cycles;
    if (left == 0) break;
  }
}

std::vector<ExchangeMessage> messages_of(const Tasks& tasks, const Placement& placement,
                                         const ExchangeItem& item) {
  std::vector<ExchangeMessage> messages;
  for (const TaskPiece& piece : placement.pieces) {
    const Task& task = tasks.list[piece.task];
    std::uint32_t words = 0;
    for_each_part(
        tasks, piece, item,
        [&](const auto&, std::uint32_t, std::uint32_t more, std::uint32_t) { words += more; });
    for (const Arrival& to : tasks.arrivals_of(task)) {
      messages.push_back({task.source, to.tile, words * 4, piece.start + to.latency});
    }
  }
  std::ranges::sort(messages, {}, [](const ExchangeMessage& m) {
    return std::tuple(m.source_tile, m.start_cycle, m.destination_tile);
  });
  return messages;
}

/// What each tile's row does for the pieces of a schedule.
std::vector<RowEvents> events_of(const Tasks& tasks, const Placement& placement,
                                 const std::vector<std::uint64_t>& release,
                                 const ExchangeItem& item) {
  std::vector<RowEvents> rows(release.size());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    rows[t].sends.reserve(tasks.sends_out[t]);
    rows[t].receives.reserve(tasks.sends_in[t]);
  }
  // Tasks that follow one another lie far from each other in memory.
  const std::vector<TaskPiece>& pieces = placement.pieces;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i + 3 * kPiecesAhead < pieces.size()) {
      __builtin_prefetch(&tasks.list[pieces[i + 3 * kPiecesAhead].task]);
      const Task& soon = tasks.list[pieces[i + 2 * kPiecesAhead].task];
      __builtin_prefetch(&tasks.arrivals[soon.first_arrival]);
      __builtin_prefetch(&tasks.sends[soon.first_send]);
      const Task& next = tasks.list[pieces[i + kPiecesAhead].task];
      __builtin_prefetch(&tasks.ends[tasks.sends[next.first_send].first_end]);
    }
    const TaskPiece& piece = pieces[i];
    const Task& task = tasks.list[piece.task];
    const auto arrivals = tasks.arrivals_of(task);
    const auto add_part = [&](const MergedTransfers::Send& send, std::uint32_t skipped,
                              std::uint32_t words, std::uint32_t start) {
      const std::uint32_t bytes = skipped * 4;
      rows[task.source].sends.push_back(
          {start - release[task.source], send.address + bytes, words});
      for (std::size_t k = 0; k < arrivals.size(); ++k) {
        const Arrival& to = arrivals[k];
        rows[to.tile].receives.push_back({start + to.latency - release[to.tile], task.source,
                                          tasks.ends[send.first_end + k].address + bytes, words});
      }
    };
    for_each_part(tasks, piece, item, add_part);
  }
  return rows;
}

struct PlacedTasks {
  Tasks tasks;
  std::shared_ptr<const Placement> placement;
};

PlacedTasks place_transfers(const MachineConfig& machine, std::span<const Transfer> transfers,
                            PlacementCache& cache) {
  const auto place = [&](Joined joined) {
    PlacedTasks placed{make_tasks(machine, merge_transfers(machine, transfers, joined)), nullptr};
    placed.placement = cache.place(placed.tasks);
    return placed;
  };
  PlacedTasks placed = place(Joined::kCollectives);
  if (placed.tasks.collectives == 1 || placed.tasks.arrivals.size() > kFewArrivals) return placed;
  PlacedTasks joined = place(Joined::kAll);
  return joined.placement->length <= placed.placement->length ? std::move(joined)
                                                              : std::move(placed);
}

}  // namespace

ExchangePhase schedule_exchange(const MachineConfig& machine, std::span<const Transfer> transfers,
                                std::span<const TileId> participants) {
  PlacementCache cache;
  return schedule_exchange(machine, transfers, participants, cache);
}

ExchangePhase schedule_exchange(const MachineConfig& machine, std::span<const Transfer> transfers,
                                std::span<const TileId> participants, PlacementCache& cache,
                                bool list_messages) {
  const PlacedTasks placed = place_transfers(machine, transfers, cache);
  const Tasks& tasks = placed.tasks;
  const Placement& placement = *placed.placement;
  std::vector<std::uint64_t> release(machine.tiles());
  for (const TileId tile : participants) {
    release.at(index(tile)) = release_skew(machine, tile).value();
  }
  const ExchangeItem item(machine);
  std::vector<RowEvents> rows = events_of(tasks, placement, release, item);
  ExchangePhase phase;
  phase.length = Cycles(placement.length);
  phase.bound_cycles = tasks.bound_cycles();
  if (list_messages) phase.messages = messages_of(tasks, placement, item);
  phase.rows.reserve(participants.size());
  for (const TileId tile : participants) {
    RowEvents& row = rows[index(tile)];
    row.sort_and_join(item);
    phase.rows.push_back({tile, encode_row(machine, kZoneInternal, row.sends, row.receives)});
    row = {};
  }
  for (const RowEvents& row : rows) {
    SUPERSTEP_CHECK(row.sends.empty() && row.receives.empty(),
                    "every tile of a transfer takes part in the phase");
  }
  return phase;
}

std::vector<ExchangeRow> encode_host_phase(const MachineConfig& machine,
                                           std::span<const HostSend> sends,
                                           std::span<const TileId> participants) {
  const ExchangeItem item(machine);
  std::vector<RowEvents> rows(machine.tiles());
  std::vector<std::uint64_t> end(machine.tiles(), kFirstRowCycle);
  for (const HostSend& send : sends) {
    const std::uint32_t tile = index(send.tile);
    const std::uint32_t words = send.bytes / 4;
    if (words == 0) continue;
    rows.at(tile).sends.push_back({end[tile], send.address, words});
    end[tile] += item.cycles_of(words);
  }
  // A row without events is a sync and one instruction that passes a cycle.
  const std::vector<std::uint32_t> sync = encode_row(machine, kZoneExternal, {}, {});
  std::vector<ExchangeRow> encoded;
  encoded.reserve(participants.size());
  for (const TileId tile : participants) {
    RowEvents& row = rows[index(tile)];
    row.receives.push_back({kFirstRowCycle, kMuxHost, 0, 1});
    row.sort_and_join(item);
    ExchangeRow code{tile, encode_row(machine, kZoneExternal, row.sends, row.receives)};
    code.code.insert(code.code.end(), {sync.back(), sync.front()});
    encoded.push_back(std::move(code));
    row = {};
  }
  for (const RowEvents& row : rows) {
    SUPERSTEP_CHECK(row.sends.empty(), "every tile that sends to the host takes part");
  }
  return encoded;
}

}  // namespace superstep
