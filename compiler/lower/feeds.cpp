#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/block_lowering.h"
#include "compiler/ops/feeds.h"
#include "compiler/ops/verify.h"

namespace superstep {
namespace {

/// The visit of the op.
std::uint32_t add_visit(BlockLowering& block, const Op& op, std::uint32_t superstep,
                        std::vector<Feed> feeds) {
  Origin origin = block.values.origin(op);
  return block.builder.add_control(
      superstep, Superstep{.moved_for = {{std::move(origin.name), std::move(origin.operation),
                                          std::move(origin.source)}},
                           .movements = {},
                           .computes = {},
                           .feeds = std::move(feeds)});
}

std::uint32_t stream_of(const Op& op, std::size_t tensor) {
  return static_cast<std::uint32_t>(attribute<Indices>(op, kStreamsAttribute).at(tensor));
}

}  // namespace

void lower_infeed(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  std::vector<Feed> feeds;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = op.results[i];
    Feed& feed = feeds.emplace_back(Feed{.is_in = true, .stream = stream_of(op, i), .buffer = {}});
    if (values.elements(result) == 0) continue;
    feed.buffer = values.add_storage(result, values.assigned().of(result));
  }
  if (feeds.empty()) return;
  const std::uint32_t superstep = add_visit(block, op, 0, feeds);
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (feeds[i].buffer) values.set_stored(op.results[i], *feeds[i].buffer, {superstep, 0});
  }
}

void lower_outfeed(BlockLowering& block, const Op& op) {
  Values& values = block.values;
  std::uint32_t superstep = 0;
  std::vector<Feed> feeds;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    Feed& feed = feeds.emplace_back(Feed{.is_in = false, .stream = stream_of(op, i), .buffer = {}});
    if (values.elements(operand) == 0) continue;
    feed.buffer = values.stored(operand);
    superstep = std::max(superstep, values.time(operand).superstep + 1);
  }
  if (!feeds.empty()) add_visit(block, op, superstep, std::move(feeds));
}

}  // namespace superstep
