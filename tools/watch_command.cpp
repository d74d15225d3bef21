#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/output_file.h"
#include "report/numbers.h"
#include "report/page/page.h"
#include "report/page/page_data.h"
#include "report/report.h"
#include "sim/trace/trace_file.h"
#include "tools/command.h"
#include "tools/outputs.h"
#include "tools/progress.h"
#include "tools/report_answer.h"
#include "tools/signals.h"

namespace superstep {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

/// Between two looks at a trace; a run flushes it by number of supersteps.
constexpr std::chrono::milliseconds kBetweenLooks{200};
/// Between two pages at least, and what browsers wait for the next.
constexpr std::chrono::seconds kBetweenPages{2};
/// Making pages takes at most one part in so many of the watcher's time.
constexpr int kPageShare = 10;

/// The finished trace of one that may be named by its `.part`.
fs::path finished(fs::path path) {
  if (path.extension() == ".part") path.replace_extension();
  return path;
}

/// What a run has done so far, in a line.
std::string line_of(const TraceSummary& trace) {
  const RunTotals& totals = trace.totals;
  const Cycles device = totals.exchange + totals.compute + totals.sync;
  const auto share = [&](Cycles part) {
    return device.value() == 0
               ? 0
               : 100.0 * static_cast<double>(part.value()) / static_cast<double>(device.value());
  };
  const TimeColumn time(device, trace.clock_hz);
  return fmt::format(
      "{} supersteps, {} device cycles ({} {}): compute {:.0f} %, exchange {:.0f} %, sync {:.0f} %",
      grouped(totals.supersteps), grouped(device), time.text(device), time.unit(),
      share(totals.compute), share(totals.exchange), share(totals.sync));
}

/// The page of a run that lasts, written anew while that takes little of the time.
class Page {
 public:
  explicit Page(std::optional<std::string> path) : path_(std::move(path)) {}

  void show(const TraceFile& trace, bool lasts) {
    const Clock::time_point begin = Clock::now();
    if (!path_ || (lasts && begin < next_)) return;
    const auto again = lasts ? std::optional(kBetweenPages) : std::nullopt;
    replace_file(*path_, page_html({page_document(trace)}, again));
    const Clock::time_point end = Clock::now();
    next_ = end + std::max<Clock::duration>(kBetweenPages, kPageShare * (end - begin));
  }

 private:
  std::optional<std::string> path_;
  Clock::time_point next_ = {};
};

}  // namespace

Options watch_options() {
  Options options("watch RUN.h5 [-o PAGE.html]",
                  "Follows a run by the trace that it writes, and shows its report when it ends.",
                  {"superstep run program.mlir --repeat 100 -o run.h5 & superstep watch run.h5",
                   "superstep watch run.h5 -o run.html"});
  options
      .value("output,o", "FILE",
             "also a page of the run so far, which a browser reads anew until the run ends")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode watch_command(const Options& options, Answer& answer) {
  const fs::path path = finished(options.words()[0]), part = trace_part(path);
  const std::optional<std::string> output = options.get("output");
  if (output) check_outputs({{"the trace", path.string()}}, {{"--output", *output}});
  Page page(output);
  Progress progress(options.has("quiet"));
  const InterruptRequest interrupt;
  bool was_killed = false;
  std::uint64_t supersteps = 0;
  while (!was_killed && !interrupt.asked() && fs::exists(part)) {
    // Asked first: what its writer wrote last is then in what is read.
    const bool lasts = is_locked(path);
    try {
      const TraceFile trace(part);
      const TraceSummary so_far = trace.summary();
      progress.show(line_of(so_far));
      if (so_far.totals.supersteps > supersteps) page.show(trace, true);
      supersteps = so_far.totals.supersteps;
    } catch (const std::exception&) {
      // A run that begins or ends has no file that can be read yet, or none any more.
      if (!lasts && fs::exists(part)) throw;
    }
    was_killed = !lasts && fs::exists(part);
    if (lasts) std::this_thread::sleep_for(kBetweenLooks);
  }
  progress.clear();
  if (interrupt.asked()) return ExitCode::kInterrupted;
  const TraceFile trace(was_killed ? part : path);
  const TraceSummary summary = trace.summary();
  report(summary, answer);
  page.show(trace, false);
  if (was_killed) {
    answer.add_problem(
        {{part.string(), 0, 0},
         "the run was killed; `superstep trace repair` makes a trace of what it left"});
    return ExitCode::kDamagedTrace;
  }
  return summary.outcome == "ok" ? ExitCode::kOk : ExitCode::kFailedCheck;
}

}  // namespace superstep
