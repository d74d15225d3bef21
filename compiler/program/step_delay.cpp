#include "compiler/program/step_delay.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/program/dependence.h"

namespace superstep {
namespace {

/// Supersteps by which a step is delayed at most [assumed, for the time to compile].
constexpr std::uint32_t kMostDelay = 64;
/// Tiles times supersteps of a block above which no step is delayed [assumed, for the host's
/// memory].
constexpr std::size_t kMostSums = std::size_t{1} << 25;

using Kind = TimedStep::Kind;
using Load = TimedStep::Load;

/// Sums of loads by tile, and the greatest.
class Sums {
 public:
  explicit Sums(std::uint32_t tiles) : by_tile_(tiles) {}

  template <class Part>
  void add(const std::vector<Load>& loads, Part part) {
    for (const Load& load : loads) {
      std::uint32_t& sum = by_tile_[index(load.tile)];
      sum += load.*part;
      most_ = std::max(most_, sum);
    }
  }
  template <class Part>
  void remove(const std::vector<Load>& loads, Part part) {
    bool had_most = false;
    for (const Load& load : loads) {
      std::uint32_t& sum = by_tile_[index(load.tile)];
      had_most = had_most || sum == most_;
      sum -= load.*part;
    }
    if (had_most) most_ = *std::ranges::max_element(by_tile_);
  }
  /// The greatest with more loads.
  template <class Part>
  [[nodiscard]] std::uint32_t most_with(const std::vector<Load>& loads, Part part) const {
    std::uint32_t most = most_;
    for (const Load& load : loads) {
      most = std::max(most, by_tile_[index(load.tile)] + load.*part);
    }
    return most;
  }
  [[nodiscard]] std::uint32_t most() const { return most_; }

 private:
  std::vector<std::uint32_t> by_tile_;
  std::uint32_t most_ = 0;
};

/// What a superstep has to do.
class SuperstepLoad {
 public:
  SuperstepLoad(std::uint32_t tiles, std::uint32_t phase)
      : phase_(phase), computed_(tiles), sent_(tiles), received_(tiles) {}

  void add(const TimedStep& step) {
    if (step.kind == Kind::kCompute) {
      computed_.add(step.loads, &Load::work);
    } else if (step.kind == Kind::kExchange) {
      ++exchanges_;
      sent_.add(step.loads, &Load::work);
      received_.add(step.loads, &Load::received);
    }
  }
  void remove(const TimedStep& step) {
    if (step.kind == Kind::kCompute) return computed_.remove(step.loads, &Load::work);
    --exchanges_;
    sent_.remove(step.loads, &Load::work);
    received_.remove(step.loads, &Load::received);
  }
  /// Cycles that one more step adds.
  [[nodiscard]] std::uint32_t added_by(const TimedStep& step) const {
    if (step.kind == Kind::kCompute) {
      return computed_.most_with(step.loads, &Load::work) - computed_.most();
    }
    return (exchanges_ == 0 ? phase_ : 0) +
           std::max(sent_.most_with(step.loads, &Load::work),
                    received_.most_with(step.loads, &Load::received)) -
           std::max(sent_.most(), received_.most());
  }

 private:
  std::uint32_t phase_;
  std::uint32_t exchanges_ = 0;
  Sums computed_, sent_, received_;
};

class Delaying {
 public:
  Delaying(const std::vector<TimedStep>& steps, std::size_t buffers, std::uint32_t tiles,
           std::uint32_t phase)
      : steps_(steps) {
    DependenceBuilder<DependenceGraph> dependences(graph_, buffers);
    std::uint32_t count = 0;
    for (const TimedStep& step : steps) {
      dependences.add({}, step.uses.reads, step.uses.writes);
      at_.push_back(step.superstep);
      count = std::max(count, step.superstep + 1);
    }
    loads_.assign(count, SuperstepLoad(tiles, phase));
    std::uint32_t last = count - 1;
    ends_.resize(steps.size());
    for (std::size_t s = steps.size(); s-- > 0;) {
      loads_[at_[s]].add(steps[s]);
      if (steps[s].kind == Kind::kControl) last = at_[s] == 0 ? 0 : at_[s] - 1;
      ends_[s] = last;
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> run() {
    for (std::size_t s = steps_.size(); s-- > 0;) {
      if (steps_[s].kind == Kind::kControl) continue;
      const std::uint32_t latest = this->latest(s);
      if (latest > at_[s]) place(s, latest, at_[s]);
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const std::uint32_t earliest = this->earliest(s);
      if (earliest < at_[s]) place(s, earliest, at_[s]);
    }
    return at_;
  }

 private:
  /// Supersteps from a step to one that depends on it, at least.
  [[nodiscard]] std::uint32_t distance(std::size_t from, std::size_t to) const {
    const TimedStep &a = steps_[from], &b = steps_[to];
    if (b.kind == Kind::kCompute) return 0;
    const bool move_together = a.kind != Kind::kCompute && a.superstep == b.superstep;
    return move_together ? 0 : 1;
  }

  [[nodiscard]] std::uint32_t latest(std::size_t s) const {
    std::uint32_t latest = std::min(std::max(ends_[s], at_[s]), steps_[s].superstep + kMostDelay);
    for (auto [e, end] = out_edges(s, graph_); e != end; ++e) {
      const std::size_t to = target(*e, graph_);
      latest = std::min(latest, at_[to] - distance(s, to));
    }
    return latest;
  }

  [[nodiscard]] std::uint32_t earliest(std::size_t s) const {
    std::uint32_t earliest = steps_[s].superstep;
    for (auto [e, end] = in_edges(s, graph_); e != end; ++e) {
      const std::size_t from = source(*e, graph_);
      earliest = std::max(earliest, at_[from] + distance(from, s));
    }
    return earliest;
  }

  /// Moves a step to the superstep between two, both included, where it adds least: of equal ones
  /// the nearest to the first.
  void place(std::size_t s, std::uint32_t first, std::uint32_t last) {
    const TimedStep& step = steps_[s];
    loads_[at_[s]].remove(step);
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t t = first;; first < last ? ++t : --t) {
      const std::uint32_t added = loads_[t].added_by(step);
      if (added < least) {
        least = added;
        at_[s] = t;
      }
      if (least == 0 || t == last) break;
    }
    loads_[at_[s]].add(step);
  }

  const std::vector<TimedStep>& steps_;
  DependenceGraph graph_;
  std::vector<std::uint32_t> at_,
      ends_;  ///< by step: its superstep, the last before a control step
  std::vector<SuperstepLoad> loads_;
};

}  // namespace

std::vector<std::uint32_t> delay_steps(const std::vector<TimedStep>& steps, std::size_t buffers,
                                       std::uint32_t tiles, std::uint32_t phase) {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> now;
  for (const TimedStep& step : steps) {
    now.push_back(step.superstep);
    count = std::max(count, step.superstep + 1);
  }
  if (count < 2 || std::size_t{count} * tiles > kMostSums) return now;
  return Delaying(steps, buffers, tiles, phase).run();
}

}  // namespace superstep
