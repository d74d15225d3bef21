#include "compiler/schedule/rotation.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace superstep {
namespace {

/// Where a task starts in a turn of those of its kind that share a tile with it.
struct TurnStart {
  std::uint64_t before = 0;  ///< it in the turn
  std::uint64_t turn = 0;    ///< the whole
};

/// Sorts by a key below `keys`, keeping the order of equals.
void counting_sort(std::vector<std::uint32_t>& numbers, std::size_t keys, auto key) {
  std::vector<std::uint32_t> next(keys + 1);
  for (const std::uint32_t i : numbers) ++next[key(i) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> sorted(numbers.size());
  for (const std::uint32_t i : numbers) sorted[next[key(i)]++] = i;
  numbers.swap(sorted);
}

/// Starts in turns by `other` among tasks of equal collective, number of destinations and `shared`.
std::vector<TurnStart> turn_starts(const Tasks& tasks, bool by_collective, auto shared,
                                   auto other) {
  const std::size_t tiles = tasks.tiles();
  std::vector<std::uint32_t> order(tasks.list.size());
  std::iota(order.begin(), order.end(), 0U);
  counting_sort(order, tiles, other);
  if (by_collective) {
    counting_sort(order, tasks.collectives,
                  [&](std::uint32_t i) { return tasks.list[i].collective; });
  }
  counting_sort(order, tiles + 1, [&](std::uint32_t i) { return tasks.list[i].arrival_count; });
  counting_sort(order, tiles, shared);
  const auto group = [&](std::uint32_t i) {
    const Task& task = tasks.list[i];
    return std::tuple(shared(i), task.arrival_count, by_collective ? task.collective : 0);
  };
  std::vector<TurnStart> result(order.size());
  for (auto first = order.begin(); first != order.end();) {
    std::uint64_t sum = 0;
    auto last = first;
    for (; last != order.end() && group(*last) == group(*first); ++last) {
      result[*last].before = sum;
      sum += tasks.has_chains() ? tasks.list[*last].cycles : 1;
    }
    for (; first != last; ++first) result[*first].turn = sum;
  }
  return result;
}

}  // namespace

std::vector<std::uint32_t> rotation_of(const Tasks& tasks, bool by_collective) {
  const auto source = [&](std::uint32_t i) { return tasks.list[i].source; };
  const auto destination = [&](std::uint32_t i) {
    return tasks.arrivals[tasks.list[i].first_arrival].tile;
  };
  const std::vector<TurnStart> sent = turn_starts(tasks, by_collective, source, destination);
  const std::vector<TurnStart> received = turn_starts(tasks, by_collective, destination, source);
  std::vector<std::uint32_t> starts(sent.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint64_t turn = std::max(sent[i].turn, received[i].turn);
    starts[i] = static_cast<std::uint32_t>((sent[i].before + turn - received[i].before) % turn);
  }
  return starts;
}

}  // namespace superstep
