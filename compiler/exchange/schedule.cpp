#include "compiler/exchange/schedule.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "compiler/exchange/merge.h"
#include "compiler/exchange/rounds.h"
#include "compiler/exchange/row_encoder.h"
#include "isa/exchange_ports.h"
#include "isa/timing.h"

namespace superstep {
namespace {

constexpr std::uint32_t kInternalZone = 3;
constexpr std::uint32_t kExternalZone = 4;

/// Up to this many arrivals all orders are tried, above the second number only one.
constexpr std::size_t kFewArrivals = 60'000, kManyArrivals = 600'000;

/// Busy cycles, neighbours joined, ascending.
class BusyCycles {
 public:
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

struct Arrival {
  std::uint32_t tile;
  std::uint32_t address;
  std::uint64_t latency;
  Blocks blocks;
};

struct Task {
  std::uint32_t source;
  std::uint32_t address;
  std::uint32_t words;
  Blocks blocks;
  std::uint64_t earliest;  ///< no port is before its release
  std::uint32_t round;     ///< of a rotation, see `rounds_of`
  std::vector<Arrival> arrivals;
};

struct Placement {
  std::vector<std::uint64_t> start;  ///< of each task's send, from the opening of the barrier
  std::uint64_t length = 0;
};

class Scheduler {
 public:
  Scheduler(const MachineConfig& machine, std::span<const Transfer> transfers)
      : machine_(machine), words_out_(machine.tiles()), words_in_(machine.tiles()) {
    tasks_.reserve(transfers.size());
    const std::vector<std::uint32_t> rounds = rounds_of(transfers);
    for (std::size_t i = 0; i < transfers.size(); ++i) add_task(transfers[i], rounds[i]);
  }

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }

  [[nodiscard]] std::uint64_t bound_words() const {
    const auto most = [](const std::vector<std::uint64_t>& words) {
      return *std::max_element(words.begin(), words.end());
    };
    return std::max(most(words_out_), most(words_in_));
  }

  /// The best of a few orders; in a large phase the search ends near the bound.
  [[nodiscard]] Placement place() const {
    if (tasks_.empty()) return {};
    // 135 cycles is the longest path of a full chip; the aim follows compile-time cost, not need.
    const auto bound = static_cast<double>(bound_words() + 135);
    const double aim = arrivals_ <= kFewArrivals ? 0 : 1.03 * bound, poor = 1.15 * bound;
    Placement best;
    // `key` of a task number; equal keys keep the given order.
    const auto attempt = [&](auto key) {
      if (!best.start.empty() &&
          (arrivals_ > kManyArrivals || static_cast<double>(best.length) <= aim)) {
        return;
      }
      std::vector<std::pair<decltype(key(0U)), std::uint32_t>> keyed;
      keyed.reserve(tasks_.size());
      for (std::uint32_t i = 0; i < tasks_.size(); ++i) keyed.emplace_back(key(i), i);
      std::sort(keyed.begin(), keyed.end());
      std::vector<std::uint32_t> order;
      order.reserve(keyed.size());
      for (const auto& [unused, task] : keyed) order.push_back(task);
      Placement next = place_in(order);
      if (best.start.empty() || next.length < best.length) best = std::move(next);
    };
    // What needs many ports at once goes first, while they are free.
    attempt([&](std::uint32_t i) {
      const Task& task = tasks_[i];
      return std::tuple(~task.arrivals.size(), ~task.words, task.round, task.source);
    });
    attempt([&](std::uint32_t i) {
      const Task& task = tasks_[i];
      return std::tuple(~task.arrivals.size(), task.round, task.source);
    });
    if (arrivals_ <= kFewArrivals || static_cast<double>(best.length) > poor) {
      attempt([&](std::uint32_t i) { return i; });
      const std::uint32_t tiles = machine_.tiles();
      attempt([&](std::uint32_t i) {
        const Task& task = tasks_[i];
        return std::tuple((task.arrivals.front().tile + tiles - task.source) % tiles, task.source);
      });
      attempt([&](std::uint32_t i) {
        const Task& task = tasks_[i];
        std::uint64_t load = words_out_[task.source];
        for (const Arrival& to : task.arrivals) load = std::max(load, words_in_[to.tile]);
        return std::tuple(~load, ~task.words);
      });
    }
    // What came last in the best schedule goes first, the rest in the order it had there.
    for (int round = 0; round < 3; ++round) {
      const Placement before = best;
      attempt([&](std::uint32_t i) {
        const bool late = end_of(i, before) * 10 >= before.length * 9;
        return std::tuple(!late, before.start[i]);
      });
      if (best.length == before.length) break;
    }
    return best;
  }

