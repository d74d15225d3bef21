#include "compiler/schedule/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "compiler/schedule/edge_colouring.h"
#include "compiler/schedule/ports.h"
#include "compiler/schedule/radix_sort.h"
#include "compiler/schedule/rotation.h"

namespace superstep {
namespace {

/// Above this many arrivals the first good order does, repaired once [assumed, for the time to
/// compile: 3 generated transposes of a million elements on bow take the same cycles with more].
constexpr std::size_t kManyArrivals = 600'000;

/// Lengths that end the search, as multiples of the bound of the busiest port and the longest path:
/// of any phase, of one with few arrivals, and above which all orders are tried [chosen by
/// bench/fit_by_builds.py on 3 generated transposes on bow: device cycles above the least are 0.002
/// % on average with 1.05 for the first, 0.215 % with 1.15; the others change nothing there].
constexpr double kGood = 1.05, kAim = 1.02, kPoor = 1.15;

/// What ends in the last one of so many parts of a schedule is late [chosen by
/// bench/fit_by_builds.py on 8 layers, 8 products and 3 networks on bow. Device cycles are above
/// the least of 2, 5 and 10 parts by 0.10, 0.02 and 0.03 % on average, by 0.13 % with none].
constexpr std::uint64_t kLate = 10;
/// Repairs of a schedule [chosen in the same way: 0.104 % with none, 0.009 % with 1, 0.002 % with
/// 3, 0.001 % with 6].
constexpr int kMostRepairs = 3;

/// A piece costs a send and receives in code, so pieces have two items and tiles not many tasks
/// [chosen; on 8 layers, 8 products and 3 networks on bow, device cycles are the same with at most
/// 8 and 32 pieces, 0.002 % more with 2; the same with 64, 256 and 1,024 uses, 0.04 % more with 0].
constexpr std::uint32_t kShortestPiece = 2;
constexpr std::size_t kMostPieces = 8;
constexpr std::uint32_t kMostUsesToSplit = 256;

/// How many tasks ahead memory is asked for [chosen: their placement takes longer than memory].
constexpr std::size_t kPrefetched = 8;

/// For the busy cycles of the ports and links of one phase [chosen: 8,192 tiles in one column of a
/// mesh take less with a hop latency up to 100 cycles].
constexpr std::uint64_t kMostBusyBytes = std::uint64_t{2} << 30;

/// Throws HostLimit when busy cycles would take too much memory: each port and link has a bit for
/// each cycle until its last word, with as much room again behind.
void check_memory(const Tasks& tasks) {
  std::vector<std::uint64_t> sent(tasks.tiles()), received(sent.size());
  std::vector<std::uint64_t> carried(tasks.links_of_machine);
  for (const Task& task : tasks.list) {
    const std::uint64_t end = std::uint64_t{task.earliest} + task.cycles;
    const auto last = [&](std::uint64_t& busy, std::uint32_t latency) {
      busy = std::max(busy, end + latency);
    };
    last(sent[task.source], 0);
    for (const Arrival& to : tasks.arrivals_of(task)) last(received[to.tile], to.latency);
    for (const LinkUse& use : tasks.links_of(task)) last(carried[use.link], use.offset);
  }
  std::uint64_t bits = 0;
  for (const auto& busy : {sent, received, carried}) {
    bits = std::accumulate(busy.begin(), busy.end(), bits);
  }
  const std::uint64_t bytes = bits / 8 * 2;
  if (bytes <= kMostBusyBytes) return;
  throw HostLimit(fmt::format(
      "the schedule of an exchange would take {} MiB or more of memory for the cycles in which the "
      "ports of {} tiles and their links are busy, and {} MiB are allowed: words are up to {} "
      "cycles on their way; shorter latencies of exchange.*, or fewer tiles, take less",
      bytes >> 20, tasks.tiles(), kMostBusyBytes >> 20, tasks.longest_path));
}

/// The ports of all tiles, and the links between them, while a schedule grows.
class Ports {
 public:
  explicit Ports(const Tasks& tasks)
      : tasks_(tasks),
        send_(tasks.tiles()),
        receive_(send_.size()),
        links_(tasks.links_of_machine),
        first_sent_(send_.size(), BusyCycles::kNeverBusy),
        first_received_(first_sent_) {
    for (const Task& task : tasks.list) {
      first_sent_[task.source] = std::min(first_sent_[task.source], task.earliest);
      for (const Arrival& to : tasks.arrivals_of(task)) {
        first_received_[to.tile] = std::min(first_received_[to.tile], task.earliest + to.latency);
      }
    }
  }

