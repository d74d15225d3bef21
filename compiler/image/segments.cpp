#include "compiler/image/segments.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

namespace superstep {
namespace {

/// Segments of equal bytes at equal addresses become one.
class Segments {
 public:
  void add(TileId tile, std::uint32_t address, std::vector<std::uint8_t> bytes) {
    if (!bytes.empty()) by_content_[{address, std::move(bytes)}].push_back(tile);
  }
  void take(std::vector<Segment>& segments) {
    while (!by_content_.empty()) {
      auto first = by_content_.extract(by_content_.begin());
      // Intervals of a constant may be on tiles in any order.
      std::ranges::sort(first.mapped());
      segments.push_back(
          {std::move(first.mapped()), first.key().first, std::move(first.key().second)});
    }
  }

 private:
  std::map<std::pair<std::uint32_t, std::vector<std::uint8_t>>, std::vector<TileId>> by_content_;
};

static_assert(std::endian::native == std::endian::little, "words are kept as they are");

std::vector<std::uint8_t> bytes_of(const std::vector<std::uint32_t>& words) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return {bytes, bytes + words.size() * sizeof(std::uint32_t)};
}

}  // namespace

std::vector<CodeletPlace> codelet_places(std::span<const TileProgram> tiles) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<TileId>> tiles_by_place;
  for (const TileProgram& t : tiles) {
    for (std::uint32_t c = 0; c < t.codelets.size(); ++c) {
      if (t.codelets[c] != 0) tiles_by_place[{c, t.codelets[c]}].push_back(t.tile);
    }
  }
  std::vector<CodeletPlace> places;
  for (auto& [place, of_tiles] : tiles_by_place) {
    places.push_back({std::move(of_tiles), place.second, place.first});
  }
  return places;
}

std::vector<Segment> segments_of(const LoweredProgram& program, std::span<const TileProgram> tiles,
                                 BufferId states, const CodeletLibrary& library,
                                 const Storage& storage) {
  Segments codelets, state, code, constants;
  for (const TileProgram& t : tiles) {
    for (std::size_t c = 0; c < t.codelets.size(); ++c) {
      if (t.codelets[c] == 0) continue;
      codelets.add(t.tile, t.codelets[c],
                   bytes_of(vertex::place(library.codelets()[c], t.codelets[c])));
    }
    if (t.state_bytes > 0) {
      const std::uint32_t at = storage.address(states, t.tile);
      state.add(t.tile, at, bytes_of(state_words(t, at, library, storage)));
    }
    code.add(t.tile, t.code, bytes_of(t.words));
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.contents.empty()) continue;
    for (const Interval& interval : buffer.layout->intervals()) {
      const auto* data = reinterpret_cast<const std::uint8_t*>(buffer.contents.data());
      const auto begin = interval.begin * buffer.element_bytes;
      const auto end = interval.end() * buffer.element_bytes;
      for (const TileId tile : interval.tiles) {
        const std::uint32_t address = storage.address(BufferId{b}, tile);
        if (address != 0) constants.add(tile, address, {data + begin, data + end});
      }
    }
  }
  std::vector<Segment> segments;
  codelets.take(segments);
  state.take(segments);
  code.take(segments);
  constants.take(segments);
  return segments;
}

}  // namespace superstep
