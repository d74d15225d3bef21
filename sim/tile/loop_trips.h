#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace superstep {

/// Trips of the loops of a supervisor, by the branches that its image marks with their steps. Loops
/// are in the order of their steps, each before those that it executes.
class LoopTrips {
 public:
  struct Mark {
    std::uint32_t pc = 0, step = 0;
  };
  /// Trips of loops before the one that goes on, ascending by step; of others none.
  using Counts = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

  /// `marks` ascend by pc.
  void mark(std::vector<Mark> marks) { marks_ = std::move(marks); }
  /// From now on more trips than that without a sync are too many.
  void limit(std::optional<std::uint64_t> trips) { limit_ = trips; }
  void clear() {
    counts_.clear();
    all_ = since_sync_ = 0;
  }
  void sync() { since_sync_ = 0; }
  /// The instruction at `pc` branches; steps count from `calls_step`.
  void branch(std::uint32_t pc, std::uint32_t calls_step) {
    const auto mark = std::ranges::lower_bound(marks_, pc, {}, &Mark::pc);
    if (mark == marks_.end() || mark->pc != pc) return;
    last_ = mark->step + calls_step;
    const auto at = std::ranges::lower_bound(counts_, last_, {}, &Counts::value_type::first);
    const std::uint64_t trips = at != counts_.end() && at->first == last_ ? at->second : 0;
    // What comes behind it, or in it, begins anew.
    counts_.erase(at, counts_.end());
    counts_.emplace_back(last_, trips + 1);
    ++all_;
    ++since_sync_;
  }
  /// A marked call: the loops that it reaches begin anew.
  void call(std::uint32_t calls_step) {
    counts_.erase(std::ranges::lower_bound(counts_, calls_step, {}, &Counts::value_type::first),
                  counts_.end());
  }

  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Of all loops, since boot.
  [[nodiscard]] std::uint64_t all() const { return all_; }
  [[nodiscard]] bool is_past_limit() const { return limit_ && since_sync_ > *limit_; }
  /// The loop that began a trip last.
  [[nodiscard]] std::uint32_t last() const { return last_; }

  /// All but the marks and their limit.
  template <class Archive>
  void state(Archive& archive) {
    auto& [marks, counts, limit, all, since_sync, last] = *this;
    archive(counts, all, since_sync, last);
  }

 private:
  std::vector<Mark> marks_;
  Counts counts_;
  std::optional<std::uint64_t> limit_;
  std::uint64_t all_ = 0, since_sync_ = 0;
  std::uint32_t last_ = 0;
};

}  // namespace superstep
