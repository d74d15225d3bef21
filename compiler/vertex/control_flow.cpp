#include "compiler/vertex/control_flow.h"

#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <set>
#include <utility>

namespace superstep::vertex {
namespace {

using Item = WorkerCode::Item;
using Block = ControlFlow::vertex_descriptor;

/// What a block reads before it writes it, and what it writes.
struct Uses {
  std::vector<bool> read, written;
};

Uses uses_of(const BasicBlock& block, const std::vector<Item>& items, std::size_t registers) {
  Uses uses{std::vector<bool>(registers), std::vector<bool>(registers)};
  const auto for_each_register = [](const Item& item, const auto& visit) {
    for (const Instruction& part : item.parts) {
      for (const Arg& arg : part.args) {
        if (arg.is_virtual()) visit(arg);
      }
    }
  };
  for (std::size_t i = block.first; i <= block.last; ++i) {
    for_each_register(items[i], [&](const Arg& arg) {
      if (arg.kind != Arg::Kind::kDef && !uses.written[arg.reg.id]) uses.read[arg.reg.id] = true;
    });
    for_each_register(items[i], [&](const Arg& arg) {
      if (arg.is_written()) uses.written[arg.reg.id] = true;
    });
  }
  return uses;
}

/// Blocks after those that may follow them, but for loops.
std::vector<Block> post_order(const ControlFlow& flow) {
  struct Visitor : boost::default_dfs_visitor {
    explicit Visitor(std::vector<Block>& blocks) : order(blocks) {}
    void finish_vertex(Block block, const ControlFlow&) { order.push_back(block); }
    std::vector<Block>& order;
  };
  std::vector<Block> order;
  boost::depth_first_search(flow, boost::visitor(Visitor(order)));
  return order;
}

}  // namespace

ControlFlow control_flow(const std::vector<Item>& items, std::uint32_t labels) {
  ControlFlow flow;
  std::vector<Block> block_of_label(labels, 0);
  bool is_open = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const bool begins = !is_open || item.kind == Item::Kind::kLabel;
    const Block block = begins ? add_vertex(BasicBlock{i, i}, flow) : num_vertices(flow) - 1;
    flow[block].last = i;
    if (item.kind == Item::Kind::kLabel) block_of_label[item.label] = block;
    is_open = !item.ends_block() && item.kind != Item::Kind::kRepeat &&
              item.kind != Item::Kind::kEndRepeat;
  }
  const std::size_t blocks = num_vertices(flow);
  const auto follow = [&](Block before, Block after) {
    if (after < blocks) add_edge(before, after, flow);
  };
  for (Block block = 0; block < blocks; ++block) {
    const Item& last = items[flow[block].last];
    const bool is_code = last.kind == Item::Kind::kCode;
    if (!is_code || !last.parts[0].never_falls_through()) follow(block, block + 1);
    const auto target = last.target();
    // A subroutine comes back and keeps all registers.
    if (target && !last.parts[0].is_call()) follow(block, block_of_label[*target]);
    if (last.kind == Item::Kind::kRepeat) follow(block, block + 2);  // no turn
    if (last.kind == Item::Kind::kEndRepeat) follow(block, block);
  }
  return flow;
}

std::vector<std::uint32_t> loop_depths(const ControlFlow& flow) {
  std::vector<std::uint32_t> depths(num_vertices(flow), 0);
  if (depths.empty()) return depths;
  constexpr Block kNone = ~Block{0};
  std::vector<Block> dominators(num_vertices(flow), kNone);
  boost::lengauer_tarjan_dominator_tree(
      flow, Block{0},
      boost::make_iterator_property_map(dominators.begin(), get(boost::vertex_index, flow)));
  const auto dominates = [&](Block above, Block block) {
    while (block != above && block != kNone) block = dominators[block];
    return block == above;
  };
  for (auto [edge, end] = edges(flow); edge != end; ++edge) {
    const Block header = target(*edge, flow);
    if (!dominates(header, source(*edge, flow))) continue;
    std::set<Block> loop{header};
    std::vector<Block> open{source(*edge, flow)};
    while (!open.empty()) {
      const Block block = open.back();
      open.pop_back();
      if (!loop.insert(block).second) continue;
      for (auto [in, last] = in_edges(block, flow); in != last; ++in) {
        open.push_back(source(*in, flow));
      }
    }
    for (const Block block : loop) ++depths[block];
  }
  return depths;
}

std::vector<LiveRegisters> live_registers(const ControlFlow& flow, const std::vector<Item>& items,
                                          std::size_t registers) {
  std::vector<Uses> uses;
  std::vector<LiveRegisters> live(num_vertices(flow));
  for (Block block = 0; block < live.size(); ++block) {
    uses.push_back(uses_of(flow[block], items, registers));
    live[block] = {uses[block].read, std::vector<bool>(registers)};
  }
  const std::vector<Block> order = post_order(flow);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block block : order) {
      auto& [in, out] = live[block];
      for (auto [edge, end] = out_edges(block, flow); edge != end; ++edge) {
        const std::vector<bool>& next = live[target(*edge, flow)].in;
        for (std::size_t r = 0; r < registers; ++r) {
          if (!next[r] || out[r]) continue;
          changed = out[r] = true;
          if (!uses[block].written[r]) in[r] = true;
        }
      }
    }
  }
  return live;
}

}  // namespace superstep::vertex
