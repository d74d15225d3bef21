#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "report/report.h"
#include "report/rules/rules.h"
#include "report/view.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

/// Cycles of an exchange that the words of its busiest port do not explain.
Cycles beyond_words(const StepTotals& step) {
  const Cycles bound(step.runs * step.info.bound_cycles);
  return step.info.kind == StepInfo::Kind::kExchange && step.exchange > bound
             ? step.exchange - bound
             : Cycles();
}

/// What makes fewer words of an operation's exchanges.
std::string advice_of_words(std::string_view opcode, std::string_view otherwise) {
  struct Advice {
    std::string_view opcode, text;
  };
  constexpr std::string_view kIndexed =
      "any index may be anywhere, so tables and updates go to many tiles: f16; for a small table a "
      "product with `jax.nn.one_hot` in place of the index";
  constexpr std::string_view kProduct =
      "each weight moves once for all rows: a larger batch; f16 halves the words";
  constexpr std::string_view kLayout =
      "the order of elements changes: fewer transposes and reshapes between products "
      "(`jnp.einsum` takes axes as they are), f16";
  constexpr Advice kAdvice[] = {
      {"superstep.put", kIndexed},
      {"superstep.take", kIndexed},
      {"stablehlo.dot_general", kProduct},
      {"stablehlo.convolution", kProduct},
      {"stablehlo.transpose", kLayout},
      {"stablehlo.reshape", kLayout},
      {"stablehlo.concatenate", kLayout},
      {"stablehlo.slice", kLayout},
      {"stablehlo.broadcast_in_dim",
       "a value goes to all tiles that need it: fewer of them, f16, broadcasting after what "
       "makes elements fewer"},
      {"stablehlo.reduce",
       "partial results meet: fewer reductions, of several values at once, along the last axes"},
  };
  const auto* known = std::ranges::find(kAdvice, opcode, &Advice::opcode);
  return std::string(known == std::end(kAdvice) ? otherwise : known->text);
}

}  // namespace

std::optional<double> find_imbalance(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  if (t.tiles_used == 0 || t.totals.compute.value() == 0) return std::nullopt;
  StepCosts lost = costs(t, [&](const StepTotals& step) {
    return Cycles(step.peak_cycles - std::min(step.peak_cycles, step.tile_cycles / t.tiles_used));
  });
  // In all as `--view bounds` has it, where it has something.
  if (input.file && input.file->has(kSupersteps)) {
    lost.sum = t.totals.compute;
    for (const Cycles even : even_cycles(*input.file, t)) lost.sum -= even;
  }
  const double of_device = ratio(lost.sum, t.totals.device());
  if (lost.most && of_device > input.rule.limit)
    say(input,
        fmt::format("work is uneven: {} % of device cycles tiles wait for the busiest one, most "
                    "beginning with {} ({} cycles, balance {} %, tile {})",
                    percent(of_device), lost.most->info.name, grouped(lost.of_most),
                    percent(lost.most->balance(t.tiles_used)), index(lost.most->worst)),
        lost.sum, lost.most->operation_name);
  return of_device;
}

std::optional<double> find_exchange(const RuleInput& input) {
  constexpr std::size_t kNamed = 3;
  const TraceSummary& t = input.trace;
  if (t.totals.device().value() == 0) return std::nullopt;
  const double of_device = ratio(t.totals.exchange, t.totals.device());
  if (of_device <= input.rule.limit) return of_device;
  std::vector<OperationTotals> operations = operations_of(t);
  std::erase_if(operations, [](const OperationTotals& o) { return o.exchange.value() == 0; });
  std::ranges::stable_sort(operations, std::ranges::greater{}, &OperationTotals::exchange);
  std::vector<std::string> named;
  for (const OperationTotals& o : operations) {
    if (named.size() == kNamed) break;
    const std::string place = o.source.python.text();
    named.push_back(fmt::format("{} ({} cycles, {} bytes{}{})", o.name, grouped(o.exchange),
                                grouped(o.exchange_bytes), place.empty() ? "" : ", ",
                                place.substr(place.rfind('/') + 1)));
  }
  const StepCosts beyond = costs(t, beyond_words);
  const double words = 1 - ratio(beyond.sum, t.totals.exchange);
  std::string found = fmt::format(
      "exchanges take {} % of device cycles, {} % of them for the words of the busiest ports; "
      "computing takes {} %",
      percent(of_device), percent(words), percent(ratio(t.totals.compute, t.totals.device())));
  if (!named.empty()) found += fmt::format("; most for {}", fmt::join(named, ", "));
  // Where words are the less part, fewer of them are no help.
  const std::string advice =
      words >= 0.5 && !operations.empty()
          ? advice_of_words(operations[0].opcode, input.rule.advice)
          : "words on their way take most: fewer and larger exchanges, as of larger batches";
  say(input, found, t.totals.exchange, operations.empty() ? "" : operations[0].name,
      advice + "; see `--view exchange`");
  return of_device;
}

