#include "sim/exchange/link_check.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "isa/fabric.h"

namespace superstep {
namespace {

/// Words while they are on a link.
struct OnLink {
  std::uint32_t link = 0;
  std::uint64_t begin = 0, end = 0;
  const LinkedWords* words = nullptr;
};

/// Words of one tile are on a link of its tree at one offset: at the same time only the same ones.
bool clash(const OnLink& a, const OnLink& b) {
  return a.link == b.link && b.begin < a.end && a.words->source != b.words->source;
}

}  // namespace

std::optional<LinkClash> find_clash(const MachineConfig& machine,
                                    std::span<const LinkedWords> words) {
  std::vector<OnLink> uses;
  std::map<std::pair<TileId, TileId>, Route> routes;
  for (const LinkedWords& run : words) {
    const auto [found, is_new] = routes.try_emplace({run.source, run.destination});
    if (is_new) found->second = route(machine, run.source, run.destination);
    for (const LinkUse& use : found->second.links)
      uses.push_back({use.link, run.begin + use.offset, run.end + use.offset, &run});
  }
  std::ranges::sort(uses, {}, [](const OnLink& use) {
    return std::tuple(use.link, use.begin, use.words->source, use.end);
  });
  std::optional<LinkClash> first;
  // Of those that began before, the one that ends last of its source, and the last of any other.
  const OnLink* last = nullptr;
  const OnLink* other = nullptr;
  for (const OnLink& use : uses) {
    if (last != nullptr && last->link != use.link) last = other = nullptr;
    for (const OnLink* before : {last, other}) {
      if (before == nullptr || !clash(*before, use)) continue;
      if (!first || use.begin < first->cycle)
        first = LinkClash{use.begin, use.link, *before->words, *use.words};
    }
    if (last == nullptr || last->words->source == use.words->source) {
      if (last == nullptr || use.end > last->end) last = &use;
    } else if (use.end >= last->end) {
      other = std::exchange(last, &use);
    } else if (other == nullptr || use.end > other->end) {
      other = &use;
    }
  }
  return first;
}

}  // namespace superstep
