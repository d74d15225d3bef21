#include "report/insights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "report/numbers.h"
#include "report/report.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

// Thresholds are [assumed]: where a person would begin to look.
constexpr double kMuch = 0.10, kMost = 0.20, kQuarter = 0.25, kNearlyAll = 0.90;
constexpr double kFarMore = 4, kPeak = 1.5;  // times the mean, the median

double share(Cycles part, Cycles whole) {
  return whole.value() == 0
             ? 0
             : static_cast<double>(part.value()) / static_cast<double>(whole.value());
}

int percent(double share) { return static_cast<int>(std::lround(100 * share)); }

Cycles device(const TraceSummary& t) {
  return t.totals.exchange + t.totals.compute + t.totals.sync;
}

/// The step for which `cost` is greatest, and the sum over all.
struct Costs {
  const StepTotals* most = nullptr;
  Cycles of_most, sum;
};
template <class Cost>
Costs costs(const TraceSummary& t, const Cost& cost) {
  Costs out;
  for (const StepTotals& step : t.steps) {
    const Cycles of_step = cost(step);
    out.sum += of_step;
    if (of_step > out.of_most) {
      out.most = &step;
      out.of_most = of_step;
    }
  }
  return out;
}

/// What tiles wait for the busiest one, with all work shared evenly among those with a program.
void find_imbalance(const TraceSummary& t, const TraceFile* /*file*/,
                    std::vector<Insight>& insights) {
  if (t.tiles_used == 0) return;
  const Costs lost = costs(t, [&](const StepTotals& step) {
    return Cycles(step.peak_cycles - std::min(step.peak_cycles, step.tile_cycles / t.tiles_used));
  });
  const double of_device = share(lost.sum, device(t));
  if (!lost.most || of_device <= kMuch) return;
  insights.push_back(
      {"imbalance",
       fmt::format("work is uneven: {} % of device cycles tiles wait for the busiest one, most "
                   "beginning with {} ({} cycles, balance {} %, tile {})",
                   percent(of_device), lost.most->info.name, grouped(lost.of_most),
                   percent(lost.most->balance(t.tiles_used)), index(lost.most->worst)),
       "a larger batch or wider layers give every tile work; `--view tiles` has those that wait",
       lost.most->operation_name, lost.sum});
}

void find_sync(const TraceSummary& t, const TraceFile* /*file*/, std::vector<Insight>& insights) {
  const Cycles sync = t.totals.sync - t.visits.begin;
  const double of_device = share(sync, device(t));
  if (of_device <= kMost || t.totals.supersteps == 0) return;
  insights.push_back(
      {"sync-bound",
       fmt::format("barriers take {} % of device cycles: {} supersteps of {} cycles on average",
                   percent(of_device), grouped(t.totals.supersteps),
                   grouped(device(t).value() / t.totals.supersteps)),
       "more work in each superstep: a larger batch, several steps of a loop in one, fewer "
       "operations that need all tiles",
       "", sync});
}

void find_exchange(const TraceSummary& t, const TraceFile* /*file*/,
                   std::vector<Insight>& insights) {
  const double of_device = share(t.totals.exchange, device(t));
  if (t.totals.exchange <= t.totals.compute || of_device <= kMost) return;
  const Costs moved = costs(t, [](const StepTotals& step) { return step.exchange; });
  insights.push_back(
      {"exchange-bound",
       fmt::format("moving words takes {} % of device cycles, computing {} %; {} moves longest ({} "
                   "cycles)",
                   percent(of_device), percent(share(t.totals.compute, device(t))),
                   moved.most->info.name, grouped(moved.of_most)),
       "see `--view exchange`: smaller types (f16), larger batches for the same weights, fewer "
       "transposes",
       moved.most->operation_name, t.totals.exchange - t.totals.compute});
}

