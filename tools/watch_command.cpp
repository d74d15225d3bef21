#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/output_file.h"
#include "report/page/page.h"
#include "report/page/page_data.h"
#include "report/report.h"
#include "sim/named.h"
#include "sim/trace/progress.h"
#include "sim/trace/trace_file.h"
#include "tools/command.h"
#include "tools/outputs.h"
#include "tools/progress.h"
#include "tools/report_answer.h"
#include "tools/run_progress.h"
#include "tools/signals.h"

namespace superstep {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

/// Between two looks at a trace; a run flushes it by number of supersteps.
constexpr std::chrono::milliseconds kBetweenLooks{200};
/// Between two pages at least, and what browsers wait for the next.
constexpr std::chrono::seconds kBetweenPages{2};
/// What a run takes, at most, until it has the lock of its trace, unless `--wait` says more.
constexpr std::uint32_t kSecondsToBegin = 5, kMostSeconds = 86400;
/// Making pages takes at most one part in so many of the watcher's time.
constexpr int kPageShare = 10;

/// The finished trace of one that may be named by its `.part`.
fs::path finished(fs::path path) {
  if (path.extension() == ".part") path.replace_extension();
  return path;
}

/// When a file was written; nothing where there is none.
std::optional<fs::file_time_type> written(const fs::path& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  return error ? std::nullopt : std::optional(time);
}

/// How long ago that was.
std::chrono::seconds since(std::optional<fs::file_time_type> time) {
  if (!time) return {};
  const auto ago = fs::file_time_type::clock::now() - *time;
  return std::max({}, std::chrono::duration_cast<std::chrono::seconds>(ago));
}

/// What a run has done so far, from look to look: each reads what is new.
class SoFar {
 public:
  /// Whether there are new supersteps.
  bool look(const TraceFile& trace) {
    const std::uint64_t supersteps = trace.rows(kSupersteps);
    if (!totals_ || supersteps < seen_) {
      totals_ = no_totals(trace.hdf5());
      operations_ = trace.read(kOperations);
      seen_ = 0;
    }
    const std::uint64_t first = std::exchange(seen_, supersteps);
    trace.for_each_superstep(first, supersteps - first, [&](const SuperstepInFile& superstep) {
      operation_ = superstep.row.operation;
      totals_->add(superstep.row, superstep.launches);
    });
    return supersteps > first;
  }
  /// Behind the first look, of a trace that was written so long ago.
  [[nodiscard]] RunProgress progress(const TraceFile& trace, std::chrono::seconds quiet) const {
    const RootRow root = read_attributes(trace.hdf5(), kRootAttributes);
    RunProgress progress{.totals = totals_->run,
                         .clock_hz = static_cast<std::uint64_t>(root.clock_hz),
                         .call = totals_->last_call,
                         .calls = totals_->first_call.value_or(0) + std::max(root.calls, 1U),
                         .quiet = quiet};
    if (totals_->first_call && operation_ < operations_.size())
      progress.operation = named(operations_[operation_].name, operations_[operation_].source);
    return progress;
  }

 private:
  std::optional<TraceTotals> totals_;
  std::vector<OperationRow> operations_;
  std::uint32_t operation_ = 0;  ///< of the last superstep
  std::uint64_t seen_ = 0;
};

/// The page of a run that lasts, written anew while that takes little of the time.
class Page {
 public:
  explicit Page(std::optional<std::string> path) : path_(std::move(path)) {}

  /// Whether there is one that is still to be written, later.
  bool show(const TraceFile& trace, bool lasts) {
    const Clock::time_point begin = Clock::now();
    if (!path_) return false;
    if (lasts && begin < next_) return true;
    const auto again = lasts ? std::optional(kBetweenPages) : std::nullopt;
    shown_ = {page_document(trace)};
    replace_file(*path_, page_html(shown_, again));
    const Clock::time_point end = Clock::now();
    next_ = end + std::max<Clock::duration>(kBetweenPages, kPageShare * (end - begin));
    return false;
  }

