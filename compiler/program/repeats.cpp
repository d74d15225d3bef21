#include "compiler/program/repeats.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"

namespace superstep {
namespace {

/// A value may lie at one of two places by turns; then only every other time is equal [assumed:
/// longer periods have not been seen].
constexpr std::size_t kMostTurns = 4;

/// `times` times `period` equal hashes, from `begin` on.
struct Tandem {
  std::size_t begin = 0, period = 0, times = 0;

  [[nodiscard]] std::size_t end() const { return begin + period * times; }
};

class RepeatSearch {
 public:
  RepeatSearch(std::span<const std::uint64_t> hashes, RepeatKind kind)
      : hashes_(hashes), kind_(kind), prefix_{kFnv1aBasis}, power_{1} {
    for (const std::uint64_t hash : hashes) {
      prefix_.push_back(prefix_.back() * kFactor + hash);
      power_.push_back(power_.back() * kFactor);
    }
  }

  /// At each distance, maximal runs of what is equal at that distance. Distances times hashes are
  /// compared, which is quick: 0.7 % of the time to compile 2,000 reductions of unequal sizes for
  /// bow.
  std::vector<Repeat> run() {
    const std::size_t n = hashes_.size();
    const std::size_t farthest = kind_ == RepeatKind::kAny ? n : n / 2 + 1;
    for (std::size_t distance = 1; distance < farthest; ++distance) {
      for (std::size_t begin = 0; begin + distance < n;) {
        std::size_t end = begin;
        while (end + distance < n && hashes_[end] == hashes_[end + distance]) ++end;
        if (end > begin) add(begin, end - begin, distance);
        begin = end + 1;
      }
    }
    return std::move(repeats_);
  }

 private:
  static constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  ///< odd, of no pattern

  void add(std::size_t begin, std::size_t length, std::size_t distance) {
    if (kind_ == RepeatKind::kAny) add_all(begin, std::min(length, distance));
    const Tandem tandem{begin, distance, length / distance + 1};
    if (tandem.times == 1 || repeats_shorter(tandem)) return;
    tandems_.push_back(tandem);
    Repeat& repeat = repeats_.emplace_back(Repeat{{}, distance});
    for (std::size_t time = 0; time < tandem.times; ++time) {
      repeat.begins.push_back(begin + time * distance);
    }
  }

  /// Whether one that is there has so many times that this one says nothing new.
  [[nodiscard]] bool repeats_shorter(const Tandem& tandem) const {
    return std::ranges::any_of(tandems_, [&](const Tandem& other) {
      return other.begin <= tandem.begin && tandem.period > kMostTurns * other.period &&
             tandem.period % other.period == 0 && tandem.end() <= other.end() + other.period;
    });
  }

  /// All places of a sequence.
  void add_all(std::size_t begin, std::size_t length) {
    const std::uint64_t hash = hash_of(begin, length);
    if (!seen_.emplace(length, hash).second) return;
    Repeat repeat{{}, length};
    for (std::size_t at = 0; at + length <= hashes_.size();) {
      const bool is_equal = hashes_[at] == hashes_[begin] && hash_of(at, length) == hash;
      if (is_equal) repeat.begins.push_back(at);
      at += is_equal ? length : 1;
    }
    if (repeat.times() > 1) repeats_.push_back(std::move(repeat));
  }

  [[nodiscard]] std::uint64_t hash_of(std::size_t begin, std::size_t length) const {
    return prefix_[begin + length] - prefix_[begin] * power_[length];
  }

  std::span<const std::uint64_t> hashes_;
  RepeatKind kind_;
  std::vector<std::uint64_t> prefix_, power_;
  std::vector<Tandem> tandems_;
  std::set<std::pair<std::size_t, std::uint64_t>> seen_;  ///< lengths and hashes of sequences
  std::vector<Repeat> repeats_;
};

}  // namespace

std::vector<Repeat> repeats_of(std::span<const std::uint64_t> hashes, RepeatKind kind) {
  return RepeatSearch(hashes, kind).run();
}

}  // namespace superstep