 private:
  [[nodiscard]] Blocks blocks_of(std::uint32_t address, std::uint32_t words) const {
    return {memory_block(machine_, address), memory_block(machine_, address + words * 4 - 4)};
  }

  [[nodiscard]] std::uint64_t end_of(std::uint32_t task, const Placement& placement) const {
    std::uint64_t longest = 0;
    for (const Arrival& to : tasks_[task].arrivals) longest = std::max(longest, to.latency);
    return placement.start[task] + longest + tasks_[task].words;
  }

  void add_task(const Transfer& transfer, std::uint32_t round) {
    const std::uint64_t source_start =
        release_skew(machine_, transfer.source.tile).value() + kFirstRowCycle;
    Task task{index(transfer.source.tile),
              transfer.source.address,
              transfer.words,
              blocks_of(transfer.source.address, transfer.words),
              source_start,
              round,
              {}};
    words_out_.at(task.source) += task.words;
    task.arrivals.reserve(transfer.destinations.size());
    for (const TransferEnd& to : transfer.destinations) {
      const std::uint64_t latency =
          exchange_latency(machine_, transfer.source.tile, to.tile).value();
      const std::uint64_t start = release_skew(machine_, to.tile).value() + kFirstRowCycle;
      if (start > latency) task.earliest = std::max(task.earliest, start - latency);
      words_in_.at(index(to.tile)) += task.words;
      task.arrivals.push_back(
          {index(to.tile), to.address, latency, blocks_of(to.address, task.words)});
    }
    arrivals_ += task.arrivals.size();
    tasks_.push_back(std::move(task));
  }

  [[nodiscard]] Placement place_in(const std::vector<std::uint32_t>& order) const {
    std::vector<Port> send(machine_.tiles());
    std::vector<Port> receive(machine_.tiles());
    Placement result;
    result.start.resize(tasks_.size());
    for (const std::uint32_t i : order) {
      const Task& task = tasks_[i];
      const std::uint64_t words = task.words;
      const std::uint64_t start = first_fit(task, task.earliest, send, receive);
      result.start[i] = start;
      send[task.source].add(task.blocks, start, start + words);
      for (const Arrival& to : task.arrivals) {
        const std::uint64_t arrival = start + to.latency;
        receive[to.tile].add(to.blocks, arrival, arrival + words);
        result.length = std::max(result.length, arrival + words);
      }
    }
    return result;
  }

  [[nodiscard]] static std::uint64_t first_fit(const Task& task, std::uint64_t start,
                                               const std::vector<Port>& send,
                                               const std::vector<Port>& receive) {
    const std::uint64_t words = task.words;
    for (bool moved = true; moved;) {
      const std::uint64_t before = start;
      start = send[task.source].busy.first_gap(start, words);
      start = receive[task.source].first_gap_apart(task.blocks, start, words);
      for (const Arrival& to : task.arrivals) {
        std::uint64_t arrival = start + to.latency;
        arrival = receive[to.tile].busy.first_gap(arrival, words);
        arrival = send[to.tile].first_gap_apart(to.blocks, arrival, words);
        start = arrival - to.latency;
      }
      moved = start != before;
    }
    return start;
  }

  const MachineConfig& machine_;
  std::vector<Task> tasks_;
  std::vector<std::uint64_t> words_out_, words_in_;  ///< by tile
  std::size_t arrivals_ = 0;
};

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
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const Arrival& to : tasks[i].arrivals) {
      messages.push_back({tasks[i].source, to.tile, tasks[i].words * 4,
                          static_cast<std::uint32_t>(placement.start[i] + to.latency)});
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
  for (std::size_t i = 0; i < scheduler.tasks().size(); ++i) {
    const Task& task = scheduler.tasks()[i];
    rows[task.source].sends.push_back(
        {placement.start[i] - release[task.source], task.address, task.words});
    for (const Arrival& to : task.arrivals) {
      rows[to.tile].receives.push_back({placement.start[i] + to.latency - release[to.tile],
                                        task.source, to.address, task.words});
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
