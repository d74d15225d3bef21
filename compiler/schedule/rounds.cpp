#include "compiler/schedule/rounds.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace superstep {
namespace {

/// A transfer's place among those of equally many destinations that share a tile with it.
struct Rank {
  std::uint32_t number = 0;
  std::uint32_t of = 0;
};

/// Ranks by `other` among transfers of equal `shared`.
std::vector<Rank> ranks(std::span<const Transfer> transfers, auto shared, auto other) {
  std::vector<std::tuple<std::size_t, TileId, TileId, std::uint32_t>> order;
  order.reserve(transfers.size());
  for (std::uint32_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    order.emplace_back(transfer.destinations.size(), shared(transfer), other(transfer), i);
  }
  std::ranges::sort(order);
  std::vector<Rank> ranks(transfers.size());
  const auto group_of = [](const auto& entry) {
    return std::pair(std::get<0>(entry), std::get<1>(entry));
  };
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(
        first, order.end(), [&](const auto& entry) { return group_of(entry) != group_of(*first); });
    const auto size = static_cast<std::uint32_t>(last - first);
    for (std::uint32_t number = 0; first != last; ++first) {
      ranks[std::get<3>(*first)] = {number++, size};
    }
  }
  return ranks;
}

/// Halves sets of tasks so that each half has half of those at every port.
class Halving {
 public:
  Halving(std::span<const Task> tasks, std::uint32_t tiles)
      : tasks_(tasks), waiting_(2 * std::size_t{tiles}), set_(tasks.size()), half_(tasks.size()) {
    partner_.fill(std::vector<std::uint32_t>(tasks.size()));
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> all(tasks_.size());
    std::iota(all.begin(), all.end(), 0U);
    divide(all);
    return std::move(set_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  enum Side : std::uint8_t { kSender, kReceiver };
  enum Half : std::uint8_t { kFirst, kSecond, kNeither };

  [[nodiscard]] std::size_t port(std::uint32_t task, Side side) const {
    return side == kSender ? tasks_[task].source
                           : waiting_.size() / 2 + tasks_[task].arrivals.front().tile;
  }

  /// Pairs the tasks of each port; whether there is a pair at all.
  bool pair_up(std::span<const std::uint32_t> tasks) {
    bool any = false;
    for (const Side side : {kSender, kReceiver}) {
      std::fill(waiting_.begin(), waiting_.end(), kNone);
      for (const std::uint32_t task : tasks) {
        std::uint32_t& other = waiting_[port(task, side)];
        partner_[side][task] = other;
        if (other == kNone) {
          other = task;
          continue;
        }
        partner_[side][std::exchange(other, kNone)] = task;
        any = true;
      }
    }
    return any;
  }

  /// Deals the tasks of a trail to the two halves in turn.
  void walk(std::uint32_t task, Side side) {
    for (Half half = kFirst; task != kNone && half_[task] == kNeither;) {
      half_[task] = half;
      half = half == kFirst ? kSecond : kFirst;
      task = partner_[side][task];
      side = side == kSender ? kReceiver : kSender;
    }
  }

  void divide(std::span<std::uint32_t> tasks) {
    if (!pair_up(tasks)) {
      for (const std::uint32_t task : tasks) set_[task] = next_set_;
      ++next_set_;
      return;
    }
    for (const std::uint32_t task : tasks) half_[task] = kNeither;
    // Trails with ends from an end, then the rings.
    for (const std::uint32_t task : tasks) {
      if (half_[task] != kNeither) continue;
      if (partner_[kReceiver][task] == kNone) {
        walk(task, kSender);
      } else if (partner_[kSender][task] == kNone) {
        walk(task, kReceiver);
      }
    }
    for (const std::uint32_t task : tasks) {
      if (half_[task] == kNeither) walk(task, kSender);
    }
    const auto second = std::stable_partition(
        tasks.begin(), tasks.end(), [&](std::uint32_t task) { return half_[task] == kFirst; });
    divide({tasks.begin(), second});
    divide({second, tasks.end()});
  }

  std::span<const Task> tasks_;
  std::vector<std::uint32_t> waiting_;                 ///< by port: a task without a partner yet
  std::array<std::vector<std::uint32_t>, 2> partner_;  ///< by side and task
  std::vector<std::uint32_t> set_;
  std::vector<Half> half_;
  std::uint32_t next_set_ = 0;
};

}  // namespace

std::vector<std::uint32_t> rounds_of(std::span<const Transfer> transfers) {
  const auto source = [](const Transfer& transfer) { return transfer.source.tile; };
  const auto destination = [](const Transfer& transfer) {
    return transfer.destinations.front().tile;
  };
  const std::vector<Rank> sent = ranks(transfers, source, destination);
  const std::vector<Rank> received = ranks(transfers, destination, source);
  std::vector<std::uint32_t> rounds(transfers.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const std::uint32_t size = std::max(sent[i].of, received[i].of);
    rounds[i] = (sent[i].number + size - received[i].number) % size;
  }
  return rounds;
}

std::vector<std::uint32_t> matchings_of(std::span<const Task> tasks, std::uint32_t tiles) {
  return Halving(tasks, tiles).run();
}

}  // namespace superstep
