#pragma once

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edge_coloring.hpp>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "isa/timing.h"

namespace superstep::test {

/// Cycles of a phase of unicasts by edge colouring on Boost.Graph, as if all ways were as long as
/// the longest: transfers are edges between send ports and receive ports, those of one colour leave
/// together. Knows nothing of orders, gaps or pieces. For small phases.
inline std::uint64_t reference_length(const MachineConfig& machine,
                                      std::span<const Transfer> transfers) {
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                            boost::property<boost::edge_index_t, std::size_t>>;
  // The colouring of Boost takes simple graphs of equal edges: layers of the words of each pair.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> words;
  for (const Transfer& transfer : transfers) {
    for (const TransferEnd& to : transfer.destinations) {
      words[{index(transfer.source.tile), index(to.tile)}] += transfer.words;
    }
  }
  std::uint64_t rounds = 0, earliest = 0, latency = 0;
  for (const auto& [ends, unused] : words) {
    const TileId from{ends.first}, to{ends.second};
    latency = std::max(latency, exchange_latency(machine, from, to).value());
    earliest = std::max(
        {earliest, release_skew(machine, from).value() + 1, release_skew(machine, to).value() + 1});
  }
  while (!words.empty()) {
    Graph graph(2 * std::size_t{machine.tiles()});
    std::uint32_t least = words.begin()->second;
    for (const auto& [ends, count] : words) {
      boost::add_edge(ends.first, machine.tiles() + ends.second, boost::num_edges(graph), graph);
      least = std::min(least, count);
    }
    std::vector<std::size_t> colour(boost::num_edges(graph));
    const std::size_t colours = boost::edge_coloring(
        graph,
        boost::make_iterator_property_map(colour.begin(), boost::get(boost::edge_index, graph)));
    rounds += std::uint64_t{least} * colours;
    for (auto& [ends, count] : words) count -= least;
    std::erase_if(words, [](const auto& entry) { return entry.second == 0; });
  }
  return earliest + rounds + latency;
}

}  // namespace superstep::test
