#include "compiler/cost/exchange_estimate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "isa/timing.h"

namespace superstep {
namespace {

/// What one of the two exchange ports of a tile has to do.
struct PortLoad {
  std::uint64_t words = 0;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();  ///< when it can begin
  std::uint64_t path = 0;  ///< the longest from here to where words are needed

  [[nodiscard]] std::uint64_t end() const { return words == 0 ? 0 : first + words + path; }
};

/// By tile; one send serves all that want the same words.
std::vector<std::uint64_t> words_sent(std::uint32_t tiles, std::span<const Movement> movements) {
  struct Range {
    BufferId buffer;
    std::uint32_t byte, words;
    auto operator<=>(const Range&) const = default;
  };
  // Ranges by tile: a counting sort.
  std::vector<std::size_t> end(tiles + 1);
  for (const Movement& movement : movements) ++end[index(movement.source.tile) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<Range> ranges(movements.size());
  for (const Movement& movement : movements) {
    const Movement::End& from = movement.source;
    ranges[end[index(from.tile)]++] = {from.buffer, from.byte, movement.words};
  }
  std::vector<std::uint64_t> words(tiles);
  std::size_t begin = 0;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    const auto of_tile = std::span(ranges).subspan(begin, end[tile] - begin);
    begin = end[tile];
    if (!std::ranges::is_sorted(of_tile)) std::ranges::sort(of_tile);
    for (std::size_t i = 0; i < of_tile.size(); ++i) {
      if (i == 0 || of_tile[i] != of_tile[i - 1]) words[tile] += of_tile[i].words;
    }
  }
  return words;
}

}  // namespace

std::uint64_t estimate_exchange(const MachineConfig& machine, std::span<const Movement> movements) {
  std::vector<TilePlace> places;
  std::vector<std::uint64_t> release;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    places.push_back(place_of(machine, TileId{t}));
    release.push_back(release_skew(machine, TileId{t}).value());
  }
  std::vector<PortLoad> out(machine.tiles()), in(machine.tiles());
  const std::vector<std::uint64_t> words = words_sent(machine.tiles(), movements);
  for (const Movement& movement : movements) {
    const std::uint32_t from = index(movement.source.tile);
    PortLoad& sender = out[from];
    sender.words = words[from];
    sender.first = release[from];
    for (const Movement::End& end : movement.destinations) {
      const std::uint32_t to = index(end.tile);
      const std::uint64_t latency = exchange_latency(machine, places[from], places[to]).value();
      PortLoad& receiver = in[to];
      sender.path = std::max(sender.path, latency);
      receiver.words += movement.words;
      receiver.first = std::min(receiver.first, std::max(release[from] + latency, release[to]));
    }
  }
  std::uint64_t last = 0;
  for (const PortLoad& load : out) last = std::max(last, load.end());
  for (const PortLoad& load : in) last = std::max(last, load.end());
  return last;
}

}  // namespace superstep
