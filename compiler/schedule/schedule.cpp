#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "compiler/schedule/merge.h"
#include "compiler/schedule/place.h"
#include "compiler/schedule/row_encoder.h"
#include "isa/exchange_ports.h"
#include "isa/timing.h"

namespace superstep {
namespace {

constexpr std::uint32_t kInternalZone = 3;
constexpr std::uint32_t kExternalZone = 4;

struct RowEvents {
  std::vector<RowSend> sends;
  std::vector<RowReceive> receives;

  void sort_and_join() {
    std::sort(sends.begin(), sends.end(),
              [](const RowSend& a, const RowSend& b) { return a.cycle < b.cycle; });
    std::sort(receives.begin(), receives.end(),
              [](const RowReceive& a, const RowReceive& b) { return a.cycle < b.cycle; });
    std::size_t kept = 0;
    for (const RowSend& send : sends) {
      if (kept > 0 && sends[kept - 1].cycle + sends[kept - 1].words == send.cycle &&
          sends[kept - 1].address + sends[kept - 1].words * 4 == send.address) {
        sends[kept - 1].words += send.words;
      } else {
        sends[kept++] = send;
      }
    }
    sends.resize(kept);
  }
};

std::vector<ExchangeMessage> messages_of(const std::vector<Task>& tasks,
                                         const Placement& placement) {
  std::vector<ExchangeMessage> messages;
  for (const TaskPiece& piece : placement.pieces) {
    const Task& task = tasks[piece.task];
    for (const TaskArrival& to : task.arrivals) {
      messages.push_back({task.source, to.tile, piece.words * 4,
                          static_cast<std::uint32_t>(piece.start + to.latency)});
    }
  }
  std::ranges::sort(messages, {}, [](const ExchangeMessage& m) {
    return std::tuple(m.source_tile, m.start_cycle, m.destination_tile);
  });
  return messages;
}

}  // namespace

ExchangePhase schedule_exchange(const MachineConfig& machine, std::span<const Transfer> transfers,
                                std::span<const TileId> participants, bool list_messages) {
  const Scheduler scheduler(machine, merge_transfers(machine, transfers));
  const Placement placement = scheduler.place();
  std::vector<RowEvents> rows(machine.tiles());
  std::vector<std::uint64_t> release(machine.tiles());
  for (const TileId tile : participants) {
    release.at(index(tile)) = release_skew(machine, tile).value();
  }
  for (const TaskPiece& piece : placement.pieces) {
    const Task& task = scheduler.tasks()[piece.task];
    const std::uint32_t bytes = piece.offset * 4;
    rows[task.source].sends.push_back(
        {piece.start - release[task.source], task.address + bytes, piece.words});
    for (const TaskArrival& to : task.arrivals) {
      rows[to.tile].receives.push_back({piece.start + to.latency - release[to.tile], task.source,
                                        to.address + bytes, piece.words});
    }
  }
  ExchangePhase phase;
  phase.length = Cycles(placement.length);
  phase.bound_words = scheduler.bound_words();
  if (list_messages) phase.messages = messages_of(scheduler.tasks(), placement);
  phase.rows.reserve(participants.size());
  for (const TileId tile : participants) {
    RowEvents& row = rows[index(tile)];
    row.sort_and_join();
    phase.rows.push_back({tile, encode_row(machine, kInternalZone, row.sends, row.receives)});
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
  std::vector<RowEvents> rows(machine.tiles());
  std::vector<std::uint64_t> end(machine.tiles(), kFirstRowCycle);
  for (const HostSend& send : sends) {
    const std::uint32_t tile = index(send.tile);
    const std::uint32_t words = send.bytes / 4;
    if (words == 0) continue;
    rows.at(tile).sends.push_back({end[tile], send.address, words});
    end[tile] += words;
  }
  // A row without events is a sync and one instruction that passes a cycle.
  const std::vector<std::uint32_t> sync = encode_row(machine, kExternalZone, {}, {});
  std::vector<ExchangeRow> encoded;
  encoded.reserve(participants.size());
  for (const TileId tile : participants) {
    RowEvents& row = rows[index(tile)];
    const std::uint64_t cycles = std::max(end[index(tile)], kFirstRowCycle + 1) - kFirstRowCycle;
    row.receives.push_back({kFirstRowCycle, kMuxHost, 0, static_cast<std::uint32_t>(cycles)});
    row.sort_and_join();
    ExchangeRow code{tile, encode_row(machine, kExternalZone, row.sends, row.receives)};
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
