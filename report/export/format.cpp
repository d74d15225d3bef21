#include "report/export/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/export/csv.h"
#include "report/export/folded.h"
#include "report/export/kanata.h"
#include "report/export/perfetto.h"
#include "report/export/speedscope.h"
#include "sim/trace/schema.h"

namespace superstep {
namespace {

constexpr ExportFormat kFormats[] = {
    {"perfetto", "tracks over time, for ui.perfetto.dev; 1 ns is 1 tile cycle", false,
     "window tiles", write_perfetto},
    {"folded", "stacks of the program and their cycles, for flamegraph.pl and inferno", true,
     "window weight", write_folded},
    {"speedscope", "the same for speedscope.app", true, "window weight", write_speedscope},
    {"kanata", "instructions of a trace of level instruction, for Konata", true, "window tiles",
     write_kanata},
    {"csv", "one table", true, "window table", write_csv},
};

/// The number of the superstep of a row.
std::uint64_t number_of(const TraceFile& trace, std::uint64_t row) {
  return trace.read(kSupersteps, row, 1).front().number;
}

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

SuperstepRows rows_in(const TraceFile& trace, const std::optional<SuperstepWindow>& window) {
  if (!trace.has(kSupersteps)) not_at_level(trace, "supersteps", kSupersteps.level);
  const std::uint64_t rows = trace.rows(kSupersteps);
  if (!window) return {0, rows};
  // Their numbers follow one another; those of a run from a checkpoint do not begin at 0.
  const std::uint64_t begin = rows == 0 ? 0 : number_of(trace, 0);
  const std::uint64_t first = std::clamp(window->first, begin, begin + rows) - begin;
  const std::uint64_t end = std::clamp(window->end, begin, begin + rows) - begin;
  if (first < end) return {first, end - first};
  throw UserError(ExitCode::kUsage,
                  {{{trace.path().string(), 0, 0},
                    rows == 0 ? std::string("has no supersteps")
                              : fmt::format("has supersteps {} to {}, none in the window", begin,
                                            begin + rows - 1)}});
}

void not_at_level(const TraceFile& trace, std::string_view what, TraceLevel level) {
  throw UserError(ExitCode::kUsage,
                  {{{trace.path().string(), 0, 0},
                    fmt::format("has no {}: they are in traces of level {} (run --trace {})", what,
                                name_of(level), name_of(level))}});
}

}  // namespace superstep