/// Exchanges whose length is not the words of their busiest ports.
void find_schedule(const TraceSummary& t, const TraceFile* /*file*/,
                   std::vector<Insight>& insights) {
  const Costs lost = costs(t, [](const StepTotals& step) {
    const Cycles bound(step.runs * step.info.bound_cycles);
    return step.info.kind == StepInfo::Kind::kExchange && step.exchange > bound
               ? step.exchange - bound
               : Cycles();
  });
  const double of_device = share(lost.sum, device(t));
  if (!lost.most || of_device <= kMost) return;
  insights.push_back(
      {"latency-bound",
       fmt::format("{} % of device cycles no busiest port is busy in exchanges: words on their way "
                   "and ports that wait for one another, most in {} ({} cycles beyond its bound)",
                   percent(of_device), lost.most->info.name, grouped(lost.of_most)),
       "exchanges this short cost their latency: fewer and larger ones, as of larger batches",
       lost.most->operation_name, lost.sum});
}

/// Host cycles and bytes of the visits to the host, each a superstep of its own.
struct HostVisits {
  struct Visit {
    Cycles cycles;
    std::uint64_t bytes = 0;
  };
  std::uint64_t count = 0;
  Visit first, between, last;  ///< between: all but the first and the last
};
HostVisits host_visits(const TraceFile& file) {
  HostVisits out;
  file.for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (row.host.value() == 0) return;
    const HostVisits::Visit visit{row.host, row.host_bytes};
    if (++out.count == 1) {
      out.first = visit;
      return;
    }
    out.between.cycles += out.last.cycles;
    out.between.bytes += out.last.bytes;
    out.last = visit;
  });
  return out;
}

void find_host(const TraceSummary& t, const TraceFile* file, std::vector<Insight>& insights) {
  const Cycles waited = t.totals.host + t.visits.begin;
  const double of_all = share(waited, t.totals.cycles);
  if (of_all <= kMost) return;
  const bool is_callbacks = t.visits.callbacks.value() * 2 > waited.value();
  std::string found =
      fmt::format("visits to the host take {} % of all cycles{}: {} with {} bytes in all",
                  percent(of_all), is_callbacks ? ", most of it waiting for callbacks" : "",
                  grouped(t.visits.count), grouped(t.host_bytes));
  std::string advice =
      "donate what stays (`jax.jit(f, donate_argnums=...)`), loop on the device (`lax.scan`, "
      "infeeds), fetch what it returns less often";
  const HostVisits visits = file ? host_visits(*file) : HostVisits();
  if (visits.count > 2) {
    const std::uint64_t others = visits.count - 2;
    found += fmt::format(", the first {} bytes, the last {}, {} between {} on average",
                         grouped(visits.first.bytes), grouped(visits.last.bytes), grouped(others),
                         grouped(visits.between.bytes / others));
    // Most of the cycles, and each more than twice those of another visit.
    const std::uint64_t ends = (visits.first.cycles + visits.last.cycles).value();
    const std::uint64_t between = visits.between.cycles.value();
    if (ends > between && ends * others > 4 * between) advice = "a longer `--repeat` spreads them";
  } else {
    advice = "a longer `--repeat` spreads what only the first and the last visit move; " + advice;
  }
  if (is_callbacks) advice = "let the host run ahead (`--set host.prefetch=2`)";
  insights.push_back({"host-bound", found, advice, "", waited});
}

void find_memory(const TraceSummary& t, const TraceFile* /*file*/, std::vector<Insight>& insights) {
  if (t.tile_memory_bytes == 0) return;
  const double full =
      static_cast<double>(t.worst_tile_bytes) / static_cast<double>(t.tile_memory_bytes);
  if (full <= 0.9) return;
  const auto most = std::ranges::max_element(t.worst_tile_memory, {},
                                             [](const auto& category) { return category.second; });
  insights.push_back(
      {"near-full",
       fmt::format("tile {} has {} of {} in use ({} %), most for {} ({})", index(t.worst_tile),
                   bytes_text(t.worst_tile_bytes), bytes_text(t.tile_memory_bytes), percent(full),
                   most->first, bytes_text(most->second)),
       "see `--view memory`: a smaller batch, f16, recomputing (`jax.checkpoint`)", "", Cycles()});
}