  /// No port is busy, but before it is first of use.
  void clear() {
    clear(send_, first_sent_);
    clear(receive_, first_received_);
    for (BusyCycles& link : links_) link.clear();
  }

  /// When the ports of a task are free, as they are now.
  [[nodiscard]] const JointCycles& of(const Task& task) {
    joint_.clear();
    const auto add = [&](const Port& port, const Port& other, BlockSet blocks,
                         std::uint32_t latency) {
      joint_.add(port.busy, latency);
      other.for_each_of(blocks, [&](const BusyCycles& busy) { joint_.add(busy, latency); });
    };
    add(send_[task.source], receive_[task.source], task.blocks, 0);
    for (const Arrival& to : tasks_.arrivals_of(task)) {
      add(receive_[to.tile], send_[to.tile], to.blocks, to.latency);
    }
    for (const LinkUse& use : tasks_.links_of(task)) joint_.add(links_[use.link], use.offset);
    return joint_;
  }

  void add(const Task& task, std::uint32_t start, std::uint32_t cycles) {
    send_[task.source].add(task.blocks, start, start + cycles);
    for (const Arrival& to : tasks_.arrivals_of(task)) {
      const std::uint32_t arrival = start + to.latency;
      receive_[to.tile].add(to.blocks, arrival, arrival + cycles);
    }
    for (const LinkUse& use : tasks_.links_of(task)) {
      links_[use.link].add(start + use.offset, start + use.offset + cycles);
    }
  }

 private:
  static void clear(std::vector<Port>& ports, const std::vector<std::uint32_t>& first) {
    for (std::size_t t = 0; t < ports.size(); ++t) {
      ports[t].clear();
      if (first[t] > 0 && first[t] < BusyCycles::kNeverBusy) ports[t].busy.add(0, first[t]);
    }
  }

  const Tasks& tasks_;
  std::vector<Port> send_, receive_;
  std::vector<BusyCycles> links_;
  std::vector<std::uint32_t> first_sent_, first_received_;
  JointCycles joint_;
};

/// The best placement of the orders tried so far.
class Search {
 public:
  explicit Search(const Tasks& tasks)
      : least(tasks.least_length()),
        tasks_(tasks),
        shortest_(kShortestPiece * tasks.item_cycles),
        ports_(tasks) {}

  const std::uint64_t least;  ///< no placement is shorter
  Placement best;
  bool split = false;

  [[nodiscard]] bool has_reached(std::uint64_t aim) const {
    return best.length > 0 && best.length <= aim;
  }

  /// Tries the tasks in the order of ascending keys of their numbers, the first key counting most,
  /// if the aim is not reached and the order is new; equal ones keep the given order.
  void attempt(std::uint64_t aim, const auto&... keys) {
    if (has_reached(aim)) return;
    NumberOrder sorted(tasks_.list.size());
    if constexpr (sizeof...(keys) > 0) sorted.sort_by(keys...);
    const std::vector<std::uint32_t>& order = sorted.numbers();
    std::vector<std::vector<std::uint32_t>>& tried = split ? tried_in_pieces_ : tried_whole_;
    if (std::ranges::find(tried, order) != tried.end()) return;
    tried.push_back(order);
    ports_.clear();
    Placement next;
    next.pieces.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Tasks that follow one another lie far from each other in memory.
      if (i + 2 * kPrefetched < order.size()) {
        __builtin_prefetch(&tasks_.list[order[i + 2 * kPrefetched]]);
        const Task& soon = tasks_.list[order[i + kPrefetched]];
        __builtin_prefetch(&tasks_.arrivals[soon.first_arrival]);
      }
      add(order[i], next);
      if (best.length > 0 && next.length >= best.length) return;
    }
    best = std::move(next);
  }

