#include "compiler/schedule/tasks.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "compiler/schedule/radix_sort.h"
#include "compiler/schedule/row_encoder.h"
#include "isa/timing.h"

namespace superstep {
namespace {

using Send = MergedTransfers::Send;

/// A task takes at most this part of the busiest port's time, so that tasks can be balanced [chosen
/// by bench/fit_by_builds.py. Device cycles of 3 generated transposes of a million elements on bow
/// are above the least by 0.01 % on average with 100, 0.13 % with 400 and with 1,600, those of
/// layers the same; but training 4 layers of 1024 x 1024 f16 takes 0.9 % more with 100].
constexpr std::uint64_t kTasksOfBusiestPort = 400;

/// Latencies between all tiles and what else the schedule asks of each tile.
class Geometry {
 public:
  explicit Geometry(const MachineConfig& machine) : machine_(machine) {
    for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
      places_.push_back(place_of(machine, TileId{t}));
      starts_.push_back(
          static_cast<std::uint32_t>(release_skew(machine, TileId{t}).value() + kFirstRowCycle));
    }
  }

  [[nodiscard]] std::uint32_t latency(std::uint32_t from, std::uint32_t to) const {
    return static_cast<std::uint32_t>(
        exchange_latency(machine_, places_[from], places_[to]).value());
  }
  /// Between any tiles.
  [[nodiscard]] std::uint32_t longest_latency() const {
    return static_cast<std::uint32_t>(longest_exchange_latency(machine_).value());
  }
  /// The first cycle in which a tile's ports can be used.
  [[nodiscard]] std::uint32_t start(std::uint32_t tile) const { return starts_[tile]; }

 private:
  const MachineConfig& machine_;
  std::vector<TilePlace> places_;
  std::vector<std::uint32_t> starts_;
};

class TaskMaker {
 public:
  TaskMaker(const MachineConfig& machine, MergedTransfers merged)
      : machine_(machine), item_(machine), geometry_(machine), merged_(std::move(merged)) {}

  Tasks run() {
    tasks_.longest_path = geometry_.longest_latency();
    tasks_.cycles_out.resize(machine_.tiles());
    tasks_.cycles_in.resize(machine_.tiles());
    tasks_.sends_out.resize(machine_.tiles());
    tasks_.sends_in.resize(machine_.tiles());
    tasks_.links_of_machine = number_of_links(machine_);
    tasks_.item_cycles = item_.cycles();
    count_cycles();
    longest_ = std::max<std::uint64_t>(tasks_.bound_cycles() / kTasksOfBusiestPort, 1);
    tasks_.list.reserve(merged_.sends.size());
    tasks_.arrivals.reserve(merged_.ends.size());
    for (std::uint32_t sender = 0; sender < machine_.tiles(); ++sender) {
      const std::span<Send> sends = sends_of(sender);
      if (merged_.ways_differ[sender]) {
        for (const Send& send : sends) add_task(sender, {&send, 1});
        continue;
      }
      std::ranges::sort(sends, {}, [&](const Send& s) {
        return std::tuple(s.collective, s.tiles, s.end_count, s.address);
      });
      for (auto first = sends.begin(); first != sends.end();) {
        const auto last =
            std::find_if(first, sends.end(), [&](const Send& s) { return !same_way(*first, s); });
        add_chains(sender, {first, last});
        first = last;
      }
    }
    tasks_.sends = std::move(merged_.sends);
    tasks_.ends = std::move(merged_.ends);
    number_collectives();
    keep_shared_blocks();
    sort_by_order();
    return std::move(tasks_);
  }

 private:
  /// What a tile sends, to be put in the order of its tasks where it lies.
  [[nodiscard]] std::span<Send> sends_of(std::uint32_t sender) {
    return std::span(merged_.sends)
        .subspan(merged_.first_send[sender],
                 merged_.first_send[sender + 1] - merged_.first_send[sender]);
  }

  /// In the order of the given list, parts of one transfer by address.
  void sort_by_order() {
    NumberOrder order(tasks_.list.size());
    order.sort_by([&](std::uint32_t i) { return tasks_.list[i].order; },
                  [&](std::uint32_t i) { return tasks_.sends[tasks_.list[i].first_send].address; });
    std::vector<Task> sorted;
    sorted.reserve(tasks_.list.size());
    for (const std::uint32_t task : order.numbers()) sorted.push_back(tasks_.list[task]);
    tasks_.list = std::move(sorted);
  }

