#include "compiler/program/step_order.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/program/dependence.h"

namespace superstep {
namespace {

using StepNumbers = std::vector<std::size_t>;

std::uint64_t bytes_of(const Buffer& buffer) {
  std::uint64_t bytes = 0;
  for (const Interval& interval : buffer.layout->intervals()) {
    bytes += std::uint64_t{buffer.bytes(interval)} * interval.tiles.size();
  }
  return bytes;
}

/// Follows which temporaries are live while steps run.
class Liveness {
 public:
  Liveness(const std::vector<Buffer>& buffers, const std::vector<StepUses>& steps)
      : bytes_(buffers.size()), uses_(buffers.size()), is_live_(buffers.size()) {
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].kind == Buffer::Kind::kTemporary) bytes_[b] = bytes_of(buffers[b]);
      // The host is another user of a result.
      if (buffers[b].is_result) ++uses_[b];
    }
    for (const StepUses& step : steps) {
      for_each(step, [&](std::size_t b) { ++uses_[b]; });
    }
  }

  /// Bytes that are live after a step less those before it.
  [[nodiscard]] std::int64_t change(const StepUses& step) const {
    std::int64_t change = 0;
    for_each(step, [&](std::size_t b) {
      const auto bytes = static_cast<std::int64_t>(bytes_[b]);
      if (!is_live_[b]) change += bytes;
      if (uses_[b] == 1) change -= bytes;
    });
    return change;
  }

  void run(const StepUses& step) {
    for_each(step, [&](std::size_t b) {
      if (!is_live_[b]) live_ += bytes_[b];
      is_live_[b] = true;
    });
    most_ = std::max(most_, live_);
    for_each(step, [&](std::size_t b) {
      if (--uses_[b] == 0) live_ -= bytes_[b];
    });
  }

  [[nodiscard]] std::uint64_t most() const { return most_; }

 private:
  /// Each buffer of a step once.
  template <typename Visit>
  static void for_each(const StepUses& step, const Visit& visit) {
    for (const BufferId buffer : step.reads) visit(index(buffer));
    for (const BufferId buffer : step.writes) {
      if (!step.reads.contains(buffer)) visit(index(buffer));
    }
  }

  std::vector<std::uint64_t> bytes_;  ///< by buffer; 0 of those that live always
  std::vector<std::uint32_t> uses_;   ///< by buffer: steps to come
  std::vector<bool> is_live_;
  std::uint64_t live_ = 0, most_ = 0;
};

std::uint64_t live_bytes_in(const std::vector<Buffer>& buffers, const std::vector<StepUses>& steps,
                            const StepNumbers& order) {
  Liveness liveness(buffers, steps);
  for (const std::size_t step : order) liveness.run(steps[step]);
  return liveness.most();
}

/// List scheduling: of the steps that are ready, the one that adds least to what is live.
StepNumbers list_scheduled(const DependenceGraph& graph, const std::vector<Buffer>& buffers,
                           const std::vector<StepUses>& steps) {
  Liveness liveness(buffers, steps);
  std::vector<std::size_t> missing(steps.size());
  std::set<std::size_t> ready;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    missing[s] = in_degree(s, graph);
    if (missing[s] == 0) ready.insert(s);
  }
  StepNumbers order;
  while (!ready.empty()) {
    const std::size_t next = *std::ranges::min_element(
        ready, {}, [&](std::size_t s) { return liveness.change(steps[s]); });
    ready.erase(next);
    liveness.run(steps[next]);
    order.push_back(next);
    for (auto [e, end] = out_edges(next, graph); e != end; ++e) {
      if (--missing[target(*e, graph)] == 0) ready.insert(target(*e, graph));
    }
  }
  return order;
}

/// Depth-first search against the edges, from the steps that nothing depends on in their order:
/// what leads to one comes at once before it.
StepNumbers depth_first(const DependenceGraph& graph) {
  StepNumbers order;
  std::vector<bool> is_reached(num_vertices(graph));
  std::vector<std::pair<std::size_t, bool>> open;  ///< steps, and whether what they need is done
  for (std::size_t s = 0; s < is_reached.size(); ++s) {
    if (out_degree(s, graph) != 0) continue;
    open.emplace_back(s, false);
    while (!open.empty()) {
      const auto [step, is_done] = open.back();
      open.pop_back();
      if (is_done) {
        order.push_back(step);
        continue;
      }
      if (is_reached[step]) continue;
      is_reached[step] = true;
      open.emplace_back(step, true);
      for (auto [e, end] = in_edges(step, graph); e != end; ++e) {
        if (!is_reached[source(*e, graph)]) open.emplace_back(source(*e, graph), false);
      }
    }
  }
  return order;
}

}  // namespace

std::uint64_t live_bytes(const std::vector<Buffer>& buffers, const std::vector<StepUses>& steps) {
  StepNumbers order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return live_bytes_in(buffers, steps, order);
}

std::vector<std::size_t> order_for_memory(const std::vector<Buffer>& buffers,
                                          const std::vector<StepUses>& steps) {
  DependenceGraph graph;
  DependenceBuilder<DependenceGraph> dependences(graph, buffers.size());
  for (const StepUses& step : steps) dependences.add({}, step.reads, step.writes);
  StepNumbers best(steps.size());
  std::iota(best.begin(), best.end(), std::size_t{0});
  std::uint64_t least = live_bytes_in(buffers, steps, best);
  for (StepNumbers& order :
       std::vector{list_scheduled(graph, buffers, steps), depth_first(graph)}) {
    const std::uint64_t bytes = live_bytes_in(buffers, steps, order);
    if (bytes >= least) continue;
    best = std::move(order);
    least = bytes;
  }
  return best;
}

}  // namespace superstep