  /// What came last in the best schedule goes first, the rest in the order it had there.
  void repair(std::uint64_t enough) {
    // Whole tasks do not fit where pieces do.
    if (!split && best.pieces.size() > tasks_.list.size()) return;
    const int rounds = tasks_.arrivals.size() > kManyArrivals ? 1 : kMostRepairs;
    for (int round = 0; round < rounds && best.length > enough; ++round) {
      const std::uint64_t before = best.length;
      std::vector<std::uint32_t> start(tasks_.list.size(), BusyCycles::kNeverBusy);
      std::vector<bool> late(start.size());
      for (const TaskPiece& piece : best.pieces) {
        start[piece.task] = std::min(start[piece.task], piece.start);
        const std::uint64_t end =
            piece.start + piece.cycles + tasks_.list[piece.task].longest_latency;
        if (end * kLate >= before * (kLate - 1)) late[piece.task] = true;
      }
      attempt(
          enough, [&](std::uint32_t i) { return !late[i]; },
          [&](std::uint32_t i) { return start[i]; });
      if (best.length == before) break;
    }
  }

 private:
  void add(std::uint32_t number, Placement& placement) {
    const Task& task = tasks_.list[number];
    const std::size_t first = placement.pieces.size();
    const JointCycles& ports = ports_.of(task);
    std::uint32_t earliest = task.earliest;
    if (split) earliest = ports.first_gap(earliest, std::min(task.cycles, shortest_));
    const std::uint32_t whole = ports.first_gap(earliest, task.cycles);
    if (split && whole > earliest) {
      add_in_gaps(task, ports, {earliest, whole + task.cycles}, placement.pieces);
    }
    if (placement.pieces.size() == first) placement.pieces.push_back({0, 0, task.cycles, whole});
    std::uint32_t offset = 0;
    for (TaskPiece& piece : std::span(placement.pieces).subspan(first)) {
      piece.task = number;
      piece.offset = std::exchange(offset, offset + piece.cycles);
      ports_.add(task, piece.start, piece.cycles);
    }
    const TaskPiece& last = placement.pieces.back();
    placement.length = std::max(placement.length, last.start + last.cycles + task.longest_latency);
  }

  struct Span {
    std::uint32_t begin, end;
  };

  /// Fills gaps of a span, the first of which is where it begins, with pieces of the task so that
  /// its last word leaves before the end; with none if it cannot. What its own sender gets stays
  /// whole: a piece must not leave while another arrives beside it.
  void add_in_gaps(const Task& task, const JointCycles& ports, Span span,
                   std::vector<TaskPiece>& pieces) const {
    const auto to_sender = [&](const Arrival& to) { return to.tile == task.source; };
    if (std::ranges::any_of(tasks_.arrivals_of(task), to_sender)) return;
    const std::size_t first = pieces.size();
    std::uint32_t left = task.cycles, start = span.begin;
    while (left > 0) {
      start = ports.first_gap(start, std::min(left, shortest_));
      if (start + left >= span.end) {
        pieces.resize(first);
        return;
      }
      std::uint32_t cycles = std::min(left, ports.free_until(start) - start);
      cycles -= cycles % tasks_.item_cycles;
      if (left > cycles && left - cycles < shortest_) cycles = left - shortest_;
      if (cycles < std::min(left, shortest_)) {
        start += shortest_;
        continue;
      }
      pieces.push_back({0, 0, cycles, start});
      left -= cycles;
      start += cycles;
      if (pieces.size() - first > kMostPieces) {
        const auto earliest = pieces.begin() + static_cast<std::ptrdiff_t>(first);
        left += earliest->cycles;
        pieces.erase(earliest);
      }
    }
  }

  const Tasks& tasks_;
  std::uint32_t shortest_;  ///< piece
  Ports ports_;
  std::vector<std::vector<std::uint32_t>> tried_whole_, tried_in_pieces_;  ///< orders
};

}  // namespace