  /// By their rank among those of the phase.
  void number_collectives() {
    std::vector<std::uint32_t> used;
    for (const Task& task : tasks_.list) {
      if (used.empty() || used.back() != task.collective) used.push_back(task.collective);
    }
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (Task& task : tasks_.list) {
      task.collective = static_cast<std::uint32_t>(std::ranges::lower_bound(used, task.collective) -
                                                   used.begin());
    }
    tasks_.collectives = static_cast<std::uint32_t>(used.size());
  }

  void keep_shared_blocks() {
    std::vector<BlockSet> read(tasks_.tiles()), written(read.size());
    for (const Task& task : tasks_.list) {
      read[task.source] |= task.blocks;
      for (const Arrival& to : tasks_.arrivals_of(task)) written[to.tile] |= to.blocks;
    }
    for (Task& task : tasks_.list) task.blocks &= written[task.source];
    for (Arrival& to : tasks_.arrivals) to.blocks &= read[to.tile];
  }

  void count_cycles() {
    for (std::uint32_t sender = 0; sender < machine_.tiles(); ++sender) {
      for (const Send& send : merged_.of(sender)) {
        const std::uint64_t cycles = item_.cycles_of(send.words);
        tasks_.cycles_out[sender] += cycles;
        ++tasks_.sends_out[sender];
        for (const TransferEnd& to : merged_.ends_of(send)) {
          tasks_.cycles_in.at(index(to.tile)) += cycles;
          ++tasks_.sends_in[index(to.tile)];
        }
      }
    }
  }

  [[nodiscard]] bool same_way(const Send& a, const Send& b) const {
    return a.collective == b.collective &&
           std::ranges::equal(merged_.ends_of(a), merged_.ends_of(b), {}, &TransferEnd::tile,
                              &TransferEnd::tile);
  }

  /// Tasks of sends to the same tiles, in the order in which more sends or pointers go on where
  /// the one before ended.
  void add_chains(std::uint32_t sender, std::span<Send> sends) {
    const auto first_end = [&](const Send& s) { return merged_.ends[s.first_end].address; };
    const auto going_on = [&](auto address) {
      std::size_t count = 0;
      for (std::size_t i = 1; i < sends.size(); ++i) {
        count += address(sends[i - 1]) + sends[i - 1].words * 4 == address(sends[i]);
      }
      return count;
    };
    if (sends.size() > 1) {
      const std::size_t by_source = going_on([](const Send& s) { return s.address; });
      std::ranges::sort(sends, {}, first_end);
      const std::size_t by_destination = going_on(first_end);
      if (by_source > by_destination) {
        std::ranges::sort(sends, {}, &Send::address);
      }
    }
    const auto ends = merged_.ends_of(sends.front());
    // Multicasts are few. What its own sender gets must not leave while another arrives beside it.
    const bool alone = ends.size() > 1 || index(ends.front().tile) == sender;
    for (auto first = sends.begin(); first != sends.end();) {
      std::uint64_t cycles = item_.cycles_of(first->words);
      auto last = std::next(first);
      for (; !alone && last != sends.end(); ++last) {
        const std::uint64_t more = item_.cycles_of(last->words);
        if (cycles + more > longest_) break;
        cycles += more;
      }
      add_task(sender, {first, last});
      first = last;
    }
  }

