// A few of many are in few blocks: each of the k least is in one of the k blocks whose least words
// are below those of the others. These are found alike, so that few words are left to choose from.

#include "compiler/lower/select_words.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/divide.h"
#include "compiler/cost/costs.h"
#include "compiler/ops/take.h"

namespace superstep {
namespace {

/// Estimated cycles of the parts of a selection from rows in so many batches. Slots are those of
/// all launches together [measured on bow: of pairs and choices among 500 and 128 words, of turns
/// in 1,024 rows of 1,024, of words of 32,000].
class SelectionCosts {
 public:
  SelectionCosts(const MachineConfig& machine, std::int64_t batches, std::int64_t count)
      : costs_(machine), tiles_(machine.tiles()), batches_(batches), count_(count) {}

  /// To compare all pairs of a row.
  [[nodiscard]] std::int64_t by_rank(std::int64_t row) const {
    return steps(5, 9, kSlotsOfPair * row * row + kSlotsOfChoice * count_ * row);
  }
  /// One turn after the other.
  [[nodiscard]] std::int64_t one_by_one(std::int64_t row) const {
    return count_ * steps(6, 12, kSlotsOfTurn * row);
  }
  /// To find the least of each block, and to take the best blocks from tables, of which a tile has
  /// one column or more.
  [[nodiscard]] std::int64_t blocks(std::int64_t row, std::int64_t length) const {
    return steps(4, 6, kSlotsOfWord * row) +
           costs_.moved(divide_up(row, std::min(length, kMostColumns)));
  }

 private:
  static constexpr std::int64_t kSlotsOfPair = 30, kSlotsOfChoice = 15, kSlotsOfTurn = 28,
                                kSlotsOfWord = 6;

  /// Blocks of 32 words take as long as those of 16 [measured].
  static constexpr std::int64_t kMostColumns = 16;

  /// Phases, launches, and slots of each row, which tiles share.
  [[nodiscard]] std::int64_t steps(std::int64_t phases, std::int64_t launches,
                                   std::int64_t slots) const {
    return phases * costs_.phase() + launches * costs_.launch() +
           divide_up(batches_ * slots, tiles_);
  }

  Costs costs_;
  std::int64_t tiles_, batches_, count_;
};

/// How to select from rows of a length.
struct Selection {
  std::int64_t cycles = std::numeric_limits<std::int64_t>::max();
  std::int64_t block = 1;  ///< length of the blocks of which the best are taken first; 1: none
};

class SelectionPlanner {
 public:
  SelectionPlanner(const MachineConfig& machine, std::int64_t batches, std::int64_t count)
      : costs_(machine, batches, count), count_(count) {}

  [[nodiscard]] bool goes_by_rank(std::int64_t row) const {
    return costs_.by_rank(row) <= costs_.one_by_one(row);
  }
  const Selection& of(std::int64_t row) {
    const auto [at, is_new] = known_.try_emplace(row);
    if (!is_new) return at->second;
    Selection best{.cycles = directly(row)};
    for (std::int64_t least = 2; count_ * least < row; least *= 2) {
      const std::int64_t block = block_of(row, least);
      const std::int64_t rest = costs_.blocks(row, block) + directly(count_ * block);
      const std::int64_t cycles = rest + of(divide_up(row, block)).cycles;
      if (cycles < best.cycles) best = {cycles, block};
    }
    return at->second = best;
  }

 private:
  [[nodiscard]] std::int64_t directly(std::int64_t row) const {
    return std::min(costs_.by_rank(row), costs_.one_by_one(row));
  }
  /// A length from `least` on that divides rows, if it is not much more.
  static std::int64_t block_of(std::int64_t row, std::int64_t least) {
    for (std::int64_t block = least; block < 2 * least; ++block) {
      if (row % block == 0) return block;
    }
    return least;
  }

  SelectionCosts costs_;
  std::int64_t count_;
  std::map<std::int64_t, Selection> known_;
};

class Selector {
 public:
  Selector(SelectionPlanner& planner, std::int64_t count) : planner_(planner), count_(count) {}

