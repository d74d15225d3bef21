#include "compiler/program/copy_buffers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

namespace superstep {
namespace {

/// Every interval begins and ends at 8 bytes.
constexpr std::uint32_t kWordBytes = 4;

std::uint32_t codelet_of(LoweredProgram& program) {
  const auto copies_words = [](const vertex::Vertex& vertex) {
    const auto* copy = std::get_if<vertex::CopyBoxes>(&vertex);
    return copy != nullptr && copy->element_bytes == kWordBytes;
  };
  const auto at = std::ranges::find_if(program.codelets, copies_words);
  const auto number = static_cast<std::uint32_t>(at - program.codelets.begin());
  if (at == program.codelets.end()) program.codelets.emplace_back(vertex::CopyBoxes{kWordBytes});
  return number;
}

}  // namespace

Superstep copy_buffers(LoweredProgram& program, const std::vector<BufferCopy>& copies,
                       const Origin& origin) {
  ComputeSet set{.name = origin.name,
                 .operation = origin.operation,
                 .source = origin.source,
                 .codelet = codelet_of(program),
                 .launches = {},
                 .reads = {},
                 .writes = {}};
  // What a tile copies: numbers of copies, and words.
  using Work = std::vector<std::pair<std::size_t, std::int64_t>>;
  std::map<TileId, Work> by_tile;
  for (std::size_t c = 0; c < copies.size(); ++c) {
    const Buffer& buffer = program.buffers[index(copies[c].from)];
    set.reads.push_back(copies[c].from);
    set.writes.push_back(copies[c].to);
    for (const Interval& interval : buffer.layout->intervals()) {
      for (const TileId tile : interval.tiles) {
        by_tile[tile].emplace_back(c, (buffer.bytes(interval) - buffer.read_past) / kWordBytes);
      }
    }
  }
  std::map<Work, VertexState> states;  // those of many tiles are equal
  for (const auto& [tile, work] : by_tile) {
    const auto [at, is_new] = states.try_emplace(work);
    if (is_new) {
      vertex::CopyBoxes::State state;
      for (const auto& [c, words] : work) {
        state.boxes.push_back({.to = StateWord::address(copies[c].to),
                               .from = StateWord::address(copies[c].from),
                               .sizes = {1, 1, words},
                               .to_strides = {0, 0, kWordBytes},
                               .from_strides = {0, 0, kWordBytes}});
      }
      at->second = state.words();
    }
    set.launches.push_back({tile, at->second});
  }
  Superstep superstep;
  superstep.computes.push_back(std::move(set));
  return superstep;
}

}  // namespace superstep
