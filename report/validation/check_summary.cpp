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

  /// Against what the supersteps add up to.
  void supersteps(const TraceTotals& totals, const std::vector<StepSums>& steps) {
    constexpr std::string_view kOf = "the rows of /supersteps";
    equal("supersteps", row_.supersteps, totals.run.supersteps, kOf);
    const std::uint64_t used = trace_.read(kUsedTiles).size();
    real("tile_balance", row_.tile_balance, totals.balance(used));
    real("bsp_efficiency", row_.bsp_efficiency, totals.bsp_efficiency(used));
    const double device = static_cast<double>(row_.device.value());
    real("flop_per_cycle", row_.flop_per_cycle,
         device == 0 ? 0 : static_cast<double>(row_.flops) / device);
    if (minor_ < kVisitsByStep) return;
    equal("visits", row_.visits, totals.visits.count, kOf);
    sum("exchange_assumed_cycles", row_.assumed.exchange, totals.assumed.exchange, kOf);
    sum("compute_assumed_cycles", row_.assumed.compute, totals.assumed.compute, kOf);
    sum("sync_assumed_cycles", row_.assumed.sync, totals.assumed.sync, kOf);
    sum("host_assumed_cycles", row_.assumed.host, totals.assumed.host, kOf);
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
      const std::string path = kStepSums.path_of(column.name);
      if (!trace_.hdf5().exists(path)) return;  // of an older format
      TraceRule& rule = findings_.rule(path);
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
  std::vector<StepSums> steps;
  if (sound.has_all(file, kStepSums)) steps = trace.read(kStepSums);
  if (trace.has(kSupersteps) &&
      sound.has_all(file, kSupersteps, kLaunches, kTransfers, kSteps, kUsedTiles)) {
    TraceTotals totals(groups_of(trace.read(kSteps)));
    if (!totals.steps.empty()) {
      const std::vector<StepRow> rows = trace.read(kSteps);
      TraceRule& flops = findings.rule(kSupersteps.path_of("flops"));
      std::uint64_t at = 0;
      trace.for_each_superstep(0, trace.rows(kSupersteps), [&](const SuperstepInFile& superstep) {
        std::uint64_t of_steps = 0;
        totals.for_each_executed(
            superstep.row, superstep.launches,
            [&](std::size_t step, std::uint64_t runs) { of_steps += runs * rows[step].flops; });
        flops.equal(at++, superstep.row.flops, of_steps, "those of its steps are");
        totals.add(superstep.row, superstep.launches);
      });
      check.supersteps(totals, steps);
    }
  }
  if (sound.has_all(file, kMemoryBytes)) check.memory();
  if (sound.has_all(file, kReport)) check.report();
}

}  // namespace superstep