  void add_task(std::uint32_t sender, std::span<const Send> sends) {
    Task task{};
    task.source = sender;
    task.collective = sends.front().collective;
    task.order = std::numeric_limits<std::uint32_t>::max();
    task.earliest = geometry_.start(sender);
    task.first_arrival = static_cast<std::uint32_t>(tasks_.arrivals.size());
    task.arrival_count = sends.front().end_count;
    task.first_send = static_cast<std::uint32_t>(sends.data() - merged_.sends.data());
    task.send_count = static_cast<std::uint32_t>(sends.size());
    for (const TransferEnd& to : merged_.ends_of(sends.front())) {
      const std::uint32_t tile = index(to.tile);
      const std::uint32_t latency = geometry_.latency(sender, tile);
      if (geometry_.start(tile) > latency) {
        task.earliest = std::max(task.earliest, geometry_.start(tile) - latency);
      }
      task.longest_latency = std::max(task.longest_latency, latency);
      tasks_.arrivals.push_back({tile, latency, 0});
    }
    add_links(task);
    for (const Send& send : sends) {
      task.cycles += static_cast<std::uint32_t>(item_.cycles_of(send.words));
      task.order = std::min(task.order, send.order);
      task.blocks |= blocks_of(send.address, send.words);
      const auto ends = merged_.ends_of(send);
      for (std::size_t k = 0; k < ends.size(); ++k) {
        tasks_.arrivals[task.first_arrival + k].blocks |= blocks_of(ends[k].address, send.words);
      }
    }
    tasks_.list.push_back(task);
  }

  /// The union of the routes to where it arrives.
  void add_links(Task& task) {
    task.first_link = static_cast<std::uint32_t>(tasks_.links.size());
    if (!has_links(machine_)) return;
    std::vector<LineUse> lines;
    for (const Arrival& to : tasks_.arrivals_of(task)) {
      const std::vector<LineUse> way =
          lines_of_route(machine_, TileId{task.source}, TileId{to.tile});
      lines.insert(lines.end(), way.begin(), way.end());
    }
    // Those on one line begin with one link, and the longest has them all.
    std::ranges::sort(lines, {},
                      [](const LineUse& use) { return std::tuple(use.line, use.begin, ~use.end); });
    const auto is_shorter = [](const LineUse& longest, const LineUse& use) {
      return std::pair(longest.line, longest.begin) == std::pair(use.line, use.begin);
    };
    lines.erase(std::unique(lines.begin(), lines.end(), is_shorter), lines.end());
    for (const LineUse& use : lines) append_links(machine_, use, tasks_.links);
    task.link_count = static_cast<std::uint32_t>(tasks_.links.size()) - task.first_link;
  }

  [[nodiscard]] BlockSet blocks_of(std::uint32_t address, std::uint32_t words) const {
    BlockSet blocks = 0;
    const std::uint32_t last = memory_block(machine_, address + words * 4 - 4);
    for (std::uint32_t block = memory_block(machine_, address); block <= last; ++block) {
      blocks |= BlockSet{1} << block % 64;
    }
    return blocks;
  }

  const MachineConfig& machine_;
  ExchangeItem item_;
  Geometry geometry_;
  MergedTransfers merged_;
  Tasks tasks_;
  std::uint64_t longest_ = 0;
};

}  // namespace

std::uint32_t Tasks::most_uses() const {
  std::uint32_t most = 0;
  for (std::uint32_t t = 0; t < tiles(); ++t) most = std::max(most, sends_out[t] + sends_in[t]);
  return most;
}

std::uint64_t Tasks::bound_cycles() const {
  return std::max(*std::ranges::max_element(cycles_out), *std::ranges::max_element(cycles_in));
}

std::uint64_t Tasks::least_length() const {
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  struct Port {
    std::uint64_t first = kNever, rest = kNever;  ///< least wait before and way after its words
  };
  std::vector<Port> senders(cycles_out.size()), receivers(cycles_in.size());
  std::uint64_t least = 0;
  for (const Task& task : list) {
    Port& from = senders[task.source];
    from.first = std::min<std::uint64_t>(from.first, task.earliest);
    from.rest = std::min<std::uint64_t>(from.rest, task.longest_latency);
    least = std::max<std::uint64_t>(least, task.earliest + task.cycles + task.longest_latency);
    for (const Arrival& to : arrivals_of(task)) {
      Port& port = receivers[to.tile];
      port.first = std::min<std::uint64_t>(port.first, task.earliest + to.latency);
    }
  }
  for (std::size_t t = 0; t < senders.size(); ++t) {
    if (cycles_out[t] > 0) {
      least = std::max(least, senders[t].first + cycles_out[t] + senders[t].rest);
    }
    if (cycles_in[t] > 0) least = std::max(least, receivers[t].first + cycles_in[t]);
  }
  return least;
}

Tasks make_tasks(const MachineConfig& machine, MergedTransfers merged) {
  return TaskMaker(machine, std::move(merged)).run();
}

}  // namespace superstep
