#include "sim/trace/schema.h"

#include <fmt/format.h>

#include <utility>

namespace superstep {
namespace {

using enum Hdf5Type;
using enum TraceLevel;

constexpr TraceColumn kColumns[] = {
    {"/provenance/config_toml", kText, "one", "", "The machine as a complete machine file."},

    {"/machine/tile", kU32, "tile", "1", "Logical number of each tile of the chip."},
    {"/machine/row", kU32, "tile", "1", "Physical row of the tile."},
    {"/machine/column", kU32, "tile", "1", "Physical column of the tile."},
    {"/machine/lane", kU32, "tile", "1", "Lane of the tile at its row and column."},

    {"/program/used_tile", kU32, "used_tile", "1", "Tiles that have a program, ascending."},
    {"/program/operation/operation", kU32, "operation", "1", "Number of the operation."},
    {"/program/operation/name", kText, "operation", "",
     "Name of the operation; the last is the code between steps."},
    {"/program/operation/hlo_opcode", kText, "operation", "", "StableHLO operation, or empty."},
    {"/program/operation/source_file", kText, "operation", "", "Its file, or empty."},
    {"/program/operation/source_line", kU32, "operation", "1", "Its line, 0 when unknown."},
    {"/program/operation/source_column", kU32, "operation", "1", "Its column, 0 when unknown."},
    {"/program/step/step", kU32, "step", "1", "Number of the step."},
    {"/program/step/kind", kU8, "step", "1", "0 compute, 1 exchange, 2 host, 3 control."},
    {"/program/step/name", kText, "step", "",
     "Name of the step; the last is the code between steps."},
    {"/program/step/operation", kU32, "step", "1", "Row of /program/operation."},
    {"/program/step/flops", kU64, "step", "flop",
     "Useful floating-point operations of one execution."},
    {"/program/step/exchange_bytes", kU64, "step", "B",
     "Bytes that one execution sends, by the compiler."},
    {"/program/step/bound_cycles", kU64, "step", "cycle",
     "Lower bound of an exchange: words of its busiest port."},
    {"/program/variable/variable", kU32, "variable", "1", "Number of the tensor."},
    {"/program/variable/name", kText, "variable", "", "Name of the tensor."},
    {"/program/variable/type", kText, "variable", "", "StableHLO type."},
    {"/program/variable/bytes", kU64, "variable", "B", "Its memory over all tiles."},
    {"/program/variable/max_tile_bytes", kU32, "variable", "B",
     "Its memory on the tile that holds most of it."},
    {"/program/variable/source_file", kText, "variable", "",
     "File of the operation that makes it, or empty."},
    {"/program/variable/source_line", kU32, "variable", "1",
     "Line of that operation, 0 when unknown."},

    {"/memory/category", kText, "category", "", "What tile memory is used for."},
    {"/memory/bytes", kU32, "tile category", "B", "Bytes of each category on each tile."},

    {"/supersteps/superstep", kU64, "superstep", "1", "Number of the superstep.", kSuperstep},
    {"/supersteps/start_cycle", kU64, "superstep", "cycle",
     "Opening of the barrier that begins it.", kSuperstep},
    {"/supersteps/step", kU32, "superstep", "1",
     "Step that its compute, sync and host cycles belong to.", kSuperstep},
    {"/supersteps/exchange_step", kU32, "superstep", "1",
     "Step that its exchange cycles belong to.", kSuperstep},
    {"/supersteps/exchange_cycles", kU64, "superstep", "cycle",
     "Until the critical tile's last port event.", kSuperstep},
    {"/supersteps/compute_cycles", kU64, "superstep", "cycle",
     "From there to the critical tile's arrival.", kSuperstep},
    {"/supersteps/sync_cycles", kU64, "superstep", "cycle",
     "From there to the opening that ends it.", kSuperstep},
    {"/supersteps/host_cycles", kU64, "superstep", "cycle",
     "All of a superstep between two external syncs.", kSuperstep},
    {"/supersteps/critical_tile", kU32, "superstep", "1",
     "Last tile to arrive, the lowest of several.", kSuperstep},
    {"/supersteps/active_tiles", kU32, "superstep", "1", "Tiles that compute in it.", kSuperstep},
    {"/supersteps/compute_cycles_max", kU64, "superstep", "cycle",
     "Most compute cycles of any tile.", kSuperstep},
    {"/supersteps/compute_cycles_min", kU64, "superstep", "cycle",
     "Fewest compute cycles of any tile.", kSuperstep},
    {"/supersteps/compute_cycles_sum", kU64, "superstep", "cycle",
     "Compute cycles added up over tiles.", kSuperstep},
    {"/supersteps/bytes_sent", kU64, "superstep", "B", "Written to tile memories by the exchange.",
     kSuperstep},
    {"/supersteps/host_bytes", kU64, "superstep", "B", "Moved over the host link, both directions.",
     kSuperstep},
    {"/supersteps/instructions", kU64, "superstep", "1",
     "Issued by all workers; a bundle counts as two.", kSuperstep},
    {"/supersteps/compute_profile", kU32, "superstep", "1",
     "Row of /profiles/compute; 0xffffffff when the file had reached its size limit.", kTile},
    {"/supersteps/exchange_profile", kU32, "superstep", "1", "Row of /profiles/exchange, likewise.",
     kTile},

    {"/profiles/compute/profile", kU32, "compute_profile", "1", "Number of the row.", kTile},
    {"/profiles/compute/cycles", kU32, "compute_profile used_tile", "cycle",
     "Compute of each tile; equal rows are stored once.", kTile},
    {"/profiles/compute/wait_cycles", kU32, "compute_profile used_tile", "cycle",
     "Waiting of each tile for the barrier.", kTile},
    {"/profiles/exchange/profile", kU32, "exchange_profile", "1", "Number of the row.", kTile},
    {"/profiles/exchange/cycles", kU32, "exchange_profile used_tile", "cycle",
     "Exchange of each tile; equal rows are stored once.", kTile},

    {"/summary/step/count", kU64, "step", "1", "Supersteps that the step took part in."},
    {"/summary/step/exchange_cycles", kU64, "step", "cycle", "Exchange cycles of the step."},
    {"/summary/step/compute_cycles", kU64, "step", "cycle", "Compute cycles of the step."},
    {"/summary/step/sync_cycles", kU64, "step", "cycle", "Sync cycles of the step."},
    {"/summary/step/host_cycles", kU64, "step", "cycle", "Host cycles of the step."},
    {"/summary/step/critical_tile", kU32, "step", "1",
     "Critical tile of the step's longest superstep."},
    {"/summary/step/longest_cycles", kU64, "step", "cycle", "Share of the step in that superstep."},
    {"/summary/step/compute_cycles_sum", kU64, "step", "cycle",
     "Compute cycles added up over tiles and supersteps."},
    {"/summary/step/compute_cycles_max", kU64, "step", "cycle",
     "Most compute cycles of any tile, added up over supersteps."},
};

constexpr TraceAttribute kAttributes[] = {
    {"/", "format", kText, "", "superstep-trace"},
    {"/", "format_version", kText, "",
     "Version of this schema; readers accept the same major number."},
    {"/", "level", kText, "", "summary, superstep or tile."},
    {"/", "complete", kU64, "1",
     "1 in a finished file, 0 in one that is being written or was cut off."},
    {"/", "outcome", kText, "",
     "ok, trap, interrupted, oom (does not fit: program and memory only), or running."},
    {"/", "module", kText, "", "Name of the StableHLO module."},
    {"/", "machine", kText, "", "Name of the machine."},
    {"/", "clock_hz", kF64, "Hz", "Tile clock."},
    {"/", "ipus", kU64, "1", "Chips."},
    {"/", "tiles", kU64, "1", "Tiles of the chip."},
    {"/", "workers_per_tile", kU64, "1", "Worker contexts of a tile."},
    {"/", "tile_memory_bytes", kU64, "B", "Memory of a tile."},
    {"/", "calls", kU64, "1", "Calls of the program that were asked for."},
    {"/", "NX_class", kText, "", "NXroot"},
    {"/", "default", kText, "", "plots"},
    {"/summary", "total_cycles", kU64, "cycle", "Cycles of the run."},
    {"/summary", "device_cycles", kU64, "cycle", "Exchange, compute and sync."},
    {"/summary", "exchange_cycles", kU64, "cycle", "Exchange, over all supersteps."},
    {"/summary", "compute_cycles", kU64, "cycle", "Compute, over all supersteps."},
    {"/summary", "sync_cycles", kU64, "cycle", "Sync, over all supersteps."},
    {"/summary", "host_cycles", kU64, "cycle", "Host, over all supersteps."},
    {"/summary", "supersteps", kU64, "1", "Number of supersteps."},
    {"/summary", "instructions", kU64, "1", "Issued by all workers; a bundle counts as two."},
    {"/summary", "bytes_exchanged", kU64, "B", "Written to tile memories by exchanges."},
    {"/summary", "host_bytes", kU64, "B", "Moved over the host link."},
    {"/summary", "flops", kU64, "flop",
     "Useful floating-point operations of what ran, by the compiler."},
    {"/summary", "flop_per_cycle", kF64, "flop/cycle", "Those, by device cycle."},
    {"/summary", "tile_balance", kF64, "1",
     "Sum of the tiles' mean compute cycles over the sum of their maximum."},
    {"/summary", "bsp_efficiency", kF64, "1",
     "Sum of the tiles' mean compute cycles over device cycles."},
    {"/summary", "worst_tile", kU64, "1", "Tile with most memory in use."},
    {"/summary", "peak_tile_bytes", kU64, "B", "Memory in use there."},
    {"/summary", "trap", kText, "", "The trap that ended the run, or empty."},
};

constexpr std::string_view kGroups[] = {
    "/provenance",        "/machine", "/program",     "/program/operation", "/program/step",
    "/program/variable",  "/memory",  "/supersteps",  "/profiles",          "/profiles/compute",
    "/profiles/exchange", "/summary", "/summary/step"};

/// The path of the dimension scale of each axis.
constexpr std::pair<std::string_view, std::string_view> kScales[] = {
    {"tile", "/machine/tile"},
    {"used_tile", "/program/used_tile"},
    {"operation", "/program/operation/operation"},
    {"step", "/program/step/step"},
    {"variable", "/program/variable/variable"},
    {"category", "/memory/category"},
    {"superstep", "/supersteps/superstep"},
    {"compute_profile", "/profiles/compute/profile"},
    {"exchange_profile", "/profiles/exchange/profile"},
};

constexpr TracePlot kPlots[] = {
    {"phases", "Cycles of each superstep", "/supersteps/compute_cycles",
     "/supersteps/exchange_cycles /supersteps/sync_cycles /supersteps/host_cycles", "superstep",
     kSuperstep},
    {"tile_compute", "Compute cycles of each tile", "/profiles/compute/cycles", "",
     "compute_profile used_tile", kTile},
    {"memory", "Memory of each tile", "/memory/bytes", "", "tile category", kSummary},
    {"steps", "Cycles of each step", "/summary/step/compute_cycles",
     "/summary/step/exchange_cycles /summary/step/sync_cycles /summary/step/host_cycles", "step",
     kSummary},
};

}  // namespace

std::span<const TraceColumn> trace_columns() { return kColumns; }
std::span<const TraceAttribute> trace_attributes() { return kAttributes; }
std::span<const std::string_view> trace_groups() { return kGroups; }
std::span<const TracePlot> trace_plots() { return kPlots; }

std::string_view TraceColumn::scale_of(std::string_view axis) {
  for (const auto& [name, path] : kScales)
    if (name == axis) return path;
  return {};
}

Hdf5Layout fixed_layout(std::string_view path, Hdf5Type type, std::vector<std::uint64_t> dims) {
  Hdf5Layout layout{.type = type, .dims = std::move(dims)};
  if (path == "/program/step/kind") {
    layout.names = {{"compute", 0}, {"exchange", 1}, {"host", 2}, {"control", 3}};
  }
  return layout;
}

std::optional<TraceLevel> trace_level(std::string_view name) {
  for (const TraceLevel level : {kSummary, kSuperstep, kTile}) {
    if (name == name_of(level)) return level;
  }
  return std::nullopt;
}

std::string_view name_of(TraceLevel level) {
  constexpr std::string_view kNames[] = {"summary", "superstep", "tile"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string trace_schema_markdown() {
  std::string text =
      "One HDF5 file a run, of columns: every dataset has `units`, `long_name` and `axes`, and "
      "every "
      "axis a dimension scale.\nCompression is deflate with shuffle, so that any HDF5 library "
      "reads "
      "it. Equal rows of tiles are stored once: the compute\ncycles of tile t in superstep s are "
      "`profiles/compute/cycles[supersteps/compute_profile[s], t]`, t "
      "counting\n`program/used_tile`. "
      "A tile without a program costs nothing and has no column there.\n\n"
      "A level holds those before it. While a run lasts its data is in `RUN.h5.part`, flushed by "
      "number of supersteps (at powers\nof two up to 64, then every 64, and every 1,024 after "
      "4,096) and open to SWMR readers; `superstep report` and\n`superstep trace repair` read it "
      "after the run was killed, at any level. The finished file does not depend on the number "
      "of\nhost threads. When the file reaches its size limit (2 GiB), the rows of tiles end and "
      "all else goes on.\n\n## Datasets\n\n"
      "| dataset | type | axes | unit | level | meaning |\n|---|---|---|---|---|---|\n";
  for (const TraceColumn& column : kColumns) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", column.path, name_of(column.type),
                        column.axes, column.unit, name_of(column.level), column.meaning);
  }
  text += "\n## Attributes\n\n| attribute | type | unit | meaning |\n|---|---|---|---|\n";
  for (const TraceAttribute& attribute : kAttributes) {
    text += fmt::format("| `{}` of `{}` | {} | {} | {} |\n", attribute.name, attribute.object,
                        name_of(attribute.type), attribute.unit, attribute.meaning);
  }
  text +=
      "\nText attributes of `/provenance` are all that may differ between two equal runs: "
      "software, "
      "command line, date, host threads,\nwall time.\n\n## Plots\n\n"
      "`/plots` (NXentry) holds NeXus views (NXdata) of the data above, by hard links.\n\n"
      "| group | title | signals | axes | level |\n|---|---|---|---|---|\n";
  for (const TracePlot& plot : kPlots) {
    text += fmt::format("| `/plots/{}` | {} | {} {} | {} | {} |\n", plot.name, plot.title,
                        plot.signal, plot.auxiliary, plot.axes, name_of(plot.level));
  }
  return text;
}

}  // namespace superstep