std::string name_of_operation(const TraceFile& file, std::uint32_t number) {
  const std::vector<OperationRow> operations = file.read(kOperations);
  return number < operations.size() ? operations[number].name : "control";
}

/// Supersteps in which few of the tiles with a program compute.
void find_idle_tiles(const TraceSummary& t, const TraceFile* file, std::vector<Insight>& insights) {
  if (!file || !file->has(kSupersteps) || t.tiles_used == 0) return;
  struct Few {
    Cycles cycles;
    std::uint64_t active = 0;  ///< tiles, added up over cycles
  };
  std::map<std::uint32_t, Few> by_operation;
  Cycles sum;
  file->for_each_row(kSupersteps, [&](const SuperstepRow& row) {
    if (static_cast<double>(row.active_tiles) >= kNearlyAll * t.tiles_used) return;
    Few& few = by_operation[row.operation];
    few.cycles += row.compute;
    few.active += row.active_tiles * row.compute.value();
    sum += row.compute;
  });
  const double of_device = share(sum, device(t));
  if (of_device <= kMuch) return;
  const auto most = std::ranges::max_element(
      by_operation, {}, [](const auto& operation) { return operation.second.cycles; });
  const std::string name = name_of_operation(*file, most->first);
  insights.push_back(
      {"idle-tiles",
       fmt::format(
           "for {} % of device cycles fewer than {} % of the tiles compute, most beginning with "
           "{} ({} cycles, {} of {} tiles on average)",
           percent(of_device), percent(kNearlyAll), name, grouped(most->second.cycles),
           most->second.active / most->second.cycles.value(), t.tiles_used),
       "a larger batch or wider layers give more tiles work; `--view supersteps` has how many have "
       "some",
       name, Cycles()});
}

/// A tile that receives far more than the mean of those with a program.
void find_hot_receiver(const TraceSummary& t, const TraceFile* file,
                       std::vector<Insight>& insights) {
  if (!file || !file->has(kExchangePhases) || t.tiles_used == 0 ||
      share(t.totals.exchange, device(t)) <= kMuch)
    return;
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
    if (bytes.size() != count * tiles.size()) return;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      received[i % tiles.size()] += runs[first + i / tiles.size()] * bytes[i];
  }
  const std::uint64_t all = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
  if (all == 0) return;
  const auto most = std::ranges::max_element(received);
  const double mean = static_cast<double>(all) / static_cast<double>(received.size());
  const double times = static_cast<double>(*most) / mean;
  if (times < kFarMore) return;
  insights.push_back(
      {"hot-receiver",
       fmt::format("tile {} receives {} bytes, {:.1f} times the mean of the tiles; exchanges take "
                   "{} % of device cycles",
                   index(tiles[static_cast<std::size_t>(most - received.begin())].tile),
                   grouped(*most), times, percent(share(t.totals.exchange, device(t)))),
       "see `--view exchange` for the steps: reductions and gathers to few elements have few "
       "receivers",
       "", Cycles()});
}

