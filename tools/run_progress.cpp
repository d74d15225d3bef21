#include "tools/run_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/numbers.h"

namespace superstep {
namespace {

/// Without a new superstep for so long a run seems to stand still.
constexpr std::chrono::seconds kQuiet{10};

}  // namespace

std::string text_of(const RunProgress& progress) {
  const RunTotals& totals = progress.totals;
  const Cycles device = totals.device();
  const auto share = [&](Cycles part) {
    return device.value() == 0
               ? 0
               : 100.0 * static_cast<double>(part.value()) / static_cast<double>(device.value());
  };
  std::string text =
      fmt::format("call {} of {}, {} supersteps, {} device cycles",
                  grouped(std::min(progress.call + 1, progress.calls)), grouped(progress.calls),
                  grouped(totals.supersteps), grouped(device));
  if (progress.clock_hz != 0) {
    const double ns = nanoseconds(static_cast<double>(device.value()), progress.clock_hz);
    const TimeColumn time(ns);
    text += fmt::format(" ({} {})", time.text(ns), time.unit());
  }
  text += fmt::format(": compute {:.0f} %, exchange {:.0f} %, sync {:.0f} %", share(totals.compute),
                      share(totals.exchange), share(totals.sync));
  if (progress.quiet >= kQuiet) {
    text += fmt::format("; no more of them for {} s",
                        grouped(static_cast<std::uint64_t>(progress.quiet.count())));
    if (!progress.operation.empty()) text += ", the last of " + progress.operation;
  }
  return text;
}

}  // namespace superstep
