#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format_version.h"
#include "report/validation/checks.h"
#include "sim/trace/progress.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// From this format on the sync in which a visit begins is of the step of the visit.
constexpr unsigned kVisitsByStep = 7;

class SummaryCheck {
 public:
  SummaryCheck(const TraceFile& trace, TraceFindings& findings)
      : trace_(trace),
        findings_(findings),
        minor_(minor_of(read_attributes(trace.hdf5(), kRootAttributes).format_version)),
        row_(read_attributes(trace.hdf5(), kSummaryAttributes)) {}

  void parts() {
    sum("device_cycles", row_.device, row_.exchange + row_.compute + row_.sync,
        "exchange, compute and sync");
    sum("total_cycles", row_.total, row_.device + row_.host, "device and host");
    if (minor_ < kVisitsByStep) return;
    most("exchange_assumed_cycles", row_.assumed.exchange, row_.exchange);
    most("compute_assumed_cycles", row_.assumed.compute, row_.compute);
    most("sync_assumed_cycles", row_.assumed.sync, row_.sync);
    most("host_assumed_cycles", row_.assumed.host, row_.host);
    most("visit_begin_cycles", row_.visit_begin, row_.sync);
    most("visit_callback_cycles", row_.visit_callbacks, row_.visit_begin);
    most("visit_end_cycles", row_.visit_end, row_.host);
  }

  void steps(const std::vector<StepSums>& steps) {
    StepSums all;
    TraceRule& longest = findings_.rule(kStepSums.path_of("longest_cycles"));
    for (std::uint64_t s = 0; s < steps.size(); ++s) {
      all.exchange += steps[s].exchange;
      all.compute += steps[s].compute;
      all.sync += steps[s].sync;
      all.host += steps[s].host;
      longest.at_most(s, steps[s].longest.value(), step_totals(steps[s]).cycles.value(),
                      "the cycles of the step,");
    }
    constexpr std::string_view kOf = "the steps of /summary/step";
    sum("exchange_cycles", row_.exchange, all.exchange, kOf);
    sum("compute_cycles", row_.compute, all.compute, kOf);
    sum("sync_cycles", row_.sync, all.sync, kOf);
    sum("host_cycles", row_.host, all.host, kOf);
  }

  /// Against what the supersteps add up to.
  void supersteps(const TraceTotals& totals, const std::vector<StepSums>& steps) {
    constexpr std::string_view kOf = "the rows of /supersteps";
    sum("total_cycles", row_.total, totals.run.cycles, kOf);
    sum("exchange_cycles", row_.exchange, totals.run.exchange, kOf);
    sum("compute_cycles", row_.compute, totals.run.compute, kOf);
    sum("sync_cycles", row_.sync, totals.run.sync, kOf);
    sum("host_cycles", row_.host, totals.run.host, kOf);
    equal("supersteps", row_.supersteps, totals.run.supersteps, kOf);
    equal("instructions", row_.instructions, totals.run.worker_instructions, kOf);
    equal("bytes_exchanged", row_.bytes_exchanged, totals.bytes_exchanged, kOf);
    equal("host_bytes", row_.host_bytes, totals.host_bytes, kOf);
    equal("flops", row_.flops, totals.flops, kOf);
    const std::uint64_t used = trace_.read(kUsedTiles).size();
    real("tile_balance", row_.tile_balance, totals.balance(used));
    real("bsp_efficiency", row_.bsp_efficiency, totals.bsp_efficiency(used));
    if (minor_ < kVisitsByStep) return;
    equal("visits", row_.visits, totals.visits.count, kOf);
    sum("visit_begin_cycles", row_.visit_begin, totals.visits.begin, kOf);
    sum("visit_callback_cycles", row_.visit_callbacks, totals.visits.callbacks, kOf);
    sum("visit_end_cycles", row_.visit_end, totals.visits.end, kOf);
    each_step(totals.steps, steps);
  }