/// A step with far more memory in use than most.
void find_memory_peak(const TraceSummary& t, const TraceFile* file,
                      std::vector<Insight>& insights) {
  if (!file || t.tile_memory_bytes == 0) return;
  const std::vector<StepMemory> memory = file->read(kLiveness);
  const std::vector<StepRow> steps = file->read(kSteps);
  const auto peak = std::ranges::max_element(memory, {}, &StepMemory::peak_tile_bytes);
  if (peak == memory.end() || memory.size() > steps.size()) return;
  std::vector<std::uint64_t> sorted;
  for (const StepMemory& of_step : memory) sorted.push_back(of_step.peak_tile_bytes);
  std::ranges::sort(sorted);
  const auto most = static_cast<double>(peak->peak_tile_bytes);
  const auto median = static_cast<double>(sorted[sorted.size() / 2]);
  if (most <= kMost * static_cast<double>(t.tile_memory_bytes) || most < kPeak * median) return;
  const auto number = static_cast<std::uint32_t>(peak - memory.begin());
  const TensorInfo* largest = nullptr;
  for (const TensorInfo& tensor : t.tensors) {
    const bool is_larger = !largest || tensor.max_tile_bytes > largest->max_tile_bytes;
    if (is_larger && is_live_in(tensor, number)) largest = &tensor;
  }
  std::string found = fmt::format(
      "memory peaks in {}: tile {} has {} in use, {:.1f} times the median of the steps",
      steps[number].name, peak->peak_tile, bytes_text(peak->peak_tile_bytes), most / median);
  if (largest)
    found += fmt::format("; largest tensor there: {} ({} on the tile with most of it)",
                         largest->name, bytes_text(largest->max_tile_bytes));
  insights.push_back({"memory-peak", found,
                      "see `--view memory`: compute it in parts (`lax.scan`), f16, recomputing "
                      "(`jax.checkpoint`)",
                      "", Cycles()});
}

void find_exchange_code(const TraceSummary& t, const TraceFile* /*file*/,
                        std::vector<Insight>& insights) {
  const auto code = std::ranges::find(t.worst_tile_memory, "exchange_code",
                                      [](const auto& category) { return category.first; });
  if (code == t.worst_tile_memory.end() || t.tile_memory_bytes == 0) return;
  const double of_tile =
      static_cast<double>(code->second) / static_cast<double>(t.tile_memory_bytes);
  if (of_tile <= kMost) return;
  insights.push_back({"exchange-code",
                      fmt::format("code of exchanges takes {} of tile {} ({} %)",
                                  bytes_text(code->second), index(t.worst_tile), percent(of_tile)),
                      "loops (`lax.scan`) share the code of their trips; irregular gathers and "
                      "transposes need most",
                      "", Cycles()});
}

/// What workers wait for the busiest one of their tile: those without elements leave at once.
void find_workers(const TraceSummary& t, const TraceFile* file, std::vector<Insight>& insights) {
  if (!file || !file->has(kVertices) || t.workers == 0) return;
  struct OfWorkers {
    std::uint64_t slots = 0, busy = 0;  ///< slots: cycles of the busiest one, times all of a tile
  };
  OfWorkers sum;
  std::map<std::uint32_t, OfWorkers> by_operation;
  // Of one tile in one superstep: cycles of each worker by step and operation.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint64_t>> steps;
  const auto add_up = [&] {
    for (const auto& [step, cycles] : steps) {
      std::uint64_t busiest = 0, busy = 0;
      for (const auto& [worker, of_worker] : cycles) {
        busiest = std::max(busiest, of_worker);
        busy += of_worker;
      }
      for (OfWorkers* of : {&sum, &by_operation[step.second]}) {
        of->slots += busiest * t.workers;
        of->busy += busy;
      }
    }
    steps.clear();
  };
  std::uint64_t superstep = 0;
  std::uint32_t tile = 0;
  file->for_each_row(kVertices, [&](const VertexRow& row) {
    if (row.superstep != superstep || row.tile != tile) add_up();
    superstep = row.superstep;
    tile = row.tile;
    steps[{row.step, row.operation}][row.worker] += row.length;
  });
  add_up();
  const double of_all = share(Cycles(sum.slots - sum.busy), Cycles(sum.slots));
  if (of_all <= kMost) return;
  const auto most = std::ranges::max_element(by_operation, {}, [](const auto& operation) {
    return operation.second.slots - operation.second.busy;
  });
  const std::string name = name_of_operation(*file, most->first);
  insights.push_back(
      {"uneven-workers",
       fmt::format(
           "for {} % of the time of workers they wait for the busiest one of their tile in a "
           "step, most in {} (as if {:.1f} of {} worked)",
           percent(of_all), name,
           static_cast<double>(most->second.busy) * t.workers /
               static_cast<double>(most->second.slots),
           t.workers),
       "more elements a tile: a larger batch, or fewer tiles (compare `--set grid.tiles=N`)", name,
       Cycles()});
}

