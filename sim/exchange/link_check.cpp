#include "sim/exchange/link_check.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "isa/fabric.h"

namespace superstep {
namespace {

/// Words on links of a line, in times that are the same on all of its links: cycles less a hop
/// latency for each link before. Two of them are on one link in one cycle where they share links
/// and times.
struct OnLine {
  std::uint32_t line = 0;
  std::uint32_t first = 0, behind = 0;  ///< links of the line
  std::int64_t begin = 0, end = 0;
  const LinkedWords* words = nullptr;
};

/// The words of each tile together, those that go furthest first.
bool comes_before(const OnLine& a, const OnLine& b) {
  return std::tuple(a.line, a.first, a.words->source, b.behind, a.begin, a.words->destination) <
         std::tuple(b.line, b.first, b.words->source, a.behind, b.begin, b.words->destination);
}

/// The words on a line while its links are passed, as long as none clash: at most one word at each
/// time. Those of one tile are on one link of its tree at one offset, and have one first link of a
/// line: at the same time they are the same ones.
class LineSweep {
 public:
  /// Whether they clash with those that are there. They come as `comes_before` says.
  bool add(const OnLine& use) {
    std::int64_t begin = use.begin;
    auto at = there_.upper_bound(use.begin);
    if (at != there_.begin() && std::prev(at)->second.end > use.begin) --at;
    while (at != there_.end() && at->first < use.end) {
      if (at->second.behind <= use.first) {
        at = there_.erase(at);
        continue;
      }
      if (at->second.source != use.words->source) return true;
      if (begin < at->first) put(begin, at->first, use);
      begin = std::max(begin, at->second.end);
      ++at;
    }
    if (begin < use.end) put(begin, use.end, use);
    return false;
  }

 private:
  struct There {
    std::int64_t end = 0;
    std::uint32_t behind = 0;
    TileId source{};
  };

  void put(std::int64_t begin, std::int64_t end, const OnLine& use) {
    there_[begin] = {end, use.behind, use.words->source};
  }

  std::map<std::int64_t, There> there_;  ///< by begin
};

/// The clashes of lines, of which it keeps the earliest.
class Clashes {
 public:
  explicit Clashes(const MachineConfig& machine)
      : machine_(machine), hop_(machine.exchange.hop_latency) {}

  /// Looks at all pairs on a line.
  void find(std::vector<OnLine> uses) {
    std::ranges::sort(uses, {}, [&](const OnLine& use) {
      return std::tuple(cycle_at(use, use.first), use.words->source, use.words->destination);
    });
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (first_ && cycle_at(uses[i], uses[i].first) > first_->cycle) return;
      for (std::size_t j = 0; j < i; ++j) look_at(uses[j], uses[i]);
    }
  }
  [[nodiscard]] const std::optional<LinkClash>& first() const { return first_; }

 private:
  /// When the first word is on a link of the line.
  [[nodiscard]] std::uint64_t cycle_at(const OnLine& use, std::uint32_t link) const {
    return static_cast<std::uint64_t>(use.begin + hop_ * link);
  }

  void look_at(const OnLine& a, const OnLine& b) {
    if (a.words->source == b.words->source || a.end <= b.begin || b.end <= a.begin) return;
    const std::uint32_t number = std::max(a.first, b.first);
    if (number >= std::min(a.behind, b.behind)) return;
    const std::uint32_t link = link_of_line(machine_, a.line, number);
    const bool is_later = std::pair(a.begin, a.words->source) > std::pair(b.begin, b.words->source);
    const OnLine& one = is_later ? b : a;
    const OnLine& other = is_later ? a : b;
    const std::uint64_t cycle = cycle_at(other, number);
    if (first_ && std::pair(first_->cycle, first_->link) <= std::pair(cycle, link)) return;
    first_ = LinkClash{cycle, link, *one.words, *other.words};
  }

  const MachineConfig& machine_;
  std::int64_t hop_;
  std::optional<LinkClash> first_;
};

/// What each run of words uses of lines, in order.
std::vector<OnLine> uses_of(const MachineConfig& machine, std::span<const LinkedWords> words) {
  const std::int64_t hop = machine.exchange.hop_latency;
  std::vector<OnLine> uses;
  for (const LinkedWords& run : words) {
    for (const LineUse& use : lines_of_route(machine, run.source, run.destination)) {
      const std::int64_t shift = use.offset - hop * use.begin;
      uses.push_back({use.line, use.begin, use.end, static_cast<std::int64_t>(run.begin) + shift,
                      static_cast<std::int64_t>(run.end) + shift, &run});
    }
  }
  std::ranges::sort(uses, comes_before);
  return uses;
}

}  // namespace

std::optional<LinkClash> find_clash(const MachineConfig& machine,
                                    std::span<const LinkedWords> words) {
  const std::vector<OnLine> uses = uses_of(machine, words);
  Clashes clashes(machine);
  for (auto line = uses.begin(); line != uses.end();) {
    const auto end =
        std::find_if(line, uses.end(), [&](const OnLine& use) { return use.line != line->line; });
    LineSweep sweep;
    if (std::any_of(line, end, [&](const OnLine& use) { return sweep.add(use); })) {
      clashes.find({line, end});
    }
    line = end;
  }
  return clashes.first();
}

}  // namespace superstep
