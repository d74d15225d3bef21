#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/divide.h"
#include "compiler/cost/launch_costs.h"
#include "compiler/lower/merge_by_columns.h"
#include "compiler/lower/select_words.h"
#include "compiler/ops/merge_sort.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/sorting_network.h"
#include "compiler/ops/step_lowerings.h"
#include "compiler/ops/verify.h"
#include "compiler/vertex/merge.h"

namespace superstep {
namespace {

class MergeCosts {
 public:
  MergeCosts(const MachineConfig& machine, const Shape& shape)
      : machine_(machine),
        costs_(machine),
        words_(shape[2]),
        share_(std::max(Costs::kLeastPerTile / words_,
                        divide_up(shape[0] * shape[1], std::int64_t{machine.tiles()}))),
        launch_(machine, vertex::Merge{static_cast<std::uint32_t>(words_)}.code(machine)) {}

  /// To sort the runs that are merged [slots measured on bow with 1,024 rows of 1,024 keys of two
  /// words].
  [[nodiscard]] std::int64_t runs() const {
    constexpr std::int64_t kSlotsOfWord = 58;
    return kSlotsOfWord * words_ * share_;
  }
  /// Keys that a tile makes.
  [[nodiscard]] std::int64_t share() const { return share_; }
  /// Of rows of so many keys, which come as so many transfers.
  [[nodiscard]] std::int64_t cycles(std::int64_t length, std::int64_t transfers) const {
    const vertex::Merge::State state{
        .rows = {}, .length = length, .to = {}, .count = std::min(share_, length)};
    return costs_.phase() + costs_.port(length * words_, transfers) + launch_.cycles(state.words());
  }
  [[nodiscard]] std::int64_t by_columns(std::int64_t length, std::int64_t columns) const {
    const std::int64_t lines = length / columns;
    return cycles(lines, lines) + cycles(2 * columns, 2 * columns) + cycles(2 * columns, 2);
  }
  /// Bytes of code on a tile that this takes: keys move one by one twice, to it and from it.
  [[nodiscard]] std::int64_t code_by_columns(std::int64_t length, std::int64_t columns) const {
    const std::int64_t lines = length / columns;
    return (std::max(share_, lines) + std::max(share_, 2 * columns)) * Costs::kReceiveRowBytes +
           2 * share_ * Costs::kSendRowBytes;
  }
  /// Whether a tile has room for a row, and for what else lives.
  [[nodiscard]] bool fits(std::int64_t length) const {
    constexpr std::int64_t kPart = 3;  // [assumed]
    return length * words_ * 4 <= machine_.tile.memory_bytes / kPart;
  }

 private:
  const MachineConfig& machine_;
  Costs costs_;
  std::int64_t words_, share_;
  LaunchCosts launch_;
};

/// By length, the columns by which merges are done that are not done directly, and what all take.
struct MergePlan {
  std::map<std::int64_t, std::int64_t> columns = {};
  std::int64_t cycles = 0;
};
/// Nothing where merges would not fit.
std::optional<MergePlan> plan_merges(const MachineConfig& machine, const Shape& rows,
                                     std::int64_t words) {
  const MergeRuns runs(rows[1]);
  const MergeCosts costs(machine, {rows[0], runs.rows(), words});
  // What else there is needs code as well, such as the other arm where data decide [assumed].
  constexpr std::int64_t kPart = 3;
  std::int64_t room = (machine.tile.region1_base - machine.tile.memory_base) / kPart;
  MergePlan plan{.cycles = costs.runs()};
  for (std::int64_t length = 2 * runs.length; length <= runs.rows(); length *= 2) {
    if (length <= costs.share()) {
      plan.cycles += costs.cycles(length, 1) * divide_up(costs.share(), length);
      continue;
    }
    const bool fits = costs.fits(length);
    std::int64_t least = fits ? costs.cycles(length, divide_up(length, costs.share()))
                              : std::numeric_limits<std::int64_t>::max();
    std::int64_t code = 0;
    for (std::int64_t columns = 2; length % (8 * columns) == 0; columns *= 2) {
      const std::int64_t cycles = costs.by_columns(length, columns);
      const std::int64_t its_code = costs.code_by_columns(length, columns);
      if (cycles >= least || its_code > room) continue;
      least = cycles;
      code = its_code;
      plan.columns[length] = columns;
    }
    if (!fits && !plan.columns.contains(length)) return std::nullopt;
    room -= code;
    plan.cycles += least;
  }
  if (!costs.fits(std::min(costs.share(), runs.rows()))) return std::nullopt;
  return plan;
}

std::vector<Tensor> by_network(Tensor words, bool is_numbered) {
  Graph region;
  GraphBuilder builder(region, words.builder->location());
  const Tensor a = builder.argument({DType::kI32, {}}), b = builder.argument({DType::kI32, {}});
  region.set_results({compare("LT", a, b).id});
  const Shape shape = words.shape();
  const SortedRows sorted =
      sort_by_network({reshape(words, {shape[0], shape[1], 1})}, is_numbered, Comparator(region));
  const auto first = [&](Tensor x) {
    return reshape(window(x, {0, 0, 0}, {shape[0], shape[1], 1}), shape);
  };
  std::vector<Tensor> results = {first(sorted.keys[0])};
  if (sorted.numbers) results.push_back(first(*sorted.numbers));
  return results;
}

std::vector<Tensor> by_merges(Tensor rows, bool is_numbered,
                              const std::map<std::int64_t, std::int64_t>& columns) {
  std::vector<Tensor> words = {rows};
  if (is_numbered) words.push_back(rows.builder->iota(rows.type(), 1));
  return merge_sorted(words, [&](Tensor keys, bool alternates) {
    const auto its = columns.find(keys.shape()[1]);
    if (its == columns.end()) return merged(keys, keys.shape(), alternates);
    return merged_by_columns(keys, its->second, alternates);
  });
}

}  // namespace

std::vector<Tensor> divide_sort(GraphBuilder&, const Op& op, std::span<const Tensor> operands,
                                const MachineConfig& machine) {
  const bool is_numbered = attribute<bool>(op, "is_numbered");
  const Tensor rows = operands[0];
  const Shape first{rows.shape()[0], attribute<std::int64_t>(op, "count")};
  const auto plan = plan_merges(machine, rows.shape(), is_numbered ? 2 : 1);
  if (first != rows.shape()) {
    const std::int64_t most = plan ? plan->cycles : std::numeric_limits<std::int64_t>::max();
    if (const auto least = select_words(rows, first[1], most, machine)) {
      std::vector<Tensor> results = {least->keys};
      if (is_numbered) results.push_back(least->places);
      return results;
    }
  }
  std::vector<Tensor> results =
      plan ? by_merges(rows, is_numbered, plan->columns) : by_network(rows, is_numbered);
  for (Tensor& sorted : results) sorted = window(sorted, {0, 0}, first);
  return results;
}

}  // namespace superstep