  /// Of [batch][word].
  [[nodiscard]] Candidates from_rows(Tensor words) const {
    const Candidates all{words, words.builder->iota(words.type(), 1), words.shape()[1]};
    const std::int64_t block = planner_.of(words.shape()[1]).block;
    const Candidates rest = block > 1 ? of_best_blocks(all, block) : all;
    return planner_.goes_by_rank(rest.keys.shape()[1]) ? by_rank(rest)
                                                       : least_one_by_one(rest, count_);
  }

 private:
  [[nodiscard]] Candidates of_best_blocks(const Candidates& all, std::int64_t length) const {
    GraphBuilder& builder = *all.keys.builder;
    const std::int64_t batches = all.keys.shape()[0], row = all.keys.shape()[1];
    const std::int64_t blocks = divide_up(row, length);
    const std::int64_t more = blocks * length - row;
    const Tensor none = last_key(builder, DType::kI32);
    const std::vector<Tensor> parts = {all.keys, broadcast(none, {batches, more}, {})};
    const Tensor padded = more == 0 ? all.keys : concatenate(parts, 1);
    const Tensor words = reshape(padded, {batches, blocks, length});
    const Tensor best = from_rows(least(words, none)).places;
    Op take;
    const bool is_one = batches == 1;
    const Shape table = is_one ? Shape{blocks, length} : Shape{batches, blocks, length};
    const Table indexed = is_one ? Table{table, {}, {0}} : Table{table, {0}, {1}};
    take.attributes = table_attributes(indexed, 1);
    const Tensor taken = builder.apply(
        kTakeOp, {reshape(words, table), is_one ? reshape(best, {count_}) : best}, std::move(take));
    const Shape shape{batches, count_, length};
    const Tensor places = broadcast(best * best.like(static_cast<double>(length)), shape, {0, 1}) +
                          builder.iota({DType::kI32, shape}, 2);
    const Shape rest{batches, count_ * length};
    return {reshape(taken, rest), reshape(places, rest), blocks * length};
  }

  /// By how many go in front of each.
  [[nodiscard]] Candidates by_rank(const Candidates& all) const {
    GraphBuilder& builder = *all.keys.builder;
    const std::int64_t batches = all.keys.shape()[0], row = all.keys.shape()[1];
    const Shape pairs{batches, row, row};
    const auto spread = [&](Tensor x, std::int64_t dimension) {
      return broadcast(x, pairs, {0, dimension});
    };
    const Tensor word = spread(all.keys, 1), other = spread(all.keys, 2);
    const Tensor is_lower = compare("LT", spread(all.places, 2), spread(all.places, 1));
    const Tensor goes = compare("LT", other, word) | (compare("EQ", other, word) & is_lower);
    // As words, which take fewer slots than bytes.
    const Tensor one = broadcast(builder.number(DType::kI32, 1), pairs, {});
    const Tensor rank = sum(select(goes, one, one.like(0)), {2});

    const Shape shape{batches, count_, row};
    const auto for_each = [&](Tensor x) { return broadcast(x, shape, {0, 2}); };
    const Tensor is_it = compare("EQ", for_each(rank), builder.iota({DType::kI32, shape}, 1));
    const Tensor none = last_key(builder, DType::kI32);
    const auto chosen = [&](Tensor x) {
      return least(select(is_it, for_each(x), broadcast(none, shape, {})), none);
    };
    return {chosen(all.keys), chosen(all.places), all.places_end};
  }

  SelectionPlanner& planner_;
  std::int64_t count_;
};

}  // namespace

std::optional<Candidates> select_words(Tensor words, std::int64_t count, std::int64_t most_cycles,
                                       const MachineConfig& machine) {
  SelectionPlanner planner(machine, words.shape()[0], count);
  if (planner.of(words.shape()[1]).cycles >= most_cycles) return std::nullopt;
  return Selector(planner, count).from_rows(words);
}

}  // namespace superstep
