#include "sim/trace/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/format_version.h"

namespace superstep {
namespace {

using enum TraceLevel;

template <const auto&... kTables>
std::vector<TraceColumn> columns_of() {
  static_assert((has_units(kTables) && ...), "a number has a unit, a text none");
  std::vector<TraceColumn> columns;
  const auto add = [&](const auto& table) {
    table.for_each_column([&](const auto& column) { columns.push_back(erased(table, column)); });
  };
  (add(kTables), ...);
  return columns;
}

template <const auto&... kTables>
std::vector<TraceAttribute> attributes_in() {
  static_assert((has_units(kTables) && ...), "a number has a unit, a text none");
  std::vector<TraceAttribute> attributes;
  const auto add = [&](const auto& table) {
    table.for_each_column([&](const auto& column) {
      attributes.push_back({table.group, column.name, erased(table, column).type, column.unit,
                            column.meaning, column.minor});
    });
  };
  (add(kTables), ...);
  return attributes;
}

constexpr TracePlot kPlots[] = {
    {"phases", "Cycles of each superstep", "/supersteps/compute_cycles",
     "/supersteps/exchange_cycles /supersteps/sync_cycles /supersteps/host_cycles", "superstep",
     kSuperstep},
    {"tile_compute", "Compute cycles of each tile", "/profiles/compute/cycles", "",
     "compute_profile used_tile", kTile},
    {"memory", "Memory of each tile", "/memory/bytes", "", "tile category", kSummary},
    {"liveness", "Memory in use in each step", "/memory/liveness/not_always_live_bytes",
     "/memory/liveness/always_live_bytes", "step", kSummary},
    {"steps", "Cycles of each step", "/summary/step/compute_cycles",
     "/summary/step/exchange_cycles /summary/step/sync_cycles /summary/step/host_cycles", "step",
     kSummary},
};

}  // namespace

std::span<const TraceColumn> trace_columns() {
  static const std::vector<TraceColumn> columns =
      columns_of<kMachineText, kTilePlaces, kParameters, kOpcodes, kUsedTiles, kOperations, kSteps,
                 kFusedOperations, kComputeSets, kVertexTypes, kVariables, kCompileEvents, kStreams,
                 kMemoryCategories, kMemoryBytes, kTilePeaks, kLiveness, kExchanges, kMessages,
                 kSupersteps, kProfileNumbers, kLaunches, kComputeProfiles, kComputePhases,
                 kExchangeProfiles, kExchangePhases, kVertices, kInstructions, kTransfers, kEvents,
                 kReport, kStepSums>();
  return columns;
}

std::span<const TraceAttribute> trace_attributes() {
  static const std::vector<TraceAttribute> attributes =
      attributes_in<kRootAttributes, kSummaryAttributes>();
  return attributes;
}

std::span<const std::string> trace_groups() {
  static const std::vector<std::string> groups = [] {
    std::vector<std::string> found;
    for (const TraceColumn& column : trace_columns()) {
      for (std::size_t end = column.path.find('/', 1); end != std::string::npos;
           end = column.path.find('/', end + 1)) {
        const std::string group = column.path.substr(0, end);
        if (std::ranges::find(found, group) == found.end()) found.push_back(group);
      }
    }
    return found;
  }();
  return groups;
}

std::string_view scale_of(std::string_view axis) {
  if (axis == "one" || axis.find(' ') != std::string_view::npos) return {};
  const auto first = std::ranges::find(trace_columns(), axis, &TraceColumn::axes);
  return first == trace_columns().end() ? std::string_view() : first->path;
}

bool is_of_end(std::string_view path) {
  return path == kReport.group || path.starts_with(std::string(kReport.group) + '/');
}

bool is_due(const RootRow& root, std::string_view path, TraceLevel level, unsigned minor,
            bool grows) {
  TraceLevel has = trace_level(root.level).value_or(kTile);
  // While a run lasts every level keeps supersteps.
  if (!root.complete && grows) has = std::max(has, kSuperstep);
  return level <= has && minor <= minor_of(root.format_version) &&
         (root.complete || !is_of_end(path));
}

std::span<const TracePlot> trace_plots() { return kPlots; }

std::string_view name_of(TraceEvent::Kind kind) {
  return kEventKinds[static_cast<std::size_t>(kind)];
}

std::optional<TraceLevel> trace_level(std::string_view name) {
  for (const TraceLevel level : {kSummary, kSuperstep, kTile, kVertex, kInstruction}) {
    if (name == name_of(level)) return level;
  }
  return std::nullopt;
}

std::string_view name_of(TraceLevel level) {
  constexpr std::string_view kNames[] = {"summary", "superstep", "tile", "vertex", "instruction"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string trace_schema_markdown() {
  std::string text =
      R"(One HDF5 file a run, of columns: every dataset has `units`, `long_name` and `axes`, and every axis a dimension scale
but that of datasets of one text (axis `one`), for which readers such as h5netcdf make a phony dimension.
Compression is deflate with shuffle, so that any HDF5 library reads it. The scales of a finished file are also linked into
the groups whose data has their axes, so that netCDF4 and xarray (engines h5netcdf and netcdf4, `open_datatree` too) open
every group; h5netcdf gives text as bytes of UTF-8. Equal rows of tiles are stored once: the compute
cycles of tile t in superstep s are `profiles/compute/cycles[supersteps/compute_profile[s], t]`, t counting
`program/used_tile`. A tile without a program costs nothing and has no column there.

A level holds those before it. While a run lasts its data is in `RUN.h5.part`, flushed by number of supersteps (at powers
of two up to 64, then every 64, and every 1,024 after 4,096) and open to SWMR readers; `superstep report` and
`superstep trace repair` read it after the run was killed, at any level. The next run of the same `-o` replaces it: repair
first what is to be kept. `trace repair RUN.h5.part` makes it `RUN.h5` and removes the `.part`, as the run would have, but replaces
no `RUN.h5` that is there; `trace repair RUN.h5.part OUT.h5` writes another file and leaves the `.part`. What is repaired keeps its
format, and lacks what later ones brought; `calls` counts those that ended, and nothing is predicted, as of each run that did not end. `RUN.h5.lock` keeps other writers away while the run lasts. The finished file does not depend on
the number of host threads. When the file reaches its size limit (2 GiB), the rows of tiles and of their workers end, `/events`
says so, and all else goes on. Levels below tile are flushed as well whenever there are 262,144 rows more.

Cycles add up: exchange, compute, sync and host cycles of a superstep are the whole of it, those of all supersteps are the
totals of `/summary`, and the launches of a superstep sum to its compute cycles. A superstep may compute several steps one
after the other; `/launches` says how its critical tile's time is shared between them. The stream `goes_on` is a word on each
tile that decides whether another call comes; the host sends it, as 0, with the arguments of the last call.

Several operations may share a step: a compute step in which they are fused, an exchange that moves operands of several, which has the
name of the first and how many there are more. `/program/fused` has each of them and what its share goes by; reports, pages and
folded stacks book the cycles, bytes and operations of the step on them.

Useful floating-point operations are those of the program's text, however many instructions they take: one for each float that
an arithmetic operation makes (add, subtract, multiply, divide, remainder, power, and functions as exp, sqrt and tanh), 2mnk of
a product, n - 1 of a sum of n elements, one for each element that a scatter adds. What compares, chooses (maximum, clamp,
select), rounds, converts, changes signs or moves is none, and integers count nothing. Complex numbers count as the operations
on their parts; f64 is computed in integers and counts nothing. What expands to other operations counts as those.

At level vertex `/vertices` has what each worker does from launch to exit, at level instruction `/instructions` what contexts
of the tiles of `--trace-tiles` issue, without which `run` refuses this level. A window says of which supersteps, tiles and
operations (`run --trace-supersteps A:B --trace-tiles LIST --trace-ops PATTERN`); no other rows are there, and all other tables
are as without one. A launch of all workers is a row for each of them, with one launch_cycle. Of operations the instructions of their workers are
kept, of a window without operations those of supervisors too. Of a superstep in which tiles of the window issue more than 4,194,304
instructions no instruction is kept, of one with more than 4,194,304 runs of their workers no vertex, and `/events` says so: fewer tiles have
fewer. Of a superstep that a trap ends there are none.

`superstep trace validate` looks whether a file keeps all this, `superstep trace export` gives it to other viewers
([exports.md](exports.md)).

What a run takes follows from numbers of the machine file, each with its source: `cost_source` says of each number, and of the
cycles of each superstep, where it comes from. Attributes of `/summary` add up what rests on assumed or extrapolated numbers.
Where a trace does not say it, as before format 1.5, and of exchange and compute before 1.7, readers count all as assumed.

## Datasets

| dataset | type | axes | unit | level | meaning |
|---|---|---|---|---|---|
)";
  for (const TraceColumn& column : trace_columns()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", column.path, name_of(column.type),
                        column.axes, column.unit, name_of(column.level), column.meaning);
  }
  text += "\n## Attributes\n\n| attribute | type | unit | meaning |\n|---|---|---|---|\n";
  for (const TraceAttribute& attribute : trace_attributes()) {
    text += fmt::format("| `{}` of `{}` | {} | {} | {} |\n", attribute.name, attribute.object,
                        name_of(attribute.type), attribute.unit, attribute.meaning);
  }
  text += R"(
Attributes of `/provenance` (with `config_origin`) are all that may differ between two equal runs: `software`,
`software_version`, `build_type`, `compiler`, `command_line`, `created`, `host_threads`, `wall_seconds`.

## What is not there

| not there | because |
|---|---|
| positions of tiles in space | no source gives them; row, column and lane are all that timing depends on, and logical numbers are the only ones |
| reasons of waiting | tiles wait for nothing but the barrier: `wait_cycles` |
| mean compute cycles | `compute_cycles_sum` is exact; by the length of `program/used_tile` it is the mean |
| live variables of each step | `variable/first_step` and `last_step` say it |
| addresses of variables, gaps between them | what is live at other times lies in the gaps; a program that does not fit says which free piece it lacks |
| a table of blocks and trips | `supersteps/iteration`, `exchange_step` and `trip` with `step/parent` and `call_site` say it ([exports.md](exports.md#which-trip-of-a-loop-is-it)) |
| offsets with one entry more than rows | `first_message` and `messages` have a dimension scale |
| the seed | nothing in a run is random; `--input random:SEED` is in `command_line` |
| the program's text, git commits | `program_sha256` and `software_version` identify what ran; builds from archives have no commit |
| runs in one file, user counters, markers, breakpoints, NaN events | nothing makes them yet; readers ignore groups that they do not know |

## Plots

`/plots` (NXentry) holds NeXus views (NXdata) of the data above, by hard links.

| group | title | signals | axes | level |
|---|---|---|---|---|
)";
  for (const TracePlot& plot : kPlots) {
    text += fmt::format("| `/plots/{}` | {} | {} {} | {} | {} |\n", plot.name, plot.title,
                        plot.signal, plot.auxiliary, plot.axes, name_of(plot.level));
  }
  return text;
}

}  // namespace superstep
