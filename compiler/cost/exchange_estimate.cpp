#include "compiler/cost/exchange_estimate.h"

#include <algorithm>
#include <limits>
#include <utility>
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

}  // namespace

std::uint64_t estimate_exchange(const MachineConfig& machine, std::span<const Movement> movements) {
  std::vector<TilePlace> places;
  std::vector<std::uint64_t> release;
  for (std::uint32_t t = 0; t < machine.tiles(); ++t) {
    places.push_back(place_of(machine, TileId{t}));
    release.push_back(release_skew(machine, TileId{t}).value());
  }
  // One send serves all that want the same words.
  struct Sent {
    Movement::End from;
    std::uint32_t words;
    const Movement* movement;
  };
  std::vector<Sent> ordered;
  ordered.reserve(movements.size());
  for (const Movement& movement : movements) {
    ordered.push_back({movement.source, movement.words, &movement});
  }
  const auto range = [](const Sent& sent) { return std::pair(sent.from, sent.words); };
  std::ranges::sort(ordered, {}, range);
  std::vector<PortLoad> out(machine.tiles()), in(machine.tiles());
  const Sent* before = nullptr;
  for (const Sent& sent : ordered) {
    const std::uint32_t from = index(sent.from.tile);
    PortLoad& sender = out[from];
    if (before == nullptr || range(*before) != range(sent)) sender.words += sent.words;
    before = &sent;
    sender.first = std::min(sender.first, release[from]);
    for (const Movement::End& end : sent.movement->destinations) {
      const std::uint32_t to = index(end.tile);
      const std::uint64_t latency = exchange_latency(machine, places[from], places[to]).value();
      PortLoad& receiver = in[to];
      sender.path = std::max(sender.path, latency);
      receiver.words += sent.words;
      receiver.first = std::min(receiver.first, std::max(release[from] + latency, release[to]));
    }
  }
  std::uint64_t last = 0;
  for (const PortLoad& load : out) last = std::max(last, load.end());
  for (const PortLoad& load : in) last = std::max(last, load.end());
  return last;
}

}  // namespace superstep