  void memory() {
    const std::string path = kMemoryBytes.path_of("bytes");
    const std::vector<std::uint64_t> dims = trace_.hdf5().shape(path, 2);
    const auto bytes = trace_.hdf5().read_all<std::uint32_t>(path, Hdf5Type::kU32);
    std::uint64_t most = 0, worst = 0;
    for (std::uint64_t t = 0; t < dims[0]; ++t) {
      std::uint64_t of_tile = 0;
      for (std::uint64_t c = 0; c < dims[1]; ++c) of_tile += bytes[t * dims[1] + c];
      if (of_tile > most) worst = t;
      most = std::max(most, of_tile);
    }
    equal("peak_tile_bytes", row_.peak_tile_bytes, most, "the fullest tile of /memory/bytes");
    equal("worst_tile", row_.worst_tile, worst, "the fullest tile of /memory/bytes");
  }

  void report() {
    const std::vector<std::string> texts = trace_.read_text(kReport.path_of("json"));
    if (texts.empty() || texts[0].empty()) return;
    const auto document = nlohmann::json::parse(texts[0], nullptr, false);
    const nlohmann::json::json_pointer total("/cycles/total");
    const bool is_whole =
        document.is_object() && document.contains(total) && document[total] == row_.total.value();
    findings_.expect(is_whole, [] {
      return std::string("/summary/json is no report with the total_cycles of /summary");
    });
  }

 private:
  template <class Number>
  void equal(std::string_view name, Number found, std::uint64_t expected, std::string_view of) {
    findings_.expect(found == expected, [&] {
      return fmt::format("{} of /summary is {}, but by {} it is {}", name, found, of, expected);
    });
  }
  void sum(std::string_view name, Cycles found, Cycles expected, std::string_view of) {
    equal(name, found.value(), expected.value(), of);
  }
  void most(std::string_view name, Cycles part, Cycles whole) {
    findings_.expect(part <= whole, [&] {
      return fmt::format("{} of /summary is {}, more than the {} that it is of", name, part.value(),
                         whole.value());
    });
  }
  void real(std::string_view name, double found, double expected) {
    // Another compiler may round the quotient otherwise.
    constexpr double kRounding = 1e-12;
    findings_.expect(std::abs(found - expected) <= kRounding, [&] {
      return fmt::format("{} of /summary is {}, but by the rows of /supersteps it is {}", name,
                         found, expected);
    });
  }

  /// Every column of /summary/step.
  void each_step(const std::vector<StepSums>& expected, const std::vector<StepSums>& found) {
    if (expected.size() != found.size()) return;
    kStepSums.for_each_column([&](const auto& column) {
      TraceRule& rule = findings_.rule(kStepSums.path_of(column.name));
      for (std::uint64_t s = 0; s < found.size(); ++s) {
        rule.equal(s, stored_value(column, found[s], s), stored_value(column, expected[s], s),
                   "by the rows of /supersteps and /launches it is");
      }
    });
  }

  const TraceFile& trace_;
  TraceFindings& findings_;
  unsigned minor_;
  SummaryRow row_;
};

}  // namespace

void check_summary(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings) {
  const Hdf5File& file = trace.hdf5();
  if (!file.exists(std::string(kReport.group)) || !trace.has(kStepSums)) return;
  SummaryCheck check(trace, findings);
  check.parts();
  std::vector<StepSums> steps;
  if (sound.has_all(file, kStepSums)) {
    steps = trace.read(kStepSums);
    check.steps(steps);
  }
  if (trace.has(kSupersteps) &&
      sound.has_all(file, kSupersteps, kLaunches, kTransfers, kSteps, kUsedTiles)) {
    TraceTotals totals(groups_of(trace.read(kSteps)));
    if (!totals.steps.empty()) {
      trace.for_each_superstep(0, trace.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
        totals.add(superstep.row, superstep.launches);
      });
      check.supersteps(totals, steps);
    }
  }
  if (sound.has_all(file, kMemoryBytes)) check.memory();
  if (sound.has_all(file, kReport)) check.report();
}

}  // namespace superstep
