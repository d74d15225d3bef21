#include "compiler/schedule/place.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/schedule/merge.h"
#include "compiler/schedule/rounds.h"
#include "compiler/schedule/row_encoder.h"
#include "isa/timing.h"

namespace superstep {
namespace {

/// Up to this many arrivals all orders are tried, above the second number only one.
constexpr std::size_t kFewArrivals = 60'000, kManyArrivals = 600'000;

/// The longest path of a full chip.
constexpr std::uint64_t kLongestPath = 135;

/// A piece costs a send and receives in code, so pieces have two words and tiles not many tasks.
constexpr std::uint64_t kShortestPiece = 2;
constexpr std::size_t kMostPieces = 8;
constexpr std::uint32_t kMostUsesToSplit = 256;

Blocks blocks_of(const MachineConfig& machine, std::uint32_t address, std::uint32_t words) {
  return {memory_block(machine, address), memory_block(machine, address + words * 4 - 4)};
}

std::uint64_t longest_latency(const Task& task) {
  std::uint64_t longest = 0;
  for (const TaskArrival& to : task.arrivals) longest = std::max(longest, to.latency);
  return longest;
}

/// The ports of all tiles while a schedule grows.
class Ports {
 public:
  explicit Ports(std::uint32_t tiles) : send_(tiles), receive_(tiles) {}

  /// The first cycle from `start` on in which `words` of the task can leave.
  [[nodiscard]] std::uint64_t first_fit(const Task& task, std::uint64_t start,
                                        std::uint64_t words) const {
    for (bool moved = true; moved;) {
      const std::uint64_t before = start;
      start = send_[task.source].busy.first_gap(start, words);
      start = receive_[task.source].first_gap_apart(task.blocks, start, words);
      for (const TaskArrival& to : task.arrivals) {
        std::uint64_t arrival = start + to.latency;
        arrival = receive_[to.tile].busy.first_gap(arrival, words);
        arrival = send_[to.tile].first_gap_apart(to.blocks, arrival, words);
        start = arrival - to.latency;
      }
      moved = start != before;
    }
    return start;
  }

  /// How many words of the task can leave from the free cycle `start` on.
  [[nodiscard]] std::uint64_t room(const Task& task, std::uint64_t start) const {
    std::uint64_t until = std::min(send_[task.source].busy.free_until(start),
                                   receive_[task.source].free_until_apart(task.blocks, start));
    for (const TaskArrival& to : task.arrivals) {
      const std::uint64_t arrival = start + to.latency;
      until = std::min({until, receive_[to.tile].busy.free_until(arrival) - to.latency,
                        send_[to.tile].free_until_apart(to.blocks, arrival) - to.latency});
    }
    return until - start;
  }

  void add(const Task& task, const TaskPiece& piece) {
    send_[task.source].add(task.blocks, piece.start, piece.start + piece.words);
    for (const TaskArrival& to : task.arrivals) {
      const std::uint64_t arrival = piece.start + to.latency;
      receive_[to.tile].add(to.blocks, arrival, arrival + piece.words);
    }
  }

 private:
  std::vector<Port> send_, receive_;
};

/// Fills gaps with pieces of the task so that its last word leaves before `end`; none if it cannot.
/// What its own sender gets stays whole: a piece must not leave while another arrives beside it.
std::vector<TaskPiece> in_gaps(const Ports& ports, const Task& task, std::uint64_t end) {
  const auto to_sender = [&](const TaskArrival& to) { return to.tile == task.source; };
  if (std::ranges::any_of(task.arrivals, to_sender)) return {};
  std::vector<TaskPiece> pieces;
  std::uint64_t left = task.words, start = task.earliest;
  while (left > 0) {
    start = ports.first_fit(task, start, std::min(left, kShortestPiece));
    if (start + left >= end) return {};
    std::uint64_t words = std::min(left, ports.room(task, start));
    if (left > words && left - words < kShortestPiece) words = left - kShortestPiece;
    if (words < std::min(left, kShortestPiece)) {
      start += kShortestPiece;
      continue;
    }
    pieces.push_back({0, 0, static_cast<std::uint32_t>(words), start});
    left -= words;
    start += words;
    if (pieces.size() > kMostPieces) {
      left += pieces.front().words;
      pieces.erase(pieces.begin());
    }
  }
  return pieces;
}

}  // namespace

/// The best placement of the orders tried so far.
class Scheduler::Search {
 public:
  explicit Search(const Scheduler& scheduler) : scheduler_(scheduler) {}

  Placement best;
  bool split = false;

  /// Tries the tasks in the order of `key` of their numbers; equal keys keep the given order.
  void attempt(auto key) {
    const auto tasks = static_cast<std::uint32_t>(scheduler_.tasks_.size());
    std::vector<std::pair<decltype(key(0U)), std::uint32_t>> keyed;
    keyed.reserve(tasks);
    for (std::uint32_t i = 0; i < tasks; ++i) keyed.emplace_back(key(i), i);
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::uint32_t> order;
    order.reserve(keyed.size());
    for (const auto& [unused, task] : keyed) order.push_back(task);
    Placement next = scheduler_.place_in(order, split);
    if (best.length == 0 || next.length < best.length) best = std::move(next);
  }