/// Elements that an instruction of the auxiliary pipe computes at most, of 64 bits of registers
/// [published: instruction set]; 0 of types that it does not compute with.
std::uint64_t lanes_of(DType dtype) {
  return dtype == DType::kF32 ? 2 : dtype == DType::kF16 ? 4 : 0;
}

/// Useful operations that vertices make in a slot of their workers, where vectors would make more.
void find_scalars(const TraceSummary& t, const TraceFile* file, std::vector<Insight>& insights) {
  if (!file || !file->has(kVertices) || t.workers == 0) return;
  struct OfOperation {
    std::uint64_t worker_cycles = 0, amp = 0, flops = 0;
  };
  std::map<std::uint32_t, OfOperation> by_number;
  std::uint64_t instructions = 0;
  file->for_each_row(kVertices, [&](const VertexRow& row) {
    OfOperation& of = by_number[row.operation];
    of.worker_cycles += row.length;
    of.amp += row.instructions.amp;
    instructions += row.instructions.all;
  });
  // A window, or the limit of the file's size, leaves workers out.
  if (instructions != t.instructions.all) return;
  const std::vector<OperationRow> operations = file->read(kOperations);
  std::map<std::string, OfOperation> by_name;
  for (const auto& [number, of] : by_number) {
    if (number < operations.size()) by_name[operations[number].name] = of;
  }
  for (const StepTotals& step : t.steps) {
    by_name[step.operation_name].flops += step.runs * step.info.flops;
  }
  for (const OperationTotals& operation : operations_of(t)) {
    const OfOperation& of = by_name[operation.name];
    if (share(operation.device(), device(t)) <= kMuch) break;
    if (of.flops == 0 || of.amp != 0 || of.worker_cycles == 0) continue;
    const auto tensor = std::ranges::find(t.tensors, operation.name, &TensorInfo::name);
    const std::uint64_t lanes = tensor == t.tensors.end() ? 0 : lanes_of(tensor->type.dtype);
    // A worker has one slot in as many cycles as there are workers.
    const double rate =
        static_cast<double>(of.flops * t.workers) / static_cast<double>(of.worker_cycles);
    if (lanes == 0 || rate >= kQuarter * static_cast<double>(lanes)) continue;
    insights.push_back(
        {"few-flops",
         fmt::format("{} takes {} % of device cycles and makes {:.2f} useful operations in a slot "
                     "of its workers, where an instruction makes {} of {}",
                     operation.name, percent(share(operation.device(), device(t))), rate, lanes,
                     name_of(tensor->type.dtype)),
         "elements that lie one behind the other, as many for each worker (a larger batch); f16; "
         "fewer divisions and functions as exp; see `--view steps`",
         operation.name, Cycles()});
    return;
  }
}

/// Choices of the compiler that cost time, of operations that take some.
void find_plan(const TraceSummary& t, const TraceFile* /*file*/, std::vector<Insight>& insights) {
  const std::vector<OperationTotals> operations = operations_of(t);
  for (const CompileEvent& event : t.plan_events) {
    if (!costs_time(event.kind)) continue;
    const auto operation = std::ranges::find(operations, event.operation, &OperationTotals::name);
    if (operation == operations.end() || share(operation->device(), device(t)) <= kMuch) continue;
    insights.push_back({name_of(event.kind),
                        fmt::format("{} takes {} % of device cycles: {}", event.operation,
                                    percent(share(operation->device(), device(t))), event.reason),
                        event.advice, event.operation, Cycles()});
  }
}

