#include "sim/trace/schema.h"

#include <fmt/format.h>

namespace superstep {
namespace {

using enum Hdf5Type;
using enum TraceLevel;

constexpr TraceColumn kColumns[] = {
    {"/machine/toml", kText, "one", "", "The machine as a complete machine file."},
    {"/machine/tile", kU32, "tile", "1", "Logical number of each tile of the chip."},
    {"/machine/row", kU32, "tile", "1", "Physical row of the tile."},
    {"/machine/column", kU32, "tile", "1", "Physical column of the tile."},
    {"/machine/lane", kU32, "tile", "1", "Lane of the tile at its row and column."},

    {"/program/used_tile", kU32, "used", "1", "Tiles that have a program, ascending."},
    {"/program/step/kind", kU8, "step", "1", "0 compute, 1 exchange, 2 host, 3 control."},
    {"/program/step/name", kText, "step", "",
     "Name of the step; the last is the code between steps."},
    {"/program/step/operation", kText, "step", "", "StableHLO operation, or empty."},
    {"/program/step/source_file", kText, "step", "", "File of the operation, or empty."},
    {"/program/step/source_line", kU32, "step", "1", "Line of the operation, 0 when unknown."},
    {"/program/step/source_column", kU32, "step", "1", "Column of the operation, 0 when unknown."},
    {"/program/step/flops", kU64, "step", "flop",
     "Useful floating-point operations of one execution."},
    {"/program/step/exchange_bytes", kU64, "step", "B",
     "Bytes that one execution sends, by the compiler."},
    {"/program/step/bound_cycles", kU64, "step", "cycle",
     "Lower bound of an exchange: words of its busiest port."},
    {"/program/tensor/name", kText, "tensor", "", "Name of the tensor."},
    {"/program/tensor/type", kText, "tensor", "", "StableHLO type."},
    {"/program/tensor/bytes", kU64, "tensor", "B", "Memory of the tensor over all tiles."},
    {"/program/tensor/max_tile_bytes", kU32, "tensor", "B",
     "Memory of the tensor on the tile that holds most of it."},
    {"/program/tensor/source_file", kText, "tensor", "",
     "File of the operation that makes it, or empty."},
    {"/program/tensor/source_line", kU32, "tensor", "1", "Line of that operation, 0 when unknown."},

    {"/memory/category", kText, "category", "", "What tile memory is used for."},
    {"/memory/bytes", kU32, "category tile", "B", "Bytes of each category on each tile."},

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
    {"/supersteps/exchange_bytes", kU64, "superstep", "B",
     "Written to tile memories by the exchange.", kSuperstep},
    {"/supersteps/host_bytes", kU64, "superstep", "B", "Moved over the host link, both directions.",
     kSuperstep},
    {"/supersteps/worker_instructions", kU64, "superstep", "1",
     "Issued by all workers; a bundle counts as two.", kSuperstep},
    {"/supersteps/tile_cycles", kU64, "superstep", "cycle", "Compute cycles added up over tiles.",
     kSuperstep},
    {"/supersteps/peak_cycles", kU64, "superstep", "cycle", "Most compute cycles of any tile.",
     kSuperstep},
    {"/supersteps/profile", kU32, "superstep", "1",
     "Row of /profiles with the cycles of each tile.", kTile},

    {"/profiles/exchange_cycles", kU32, "profile used", "cycle",
     "Exchange of each tile; equal rows are stored once.", kTile},
    {"/profiles/compute_cycles", kU32, "profile used", "cycle", "Compute of each tile.", kTile},
    {"/profiles/sync_cycles", kU32, "profile used", "cycle", "Waiting of each tile.", kTile},

    {"/summary/step/count", kU64, "step", "1", "Supersteps that the step took part in."},
    {"/summary/step/exchange_cycles", kU64, "step", "cycle", "Exchange cycles of the step."},
    {"/summary/step/compute_cycles", kU64, "step", "cycle", "Compute cycles of the step."},
    {"/summary/step/sync_cycles", kU64, "step", "cycle", "Sync cycles of the step."},
    {"/summary/step/host_cycles", kU64, "step", "cycle", "Host cycles of the step."},
    {"/summary/step/worst_tile", kU32, "step", "1",
     "Critical tile of the step's longest superstep."},
    {"/summary/step/longest_cycles", kU64, "step", "cycle", "Share of the step in that superstep."},
    {"/summary/step/tile_cycles", kU64, "step", "cycle",
     "Compute cycles added up over tiles and supersteps."},
    {"/summary/step/peak_cycles", kU64, "step", "cycle",
     "Most compute cycles of any tile, added up over supersteps."},
};

constexpr TraceAttribute kAttributes[] = {
    {"/", "format", kText, "", "superstep-trace"},
    {"/", "format_version", kText, "",
     "Version of this schema; readers accept the same major number."},
    {"/", "level", kText, "", "summary, superstep or tile."},
    {"/", "complete", kU64, "1",
     "1 in a finished file, 0 in one that is being written or was cut off."},
    {"/", "outcome", kText, "", "ok, trap, interrupted, or running."},
    {"/", "module", kText, "", "Name of the StableHLO module."},
    {"/", "machine", kText, "", "Name of the machine."},
    {"/", "clock_hz", kU64, "Hz", "Tile clock."},
    {"/", "tiles", kU64, "1", "Tiles of the chip."},
    {"/", "workers_per_tile", kU64, "1", "Worker contexts of a tile."},
    {"/", "tile_memory_bytes", kU64, "B", "Memory of a tile."},
    {"/summary", "total_cycles", kU64, "cycle", "Cycles of the run."},
    {"/summary", "exchange_cycles", kU64, "cycle", "Exchange, over all supersteps."},
    {"/summary", "compute_cycles", kU64, "cycle", "Compute, over all supersteps."},
    {"/summary", "sync_cycles", kU64, "cycle", "Sync, over all supersteps."},
    {"/summary", "host_cycles", kU64, "cycle", "Host, over all supersteps."},
    {"/summary", "supersteps", kU64, "1", "Number of supersteps."},
    {"/summary", "worker_instructions", kU64, "1",
     "Issued by all workers; a bundle counts as two."},
    {"/summary", "exchange_bytes", kU64, "B", "Written to tile memories by exchanges."},
    {"/summary", "host_bytes", kU64, "B", "Moved over the host link."},
    {"/summary", "flops", kU64, "flop",
     "Useful floating-point operations of what ran, by the compiler."},
    {"/summary", "balance", kF64, "1", "Mean over maximum of the tiles' compute cycles."},
    {"/summary", "trap", kText, "", "The trap that ended the run, or empty."},
};

constexpr std::string_view kGroups[] = {
    "/provenance", "/machine",    "/program",  "/program/step", "/program/tensor",
    "/memory",     "/supersteps", "/profiles", "/summary",      "/summary/step"};

}  // namespace

std::span<const TraceColumn> trace_columns() { return kColumns; }
std::span<const TraceAttribute> trace_attributes() { return kAttributes; }
std::span<const std::string_view> trace_groups() { return kGroups; }

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
      "| Dataset | Type | Axes | Unit | Level | Meaning |\n|---|---|---|---|---|---|\n";
  for (const TraceColumn& column : kColumns) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", column.path, name_of(column.type),
                        column.axes, column.unit, name_of(column.level), column.meaning);
  }
  text += "\n| Attribute | Type | Unit | Meaning |\n|---|---|---|---|\n";
  for (const TraceAttribute& attribute : kAttributes) {
    text += fmt::format("| `{}` of `{}` | {} | {} | {} |\n", attribute.name, attribute.object,
                        name_of(attribute.type), attribute.unit, attribute.meaning);
  }
  text +=
      "\n`/provenance` holds, as text attributes, all that may differ between two equal runs.\n";
  return text;
}

}  // namespace superstep
