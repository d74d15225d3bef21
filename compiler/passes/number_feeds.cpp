#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ops/feeds.h"
#include "compiler/ops/op.h"
#include "compiler/passes/feeds.h"
#include "compiler/passes/rewrite.h"

namespace superstep {
namespace {

/// Ops that move tensors of the same types in one direction through one channel take turns at one
/// queue of the host.
struct Queue {
  bool is_in = false;
  std::int64_t channel = 0;
  std::vector<TensorType> types;
  std::int64_t first = 0;  ///< stream of the first tensor
};

class FeedNumbering {
 public:
  Graph run(const Graph& graph) {
    Rewrite rewrite(graph);
    for (const Op& op : graph.ops()) {
      Op copy = rewrite.translated(op);
      for (Graph& region : copy.regions) region = run(region);
      if (op.definition->traits.effect == Effect::kHost) number(op, graph, copy);
      rewrite.add(op, std::move(copy));
    }
    return rewrite.finish();
  }

  FeedTypes types;

 private:
  void number(const Op& op, const Graph& graph, Op& copy) {
    Queue queue{.is_in = op.operands.empty(), .channel = channel_of(op), .types = {}};
    for (const ValueId v : queue.is_in ? op.results : op.operands) {
      queue.types.push_back(graph.type(v));
    }
    const auto same = std::ranges::find_if(queues_, [&](const Queue& other) {
      return std::tie(other.is_in, other.channel, other.types) ==
             std::tie(queue.is_in, queue.channel, queue.types);
    });
    if (same == queues_.end()) {
      std::vector<TensorType>& numbered = queue.is_in ? types.in : types.out;
      queue.first = std::ssize(numbered);
      numbered.insert(numbered.end(), queue.types.begin(), queue.types.end());
      queues_.push_back(queue);
    } else {
      queue.first = same->first;
    }
    std::vector<std::int64_t> streams;
    for (std::int64_t i = 0; i < std::ssize(queue.types); ++i) streams.push_back(queue.first + i);
    copy.attributes.insert_or_assign(std::string(kStreamsAttribute), std::move(streams));
  }

  std::vector<Queue> queues_;
};

}  // namespace

FeedTypes number_feeds(Graph& graph) {
  if (std::ranges::none_of(graph.ops(), has_effect)) return {};
  FeedNumbering numbering;
  graph = numbering.run(graph);
  return std::move(numbering.types);
}

}  // namespace superstep