void find_prediction(const TraceSummary& t, const TraceFile* /*file*/,
                     std::vector<Insight>& insights) {
  if (t.predicted.value() == 0 || t.outcome != "ok") return;
  const double off = share(device(t), t.predicted) - 1;
  if (std::abs(off) <= kMost) return;
  insights.push_back(
      {"mispredicted",
       fmt::format("the compiler predicted {} device cycles, the machine took {} ({:+d} %)",
                   grouped(t.predicted), grouped(device(t)),
                   static_cast<int>(100 * off + (off < 0 ? -0.5 : 0.5))),
       "loops and branches that follow from data are predicted as one trip and the longest arm; "
       "see `--view bsp`",
       "", Cycles()});
}

void find_assumed(const TraceSummary& t, const TraceFile* /*file*/,
                  std::vector<Insight>& insights) {
  const double of_device = share(t.assumed.device(), device(t));
  if (of_device <= kMost) return;
  insights.push_back(
      {"assumed",
       fmt::format("{} % of device cycles rest on numbers of the machine that are assumed",
                   percent(of_device)),
       "`superstep sensitivity PROGRAM` shows what they do to the total", "", Cycles()});
}

}  // namespace

const std::vector<InsightRule>& insight_rules() {
  static const std::vector<InsightRule> kRules = {
      {"imbalance", "tiles wait for the busiest one for more than 10 % of device cycles",
       find_imbalance},
      {"sync-bound", "barriers inside the device take more than 20 % of device cycles", find_sync},
      {"exchange-bound", "exchanges take more than 20 % of device cycles, and more than computing",
       find_exchange},
      {"latency-bound",
       "more than 20 % of device cycles exchanges take longer than the words of their busiest "
       "ports",
       find_schedule},
      {"host-bound", "visits to the host take more than 20 % of all cycles", find_host},
      {"near-full", "a tile has more than 90 % of its memory in use", find_memory},
      {"idle-tiles",
       "for more than 10 % of device cycles fewer than 90 % of the tiles with a program compute",
       find_idle_tiles},
      {"hot-receiver",
       "a tile receives at least 4 times the mean, where exchanges take more than 10 % of device "
       "cycles",
       find_hot_receiver},
      {"memory-peak",
       "a step has at least 1.5 times the memory of the median step in use, and more than 20 % of "
       "a tile",
       find_memory_peak},
      {"uneven-workers",
       "more than 20 % of the time of workers, they wait for the busiest "
       "one of their tile",
       find_workers, true},
      {"few-flops",
       "an operation with more than 10 % of device cycles, without the AMP, makes fewer than a "
       "quarter of the useful operations that an instruction on vectors makes in each slot of its "
       "workers",
       find_scalars, true},
      {"exchange-code", "code of exchanges takes more than 20 % of a tile", find_exchange_code},
      {"no_amp, slow_route, dropped_plan, small_product",
       "a choice of the compiler that costs time, in an operation that takes more than 10 % of "
       "device cycles",
       find_plan},
      {"mispredicted", "device cycles differ from the compiler's prediction by more than 20 %",
       find_prediction},
      {"assumed", "more than 20 % of device cycles rest on assumed numbers", find_assumed},
  };
  return kRules;
}

std::vector<Insight> insights_of(const TraceSummary& trace, const TraceFile* file,
                                 std::uint64_t most_worker_runs) {
  const bool has_too_many = file && file->rows(kVertices) > most_worker_runs;
  std::vector<Insight> insights;
  for (const InsightRule& rule : insight_rules())
    if (!rule.reads_worker_runs || !has_too_many) rule.find(trace, file, insights);
  std::ranges::stable_sort(insights, std::ranges::greater{}, &Insight::cycles);
  return insights;
}

}  // namespace superstep
