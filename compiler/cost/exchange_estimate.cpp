#include "compiler/cost/exchange_estimate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "isa/fabric.h"
#include "isa/timing.h"

namespace superstep {
namespace {

/// What one of the two exchange ports of a tile, or a link, has to do.
struct Load {
  std::uint64_t cycles = 0;                                         ///< of words
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();  ///< when it can begin
  std::uint64_t path = 0;  ///< the longest from here to where words are needed

  [[nodiscard]] std::uint64_t end() const { return cycles == 0 ? 0 : first + cycles + path; }
};

/// The same words for several: one send.
struct Range {
  BufferId buffer;
  std::uint32_t byte, words;
  const Movement* movement;

  [[nodiscard]] auto key() const { return std::tuple(buffer, byte, words); }
};

/// Calls `send(tile, movements of equal ranges)` for each tile in turn.
void for_each_send(std::uint32_t tiles, std::span<const Movement> movements, auto send) {
  // Ranges by tile: a counting sort.
  std::vector<std::size_t> end(tiles + 1);
  for (const Movement& movement : movements) ++end[index(movement.source.tile) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<Range> ranges(movements.size());
  for (const Movement& movement : movements) {
    const Movement::End& from = movement.source;
    ranges[end[index(from.tile)]++] = {from.buffer, from.byte, movement.words, &movement};
  }
  std::size_t begin = 0;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    const auto of_tile = std::span(ranges).subspan(begin, end[tile] - begin);
    begin = end[tile];
    if (!std::ranges::is_sorted(of_tile, {}, &Range::key)) {
      std::ranges::sort(of_tile, {}, &Range::key);
    }
    for (auto first = of_tile.begin(); first != of_tile.end();) {
      const auto last = std::find_if(first, of_tile.end(),
                                     [&](const Range& r) { return r.key() != first->key(); });
      send(tile, std::span(first, last));
      first = last;
    }
  }
}

/// What the links carry; a word that several tiles want is on each link once.
class LinkLoads {
 public:
  explicit LinkLoads(const MachineConfig& machine)
      : machine_(machine), loads_(number_of_links(machine)) {}

  void add(TileId source, std::uint64_t begin, std::uint64_t cycles,
           std::span<const Range> ranges) {
    uses_.clear();
    for (const Range& range : ranges) {
      for (const Movement::End& end : range.movement->destinations) {
        const Route way = route(machine_, source, end.tile);
        for (const LinkUse& use : way.links) {
          Load& load = loads_[use.link];
          load.first = std::min(load.first, begin + use.offset);
          load.path = std::max(load.path, way.latency.value() - use.offset);
          uses_.push_back(use.link);
        }
      }
    }
    std::ranges::sort(uses_);
    uses_.erase(std::unique(uses_.begin(), uses_.end()), uses_.end());
    for (const std::uint32_t link : uses_) loads_[link].cycles += cycles;
  }

  [[nodiscard]] const std::vector<Load>& all() const { return loads_; }

 private:
  const MachineConfig& machine_;
  std::vector<Load> loads_;
  std::vector<std::uint32_t> uses_;  ///< scratch
};

}  // namespace

std::uint64_t estimate_exchange(const MachineConfig& machine, std::span<const Movement> movements) {
  std::vector<TilePlace> places;
  std::vector<std::uint64_t> release;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    places.push_back(place_of(machine, TileId{t}));
    release.push_back(release_skew(machine, TileId{t}).value());
  }
  std::vector<Load> out(machine.tiles()), in(machine.tiles());
  LinkLoads links(machine);
  const ExchangeItem item(machine);
  for_each_send(machine.tiles(), movements, [&](std::uint32_t tile, std::span<const Range> same) {
    const std::uint64_t cycles = item.cycles_of(same.front().words);
    out[tile].cycles += cycles;
    if (has_links(machine)) links.add(TileId{tile}, release[tile], cycles, same);
  });
  for (const Movement& movement : movements) {
    const std::uint32_t from = index(movement.source.tile);
    Load& sender = out[from];
    sender.first = release[from];
    for (const Movement::End& end : movement.destinations) {
      const std::uint32_t to = index(end.tile);
      const std::uint64_t latency = exchange_latency(machine, places[from], places[to]).value();
      Load& receiver = in[to];
      sender.path = std::max(sender.path, latency);
      receiver.cycles += item.cycles_of(movement.words);
      receiver.first = std::min(receiver.first, std::max(release[from] + latency, release[to]));
    }
  }
  std::uint64_t last = 0;
  const auto wait_for = [&](const std::vector<Load>& loads) {
    for (const Load& load : loads) last = std::max(last, load.end());
  };
  wait_for(out);
  wait_for(in);
  wait_for(links.all());
  return last;
}

}  // namespace superstep