  /// The last one as it was, but that no browser waits for the next.
  void leave() const {
    if (!shown_.empty()) replace_file(*path_, page_html(shown_));
  }

 private:
  std::optional<std::string> path_;
  std::vector<nlohmann::ordered_json> shown_;
  Clock::time_point next_ = {};
};

/// What a run that ended so ends with.
ExitCode code_of(std::string_view outcome) {
  if (outcome == "ok") return ExitCode::kOk;
  if (outcome == "interrupted") return ExitCode::kInterrupted;
  return outcome == "oom" ? ExitCode::kDoesNotFit : ExitCode::kFailedCheck;
}

}  // namespace

Options watch_options() {
  Options options(
      "watch RUN.h5 [-o PAGE.html]",
      "Follows a run by the trace that it writes, shows its report when it ends, and ends "
      "with its code: 0, 1 after a trap, 130 when it was interrupted, 7 when it was "
      "killed.",
      {"superstep run program.mlir --repeat 100 -o run.h5 & superstep watch run.h5",
       "superstep watch run.h5 -o run.html"});
  options
      .value("output,o", "FILE",
             "also a page of the run so far, which a browser reads anew until the run ends")
      .value("wait", "SECONDS",
             "for a run to begin (5); then what is there is taken for the whole of it")
      .flag("quiet,q", "no progress")
      .positionals(1, 1);
  return options;
}

ExitCode watch_command(const Options& options, Answer& answer) {
  const fs::path path = finished(options.words()[0]), part = trace_part(path);
  const std::optional<std::string> output = options.get("output");
  if (output) check_outputs({{"the trace", path.string()}}, {{"--output", *output}});
  const std::chrono::seconds wait{options.number("wait", 0, kMostSeconds, kSecondsToBegin)};
  Page page(output);
  Progress progress(options.has("quiet"));
  const InterruptRequest interrupt;
  const std::optional<fs::file_time_type> before = written(path);
  const Clock::time_point latest = Clock::now() + wait;
  const auto has_begun = [&] { return is_locked(path) || written(path) != before; };
  while (!interrupt.asked() && !has_begun() && Clock::now() < latest) {
    progress.show(fmt::format("no run writes {} yet", path.string()));
    std::this_thread::sleep_for(kBetweenLooks);
  }
  SoFar so_far;
  // Who has the lock has finished the trace that is younger than it.
  const auto is_running = [&] {
    return is_locked(path) && (fs::exists(part) || written(path) < written(lock_beside(path)));
  };
  bool lasts = is_running();
  const bool was_running = lasts;
  bool is_page_due = false;
  while (lasts && !interrupt.asked()) {
    std::this_thread::sleep_for(kBetweenLooks);
    // Asked first: what its writer wrote last is then in what is read.
    lasts = is_running();
    if (!fs::exists(part)) {
      progress.show("the run has not begun, or ends");
      continue;
    }
    try {
      const TraceFile trace(part);
      is_page_due |= so_far.look(trace);
      progress.show(text_of(so_far.progress(trace, since(written(part)))));
      if (is_page_due) is_page_due = page.show(trace, true);
    } catch (const std::exception&) {
      // A run that begins or ends has no file that can be read yet, or none any more.
      if (!lasts && fs::exists(part)) throw;
    }
  }
  progress.clear();
  const bool is_part = fs::exists(part);
  if (interrupt.asked()) {
    page.leave();
    return ExitCode::kInterrupted;
  }
  if (was_running && !is_part && written(path) == before) {
    throw InputOutputError(path.string(), "the run ended before it wrote a trace");
  }
  const TraceFile trace(is_part ? part : path);
  const TraceSummary summary = trace.summary();
  report(summary, answer, TextStyle::of_output(), &trace);
  (void)page.show(trace, false);
  if (is_part) {
    answer.add_problem(
        {{part.string(), 0, 0},
         "the run was killed; `superstep trace repair` makes a trace of what it left"});
    return ExitCode::kDamagedTrace;
  }
  return code_of(summary.outcome);
}

}  // namespace superstep