  /// What came last in the best schedule goes first, the rest in the order it had there.
  void repair(std::uint64_t enough) {
    for (int round = 0; round < 3 && best.length > enough; ++round) {
      const std::uint64_t before = best.length;
      std::vector<std::uint64_t> start(scheduler_.tasks_.size(), BusyCycles::kNeverBusy);
      std::vector<bool> late(start.size());
      for (const TaskPiece& piece : best.pieces) {
        start[piece.task] = std::min(start[piece.task], piece.start);
        const std::uint64_t end =
            piece.start + piece.words + longest_latency(scheduler_.tasks_[piece.task]);
        if (end * 10 >= before * 9) late[piece.task] = true;
      }
      attempt([&](std::uint32_t i) { return std::tuple(!late[i], start[i]); });
      if (best.length == before) break;
    }
  }

 private:
  const Scheduler& scheduler_;
};

Scheduler::Scheduler(const MachineConfig& machine, std::span<const Transfer> transfers)
    : machine_(machine),
      words_out_(machine.tiles()),
      words_in_(machine.tiles()),
      uses_(machine.tiles()) {
  tasks_.reserve(transfers.size());
  const std::vector<std::uint32_t> rounds = rounds_of(transfers);
  for (std::size_t i = 0; i < transfers.size(); ++i) add_task(transfers[i], rounds[i]);
}

std::uint64_t Scheduler::bound_words() const {
  return std::max(*std::ranges::max_element(words_out_), *std::ranges::max_element(words_in_));
}

void Scheduler::add_task(const Transfer& transfer, std::uint32_t round) {
  const std::uint64_t source_start =
      release_skew(machine_, transfer.source.tile).value() + kFirstRowCycle;
  Task task{index(transfer.source.tile),
            transfer.source.address,
            transfer.words,
            blocks_of(machine_, transfer.source.address, transfer.words),
            source_start,
            round,
            {}};
  words_out_.at(task.source) += task.words;
  ++uses_[task.source];
  task.arrivals.reserve(transfer.destinations.size());
  for (const TransferEnd& to : transfer.destinations) {
    const std::uint64_t latency = exchange_latency(machine_, transfer.source.tile, to.tile).value();
    const std::uint64_t start = release_skew(machine_, to.tile).value() + kFirstRowCycle;
    if (start > latency) task.earliest = std::max(task.earliest, start - latency);
    words_in_.at(index(to.tile)) += task.words;
    ++uses_[index(to.tile)];
    task.arrivals.push_back(
        {index(to.tile), to.address, latency, blocks_of(machine_, to.address, task.words)});
  }
  arrivals_ += task.arrivals.size();
  tasks_.push_back(std::move(task));
}

Placement Scheduler::place() const {
  if (tasks_.empty()) return {};
  // The aim follows compile-time cost, not need.
  const auto bound = static_cast<double>(bound_words() + kLongestPath);
  const auto share = [&](double factor) { return static_cast<std::uint64_t>(factor * bound); };
  const std::uint64_t aim = arrivals_ <= kFewArrivals ? 0 : share(1.03);
  Search search(*this);
  const auto attempt = [&](auto key) {
    const std::uint64_t length = search.best.length;
    if (length == 0 || (arrivals_ <= kManyArrivals && length > aim)) search.attempt(key);
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
  if (arrivals_ <= kFewArrivals || search.best.length > share(1.15)) {
    attempt([&](std::uint32_t i) { return i; });
    const std::uint32_t tiles = machine_.tiles();
    attempt([&](std::uint32_t i) {
      const Task& task = tasks_[i];
      return std::tuple((task.arrivals.front().tile + tiles - task.source) % tiles, task.source);
    });
    attempt([&](std::uint32_t i) {
      const Task& task = tasks_[i];
      std::uint64_t load = words_out_[task.source];
      for (const TaskArrival& to : task.arrivals) load = std::max(load, words_in_[to.tile]);
      return std::tuple(~load, ~task.words);
    });
  }
  if (arrivals_ > kManyArrivals) return search.best;
  search.repair(aim);
  const std::uint64_t good = share(1.05);
  if (search.best.length <= good || *std::ranges::max_element(uses_) > kMostUsesToSplit) {
    return std::move(search.best);
  }
  search.split = true;
  // Equal tasks of one matching keep all ports busy. Those with a long way leave before their turn,
  // since what arrives early leaves no gap behind it.
  const std::vector<std::uint32_t> matchings = matchings_of(tasks_, machine_.tiles());
  const std::uint64_t turn = bound_words() / (*std::ranges::max_element(matchings) + 1U);
  for (const std::uint64_t lead : {0U, 2U}) {
    search.attempt([&](std::uint32_t i) {
      const Task& task = tasks_[i];
      const std::uint64_t way = kLongestPath - std::min(kLongestPath, longest_latency(task));
      return std::tuple(~task.arrivals.size(), matchings[i] * turn + lead * way, task.source);
    });
  }
  search.repair(good);
  return std::move(search.best);
}

Placement Scheduler::place_in(const std::vector<std::uint32_t>& order, bool split) const {
  Ports ports(machine_.tiles());
  Placement result;
  result.pieces.reserve(tasks_.size());
  for (const std::uint32_t i : order) {
    const Task& task = tasks_[i];
    const TaskPiece whole{i, 0, task.words, ports.first_fit(task, task.earliest, task.words)};
    std::vector<TaskPiece> pieces;
    if (split) pieces = in_gaps(ports, task, whole.start + whole.words);
    if (pieces.empty()) pieces.push_back(whole);
    std::uint32_t offset = 0;
    for (TaskPiece& piece : pieces) {
      piece.task = i;
      piece.offset = std::exchange(offset, offset + piece.words);
      ports.add(task, piece);
      result.pieces.push_back(piece);
    }
    result.length =
        std::max(result.length, pieces.back().start + pieces.back().words + longest_latency(task));
  }
  return result;
}

}  // namespace superstep
