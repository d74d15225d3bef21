#include "report/common_subsequence.h"

#include <algorithm>

namespace superstep {

std::vector<std::pair<std::size_t, std::size_t>> common_subsequence(std::size_t before,
                                                                    std::size_t after,
                                                                    const PairWorth& worth) {
  // From the last elements to the first, so that the way back has the earliest pairs.
  enum : std::uint8_t { kPair = 1, kSkipBefore = 2, kRun = 4 };
  const std::size_t width = after + 1;
  std::vector<std::uint8_t> choice((before + 1) * width);
  // Of the row below and of this one: the most of all, and of those that begin with a pair.
  std::vector<std::uint64_t> best(width), begun(width), best_below(width), begun_below(width);
  for (std::size_t a = before; a-- > 0;) {
    std::swap(best, best_below);
    std::swap(begun, begun_below);
    best[after] = begun[after] = 0;
    for (std::size_t b = after; b-- > 0;) {
      std::uint8_t& chosen = choice[a * width + b];
      begun[b] = 0;
      if (const std::uint32_t own = worth(a, b); own != 0) {
        const std::uint64_t run = begun_below[b + 1] == 0 ? 0 : begun_below[b + 1] + 1;
        if (run >= best_below[b + 1] && run != 0) chosen |= kRun;
        begun[b] = own + std::max(run, best_below[b + 1]);
      }
      best[b] = std::max({begun[b], best_below[b], best[b + 1]});
      if (begun[b] == best[b] && begun[b] != 0) {
        chosen |= kPair;
      } else if (best_below[b] == best[b]) {
        chosen |= kSkipBefore;
      }
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  bool is_run = false;
  for (std::size_t a = 0, b = 0; a < before && b < after;) {
    const std::uint8_t chosen = choice[a * width + b];
    if (is_run || (chosen & kPair) != 0) {
      pairs.emplace_back(a++, b++);
      is_run = (chosen & kRun) != 0;
    } else if ((chosen & kSkipBefore) != 0) {
      ++a;
    } else {
      ++b;
    }
  }
  return pairs;
}

}  // namespace superstep
