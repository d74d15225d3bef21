#include "report/insights.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/rules/rules.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

// Limits are [assumed]: where a person would begin to look.
constexpr double kMuch = 0.10, kMost = 0.20, kNearlyFull = 0.90;
constexpr double kPeak = 1.5, kFarMore = 4;  // times the median, the mean

}  // namespace

const std::vector<InsightRule>& insight_rules() {
  static const std::vector<InsightRule> kRules = {
      {"imbalance", "device cycles: waits for the busiest tile", kMuch, TraceLevel::kSummary,
       "a larger batch or wider layers give every tile work; `--view tiles` of a trace of level "
       "tile has those that wait",
       find_imbalance},
      {"exchange", "device cycles: exchanges", kMuch, TraceLevel::kSummary,
       "smaller types (f16), larger batches for the same weights, fewer transposes", find_exchange},
      {"exchange-latency", "device cycles: exchanges beyond their words", kMost,
       TraceLevel::kSummary,
       "exchanges this short cost their latency: fewer and larger ones, as of larger batches",
       find_exchange_latency},
      {"sync", "device cycles: barriers", kMuch, TraceLevel::kSummary,
       "more work in each superstep: a larger batch, several steps of a loop in one, fewer "
       "operations that need all tiles",
       find_sync},
      {"host", "all cycles: visits to the host", kMuch, TraceLevel::kSummary,
       "several steps in a call (`lax.scan`), infeeds, results fetched less often; `--trace "
       "superstep` tells what moves in each call",
       find_host},
      {"idle-tiles", "device cycles: few tiles compute", kMuch, TraceLevel::kSuperstep,
       "a larger batch or wider layers give more tiles work; `--view supersteps` has how many are "
       "active",
       find_idle_tiles},
      {"hot-receiver", "mean received by tiles: the most", kFarMore, TraceLevel::kTile,
       "see `--view exchange` for the steps: reductions and gathers to few elements have few "
       "receivers",
       find_hot_receiver},
      {"near-full", "memory of a tile: in use, fullest tile", kNearlyFull, TraceLevel::kSummary,
       "see `--view memory`: a smaller batch, f16, recomputing (`jax.checkpoint`)", find_near_full},
      {"memory-peak", "memory of the median step: the peak", kPeak, TraceLevel::kSummary,
       "see `--view memory`: compute it in parts (`lax.scan`), f16, recomputing "
       "(`jax.checkpoint`)",
       find_memory_peak},
      {"exchange-code", "memory of a tile: code of exchanges", kMost, TraceLevel::kSummary,
       "loops (`lax.scan`) share the code of their trips; irregular gathers and transposes need "
       "most",
       find_exchange_code},
      {"uneven-workers", "time of workers: waits for the busiest", kMost, TraceLevel::kVertex,
       "more elements a tile: a larger batch, or fewer tiles (compare `--set grid.tiles=N`)",
       find_uneven_workers, true},
      {"few-flops", "device cycles: an operation of few flops", kMuch, TraceLevel::kVertex,
       "elements that lie one behind the other, as many for each worker (a larger batch); f16; "
       "fewer divisions and functions as exp; see `--view codelets`",
       find_few_flops, true},
      {"plan", "device cycles: an operation badly planned", kMuch, TraceLevel::kSummary,
       "what the compiler says", find_plan},
      {"mispredicted", "predicted device cycles: difference", kMost, TraceLevel::kSummary,
       "loops and branches that follow from data are predicted as one trip and the longest arm; "
       "see `--view bsp`",
       find_prediction},
      {"assumed", "device cycles: assumed numbers", kMost, TraceLevel::kSummary,
       "`superstep sensitivity PROGRAM` shows what they do to the total", find_assumed},
  };
  return kRules;
}

Insights look_for_insights(const TraceSummary& trace, const TraceFile* file,
                           std::uint64_t most_worker_runs) {
  const bool has_too_many = file && file->rows(kVertices) > most_worker_runs;
  Insights out;
  for (const InsightRule& rule : insight_rules()) {
    const std::size_t before = out.found.size();
    SilentRule silent{&rule};
    if (!rule.reads_worker_runs || !has_too_many)
      silent.measured = rule.find({rule, trace, file, out.found});
    if (out.found.size() == before) out.silent.push_back(silent);
  }
  std::ranges::stable_sort(out.found, std::ranges::greater{}, &Insight::cycles);
  return out;
}

std::vector<Insight> insights_of(const TraceSummary& trace, const TraceFile* file,
                                 std::uint64_t most_worker_runs) {
  return look_for_insights(trace, file, most_worker_runs).found;
}

nlohmann::ordered_json insights_document(const std::vector<Insight>& insights) {
  auto list = nlohmann::ordered_json::array();
  for (const Insight& insight : insights)
    list.push_back({{"rule", insight.rule},
                    {"found", insight.found},
                    {"advice", insight.advice},
                    {"operation", insight.operation},
                    {"cycles", insight.cycles.value()}});
  return list;
}

std::string insight_rules_markdown() {
  std::string out =
      R"(`superstep report RUN.h5`, its `--view insights` and pages for a browser say what rules find in a run, most cycles first. A rule speaks
where what it measures is more than its limit; `--view insights` ends with what the others measured. Limits are where a person would
begin to look [assumed]. Cycles of a finding are what would go at most if it were not so; findings overlap.

| rule | speaks above | of what: which part | level | what to try |
|---|---|---|---|---|
)";
  for (const InsightRule& rule : insight_rules())
    out += fmt::format("| {} | {} % | {} | {} | {} |\n", rule.name, percent(rule.limit),
                       rule.measure, name_of(rule.level), rule.advice);
  out += fmt::format(
      R"(
A level is the least of `--trace` that a rule needs. The report leaves out those of level vertex beyond 250,000 worker runs,
`--view insights` does not; `few-flops` needs all workers, so no window of supersteps, tiles or operations.

- *exchange* names the operations whose exchanges take most, with their bytes and lines, and how much of that is the words of the busiest
  ports. What to try follows from it, and from the operation: products, lookups and sums by index, transposes, reductions.
- *host*, at level superstep, tells what moves once a run, what moves in several visits, and the latency of visits, with the stream that
  takes most: a longer `--repeat`, smaller types, fewer visits. It advises to donate where a result of each call has the type of an
  argument that stays and that no result takes the place of.
- *idle-tiles*: few are fewer than {} % of those with a program. *few-flops*: few are fewer than {} % of what an instruction on vectors
  makes in each slot of the workers, without the AMP. *hot-receiver* speaks where exchanges take more than {} % of device cycles,
  *memory-peak* where the step has more than {} % of a tile in use.
- *plan* has the name of what the compiler says: `no_amp`, `slow_route`, `dropped_plan` or `small_product`.
)",
      percent(kNearlyAll), percent(kFewFlops), percent(kMuchExchange), percent(kMuchMemory));
  return out;
}

}  // namespace superstep