std::optional<double> find_exchange_latency(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  if (t.totals.exchange.value() == 0) return std::nullopt;
  const StepCosts lost = costs(t, beyond_words);
  const double of_device = ratio(lost.sum, t.totals.device());
  if (lost.most && of_device > input.rule.limit)
    say(input,
        fmt::format("{} % of device cycles no busiest port is busy in exchanges: words on their "
                    "way and ports that wait for one another, most in {} ({} cycles beyond its "
                    "bound)",
                    percent(of_device), lost.most->info.name, grouped(lost.of_most)),
        lost.sum, lost.most->operation_name);
  return of_device;
}

std::optional<double> find_sync(const RuleInput& input) {
  const TraceSummary& t = input.trace;
  if (t.totals.supersteps == 0) return std::nullopt;
  const Cycles sync = t.totals.sync - t.visits.begin;
  const double of_device = ratio(sync, t.totals.device());
  if (of_device > input.rule.limit)
    say(input,
        fmt::format("barriers take {} % of device cycles: {} supersteps of {} cycles on average",
                    percent(of_device), grouped(t.totals.supersteps),
                    grouped(rounded_mean(t.totals.device().value(), t.totals.supersteps))),
        sync);
  return of_device;
}

std::string name_of_operation(const TraceFile& file, std::uint32_t number) {
  const std::vector<OperationRow> operations = file.read(kOperations);
  return number < operations.size() ? operations[number].name : "control";
}

std::optional<double> find_idle_tiles(const RuleInput& input) {
  const auto& [rule, t, file, insights] = input;
  if (!file || !file->has(kSupersteps) || t.tiles_used == 0) return std::nullopt;
  struct Few {
    Cycles cycles;
    std::uint64_t active = 0;  ///< tiles, added up over cycles
  };
  std::map<std::uint32_t, Few> by_operation;
  Cycles sum;
  file->for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (static_cast<double>(row.active_tiles) >= kNearlyAll * input.trace.tiles_used) return;
    Few& few = by_operation[row.operation];
    few.cycles += row.compute;
    few.active += row.active_tiles * row.compute.value();
    sum += row.compute;
  });
  const double of_device = ratio(sum, t.totals.device());
  if (of_device <= rule.limit) return of_device;
  const auto most = std::ranges::max_element(
      by_operation, {}, [](const auto& operation) { return operation.second.cycles; });
  const std::string name = name_of_operation(*file, most->first);
  say(input,
      fmt::format(
          "for {} % of device cycles fewer than {} % of the tiles compute, most beginning with "
          "{} ({} cycles, {} of {} tiles on average)",
          percent(of_device), percent(kNearlyAll), name, grouped(most->second.cycles),
          rounded_mean(most->second.active, most->second.cycles.value()), t.tiles_used),
      Cycles(), name);
  return of_device;
}

std::optional<double> find_hot_receiver(const RuleInput& input) {
  const auto& [rule, t, file, insights] = input;
  if (!file || !file->has(kExchangePhases) || t.tiles_used == 0) return std::nullopt;
  std::vector<std::uint64_t> runs(file->rows(kExchangeProfiles));
  for (const ProfileNumbers& row : file->read(kProfileNumbers)) {
    if (row.exchange < runs.size()) ++runs[row.exchange];
  }
  const std::vector<TileEntry> tiles = file->read(kUsedTiles);
  std::vector<std::uint64_t> received(tiles.size());
  const std::string column = std::string(kExchangePhases.group) + "/received_bytes";
  for (std::size_t first = 0; first < runs.size(); first += kProfileChunk) {
    const std::uint64_t count = std::min<std::uint64_t>(kProfileChunk, runs.size() - first);
    const auto bytes = file->read_wide<std::uint64_t>(column, first, count);
    if (bytes.size() != count * tiles.size()) return std::nullopt;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      received[i % tiles.size()] += runs[first + i / tiles.size()] * bytes[i];
  }
  const std::uint64_t all = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
  if (all == 0) return std::nullopt;
  const auto most = std::ranges::max_element(received);
  const double mean = static_cast<double>(all) / static_cast<double>(received.size());
  const double times = static_cast<double>(*most) / mean;
  const double of_device = ratio(t.totals.exchange, t.totals.device());
  if (times > rule.limit && of_device > kMuchExchange)
    say(input,
        fmt::format("tile {} receives {} bytes, {:.1f} times the mean of the tiles; exchanges take "
                    "{} % of device cycles",
                    index(tiles[static_cast<std::size_t>(most - received.begin())].tile),
                    grouped(*most), times, percent(of_device)));
  return times;
}

}  // namespace superstep
