#include "compiler/schedule/edge_colouring.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace superstep {
namespace {

/// Halves sets of tasks along trails so that each half has half of those at every port.
class EulerPartition {
 public:
  explicit EulerPartition(const Tasks& tasks)
      : waiting_(2 * std::size_t{tasks.tiles()}),
        colour_(tasks.list.size()),
        half_(tasks.list.size()) {
    partner_.fill(std::vector<std::uint32_t>(tasks.list.size()));
    port_ = partner_;
    for (std::size_t i = 0; i < tasks.list.size(); ++i) {
      const Task& task = tasks.list[i];
      port_[kSender][i] = task.source;
      port_[kReceiver][i] = tasks.tiles() + tasks.arrivals[task.first_arrival].tile;
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> all(colour_.size());
    std::iota(all.begin(), all.end(), 0U);
    divide(all);
    return std::move(colour_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  enum Side : std::uint8_t { kSender, kReceiver };
  enum Half : std::uint8_t { kFirst, kSecond, kNeither };

  /// Pairs the tasks of each port; whether there is a pair at all.
  bool pair_up(std::span<const std::uint32_t> tasks) {
    bool any = false;
    for (const Side side : {kSender, kReceiver}) {
      std::fill(waiting_.begin(), waiting_.end(), kNone);
      for (const std::uint32_t task : tasks) {
        std::uint32_t& other = waiting_[port_[side][task]];
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
      for (const std::uint32_t task : tasks) colour_[task] = next_colour_;
      ++next_colour_;
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

  std::array<std::vector<std::uint32_t>, 2> port_;     ///< by side and task
  std::vector<std::uint32_t> waiting_;                 ///< by port: a task without a partner yet
  std::array<std::vector<std::uint32_t>, 2> partner_;  ///< by side and task
  std::vector<std::uint32_t> colour_;
  std::vector<Half> half_;
  std::uint32_t next_colour_ = 0;
};

}  // namespace

std::vector<std::uint32_t> colour_edges(const Tasks& tasks) { return EulerPartition(tasks).run(); }

}  // namespace superstep