Placement place_tasks(const Tasks& tasks) {
  if (tasks.list.empty()) return {};
  check_memory(tasks);
  Search search(tasks);
  const std::uint64_t bound_cycles = tasks.bound_cycles();
  const auto bound = static_cast<double>(bound_cycles + tasks.longest_path);
  const auto share = [&](double factor) {
    return std::max(search.least, static_cast<std::uint64_t>(factor * bound));
  };
  const std::size_t arrivals = tasks.arrivals.size();
  const bool few = arrivals <= kFewArrivals;
  // The aims follow compile-time cost, not need.
  const std::uint64_t good = share(kGood);
  const std::uint64_t aim = few ? search.least : arrivals <= kManyArrivals ? share(kAim) : good;
  std::vector<std::uint32_t> rotation;
  const auto source = [&](std::uint32_t i) { return tasks.list[i].source; };
  const auto collective = [&](std::uint32_t i) { return tasks.list[i].collective; };
  const auto most_ports = [&](std::uint32_t i) { return ~tasks.list[i].arrival_count; };
  const auto longest = [&](std::uint32_t i) { return ~tasks.list[i].cycles; };
  const auto turn_of = [&](std::uint32_t i) { return rotation[i]; };
  const auto find_rotation = [&] {
    if (rotation.empty()) rotation = rotation_of(tasks, false);
  };
  const auto try_by_rotation = [&] {
    find_rotation();
    search.attempt(aim, most_ports, turn_of, source);
  };
  // Chains are of many lengths, so that the rotation counts more than the length.
  if (tasks.has_chains()) try_by_rotation();
  // What needs many ports at once goes first, while they are free.
  const auto try_by_collective = [&] {
    if (tasks.collectives == 1 || search.has_reached(aim)) return;
    const std::vector<std::uint32_t> own = rotation_of(tasks, true);
    const auto own_turn = [&](std::uint32_t i) { return own[i]; };
    search.attempt(aim, collective, most_ports, longest, own_turn, source);
  };
  const auto try_together = [&] {
    find_rotation();
    search.attempt(aim, most_ports, longest, turn_of, source);
  };
  const bool has_multicasts = arrivals > tasks.list.size();
  const auto try_pieces = [&] {
    if (search.has_reached(good) || tasks.most_uses() > kMostUsesToSplit) return;
    // Equal tasks of one colour keep all ports busy. Those with a long way leave before their turn,
    // since what arrives early leaves no gap behind it.
    search.split = true;
    const std::vector<std::uint32_t> colours = colour_edges(tasks);
    const std::uint64_t turn = bound_cycles / (*std::ranges::max_element(colours) + 1U);
    for (const std::uint64_t lead : {0U, 2U}) {
      const auto start = [&](std::uint32_t i) {
        return colours[i] * turn + lead * (tasks.longest_path - tasks.list[i].longest_latency);
      };
      search.attempt(good, most_ports, start, source);
    }
    search.repair(good);
    search.split = false;
  };
  // Many unicasts fit badly one collective after the other.
  const bool pieces_first = !has_multicasts && !few && tasks.collectives > 1;
  if (pieces_first) try_pieces();
  if (has_multicasts) try_together();
  if (!pieces_first || !search.has_reached(good)) try_by_collective();
  if (!has_multicasts && !pieces_first) try_together();
  // Colours know only the first receiver of a multicast, so that these are better repaired.
  if (has_multicasts) search.repair(good);
  const auto try_more_orders = [&] {
    if (pieces_first) try_together();
    if (!tasks.has_chains() && arrivals <= kManyArrivals) try_by_rotation();
    if (few || (arrivals <= kManyArrivals && !search.has_reached(share(kPoor)))) {
      search.attempt(aim);  // as given
      const std::uint32_t tiles = tasks.tiles();
      const auto distance = [&](std::uint32_t i) {
        const Task& task = tasks.list[i];
        return (tasks.arrivals_of(task).front().tile + tiles - task.source) % tiles;
      };
      search.attempt(aim, distance, source);
      const auto most_loaded = [&](std::uint32_t i) {
        const Task& task = tasks.list[i];
        std::uint64_t load = tasks.cycles_out[task.source];
        for (const Arrival& to : tasks.arrivals_of(task)) {
          load = std::max(load, tasks.cycles_in[to.tile]);
        }
        return ~load;
      };
      search.attempt(aim, most_loaded, longest);
    }
    search.repair(few ? aim : good);
  };
  if (few) {
    try_more_orders();
    try_pieces();
  } else {
    if (!pieces_first) try_pieces();
    if (!search.has_reached(good)) try_more_orders();
  }
  return std::move(search.best);
}

}  // namespace superstep
