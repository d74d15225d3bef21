#include "sim/trace/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "sim/trace/totals.h"

namespace superstep {
namespace {

using enum Hdf5Type;
using enum TraceLevel;

constexpr TraceColumn kColumns[] = {
    {"/provenance/config_toml", kText, "one", "", "The machine as a complete machine file."},
    {"/provenance/config_origin", kText, "one", "",
     "JSON: where each key of the machine comes from; empty when nobody said."},

    {"/machine/tile", kU32, "tile", "1", "Logical number of each tile of the chip."},
    {"/machine/row", kU32, "tile", "1", "Physical row of the tile."},
    {"/machine/column", kU32, "tile", "1", "Physical column of the tile."},
    {"/machine/lane", kU32, "tile", "1", "Lane of the tile at its row and column."},
    {"/machine/parameter/parameter", kU32, "parameter", "1", "Number of the key."},
    {"/machine/parameter/name", kText, "parameter", "", "Key of the machine file."},
    {"/machine/parameter/value", kU64, "parameter", "1", "Its value, in the unit beside it."},
    {"/machine/parameter/unit", kText, "parameter", "", "Unit of the value."},

    {"/program/used_tile", kU32, "used_tile", "1", "Tiles that have a program, ascending."},
    {"/program/operation/operation", kU32, "operation", "1", "Number of the operation."},
    {"/program/operation/name", kText, "operation", "",
     "Name of the operation; the last is the code between steps."},
    {"/program/operation/hlo_opcode", kText, "operation", "", "StableHLO operation, or empty."},
    {"/program/operation/source_file", kText, "operation", "", "Its file, or empty."},
    {"/program/operation/source_line", kU32, "operation", "1", "Its line, 0 when unknown."},
    {"/program/operation/source_column", kU32, "operation", "1", "Its column, 0 when unknown."},
    {"/program/operation/python_file", kText, "operation", "",
     "File of the Python line that it was traced from, or empty."},
    {"/program/operation/python_line", kU32, "operation", "1", "That line, 0 when unknown."},
    {"/program/operation/flops", kU64, "operation", "flop",
     "Useful floating-point operations of one call."},
    {"/program/operation/code_bytes", kU32, "operation", "B",
     "Codelets that it runs; what operations share counts for each."},
    {"/program/step/step", kU32, "step", "1", "Number of the step."},
    {"/program/step/kind", kU8, "step", "1",
     "0 compute, 1 exchange, 2 host, 3 control, 4 loop, 5 branch, 6 arm."},
    {"/program/step/name", kText, "step", "",
     "Name of the step; the last is the code between steps."},
    {"/program/step/superstep", kI32, "step", "1",
     "Steps of one number run in the same superstep of a call; -1: in any."},
    {"/program/step/parent", kI32, "step", "1",
     "Loop or arm that executes the step, branch of an arm; -1: the call does."},
    {"/program/step/trips", kU64, "step", "1",
     "Trips of one execution of a loop; 0 where they follow from data, and for other steps."},
    {"/program/step/compute_set", kI32, "step", "1", "Row of /program/compute_set, or -1."},
    {"/program/step/exchange", kI32, "step", "1", "Row of /exchange (level tile), or -1."},
    {"/program/step/operation", kU32, "step", "1", "Row of /program/operation."},
    {"/program/step/flops", kU64, "step", "flop",
     "Useful floating-point operations of one execution."},
    {"/program/step/exchange_bytes", kU64, "step", "B",
     "Bytes that one execution writes to tile memories, by the compiler."},
    {"/program/step/bound_cycles", kU64, "step", "cycle",
     "Lower bound of an exchange: words of its busiest port."},
    {"/program/step/estimated_cycles", kU64, "step", "cycle",
     "Length of an exchange as estimated before it was scheduled; 0 for other steps."},
    {"/program/step/predicted_cycles", kU64, "step", "cycle",
     "Cycles of an exchange by its schedule, of a compute step by its code on the tile that takes "
     "longest, of a trip of a loop, of an arm, of the longest arm of a branch; 0 for one that only "
     "ever runs beside another, and for the host."},
    {"/program/compute_set/compute_set", kU32, "compute_set", "1", "Number of the compute set."},
    {"/program/compute_set/name", kText, "compute_set", "", "Name of its step."},
    {"/program/compute_set/vertices", kU32, "compute_set", "1",
     "Vertices, each a launch of a codelet on the workers of a tile."},
    {"/program/compute_set/tiles", kU32, "compute_set", "1", "Tiles that have one."},
    {"/program/compute_set/vertex_type", kU32, "compute_set", "1",
     "Row of /program/vertex_type; of several that a vertex runs, the first."},
    {"/program/vertex_type/vertex_type", kU32, "vertex_type", "1", "Number of the codelet."},
    {"/program/vertex_type/name", kText, "vertex_type", "", "Name, unique by content."},
    {"/program/vertex_type/code_bytes", kU32, "vertex_type", "B", "Its code."},
    {"/program/vertex_type/cost_source", kU8, "vertex_type", "1",
     "Where its cycles come from: 0 measured, 1 published, 2 derived (its instructions are "
     "executed one by one), 3 assumed."},
    {"/program/variable/variable", kU32, "variable", "1", "Number of the tensor."},
    {"/program/variable/name", kText, "variable", "", "Name of the tensor."},
    {"/program/variable/type", kText, "variable", "", "StableHLO type."},
    {"/program/variable/bytes", kU64, "variable", "B", "Its memory over all tiles."},
    {"/program/variable/max_tile_bytes", kU32, "variable", "B",
     "Its memory on the tile that holds most of it."},
    {"/program/variable/tiles", kU32, "variable", "1", "Tiles that hold a part of it."},
    {"/program/variable/always_live", kU8, "variable", "1",
     "1 when it keeps its memory from call to call: arguments and constants."},
    {"/program/variable/first_step", kU32, "variable", "1",
     "First step that needs it; 0, the host's, when it is always live."},
    {"/program/variable/last_step", kU32, "variable", "1",
     "Last step that needs it; 0, the host's, for results."},
    {"/program/variable/source_file", kText, "variable", "",
     "File of the operation that makes it, or empty."},
    {"/program/variable/source_line", kU32, "variable", "1",
     "Line of that operation, 0 when unknown."},
    {"/program/event/event", kU32, "plan_event", "1",
     "Number of a choice of the compiler that costs time."},
    {"/program/event/kind", kText, "plan_event", "",
     "no_amp, dropped_plan, slow_route or small_product."},
    {"/program/event/operation", kText, "plan_event", "", "Name of the operation."},
    {"/program/event/source_file", kText, "plan_event", "", "Its file, or empty."},
    {"/program/event/source_line", kU32, "plan_event", "1", "Its line, 0 when unknown."},
    {"/program/event/source_column", kU32, "plan_event", "1", "Its column, 0 when unknown."},
    {"/program/event/reason", kText, "plan_event", "", "What was found."},
    {"/program/event/advice", kText, "plan_event", "", "What would help, or empty."},
    {"/program/stream/stream", kU32, "stream", "1", "Number of the stream."},
    {"/program/stream/name", kText, "stream", "", "arg0, result0 and so on, or goes_on."},
    {"/program/stream/direction", kU8, "stream", "1", "0 to_device, 1 to_host."},
    {"/program/stream/type", kText, "stream", "", "StableHLO type."},
    {"/program/stream/bytes", kU64, "stream", "B", "Bytes on tiles, with padding and copies."},

    {"/memory/category", kText, "category", "", "What tile memory is used for."},
    {"/memory/bytes", kU32, "tile category", "B", "Bytes of each category on each tile."},
    {"/memory/max_live_bytes", kU32, "tile", "B", "Most bytes in use at once on each tile."},
    {"/memory/at_step", kU32, "tile", "1", "The first step with so many in use."},
    {"/memory/liveness/always_live_bytes", kU64, "step", "B",
     "Over all tiles: code, vertex state, stacks, arguments and constants."},
    {"/memory/liveness/not_always_live_bytes", kU64, "step", "B",
     "Over all tiles: tensors that live from one step to another, this one among them."},
    {"/memory/liveness/peak_tile_bytes", kU32, "step", "B", "In use on the fullest tile."},
    {"/memory/liveness/peak_tile", kU32, "step", "1", "The fullest tile."},

    {"/exchange/exchange", kU32, "exchange", "1", "Number of the exchange program.", kTile},
    {"/exchange/step", kU32, "exchange", "1", "Its step.", kTile},
    {"/exchange/first_message", kU64, "exchange", "1", "Its first row of /exchange/message.",
     kTile},
    {"/exchange/messages", kU64, "exchange", "1", "How many rows there are its own.", kTile},
    {"/exchange/message/message", kU64, "message", "1", "Number of the message.", kTile},
    {"/exchange/message/source_tile", kU32, "message", "1", "Tile that sends.", kTile},
    {"/exchange/message/destination_tile", kU32, "message", "1",
     "Tile that receives; a multicast has a row for each.", kTile},
    {"/exchange/message/bytes", kU32, "message", "B", "Its words, without a break.", kTile},
    {"/exchange/message/start_cycle", kU32, "message", "cycle",
     "Arrival of its first word, from the opening of the barrier.", kTile},
    {"/exchange/message/cycles", kU32, "message", "cycle", "From its first word to its last.",
     kTile},

    {"/supersteps/superstep", kU64, "superstep", "1", "Number of the superstep.", kSuperstep},
    {"/supersteps/start_cycle", kU64, "superstep", "cycle",
     "Opening of the barrier that begins it.", kSuperstep},
    {"/supersteps/iteration", kU32, "superstep", "1",
     "Call of the program, from 0; what the host does between two belongs to the later.",
     kSuperstep},
    {"/supersteps/step", kU32, "superstep", "1",
     "First step that computes in it (see /launches), or that of the host; its sync and host "
     "cycles belong to it.",
     kSuperstep},
    {"/supersteps/exchange_step", kU32, "superstep", "1",
     "Step that its exchange cycles belong to.", kSuperstep},
    {"/supersteps/trip", kU64, "superstep", "1",
     "Trip, from 0, of the innermost loop around its exchange_step; 0 outside of loops.",
     kSuperstep},
    {"/supersteps/operation", kU32, "superstep", "1", "Row of /program/operation, of its step.",
     kSuperstep},
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
    {"/supersteps/h_bytes", kU64, "superstep", "B",
     "h of the h-relation: the most that any tile sends or receives in the exchange.", kSuperstep},
    {"/supersteps/bytes_sent", kU64, "superstep", "B", "Written to tile memories by the exchange.",
     kSuperstep},
    {"/supersteps/messages", kU32, "superstep", "1",
     "Unbroken arrivals from one tile at consecutive addresses of another.", kSuperstep},
    {"/supersteps/host_bytes", kU64, "superstep", "B", "Moved over the host link, both directions.",
     kSuperstep},
    {"/supersteps/flops", kU64, "superstep", "flop",
     "Useful floating-point operations of the steps in it, by the compiler.", kSuperstep},
    {"/supersteps/instructions", kU64, "superstep", "1",
     "Issued by all workers; a bundle counts as two.", kSuperstep},
    {"/supersteps/live_bytes", kU64, "superstep", "B",
     "Memory in use over all tiles, the most of the steps in it.", kSuperstep},
    {"/supersteps/predicted_cycles", kU64, "superstep", "cycle",
     "Length of its exchange by the compiler's schedule.", kSuperstep},
    {"/supersteps/compute_profile", kU32, "superstep", "1",
     "Row of /profiles/compute; 0xffffffff when the file had reached its size limit.", kTile},
    {"/supersteps/exchange_profile", kU32, "superstep", "1", "Row of /profiles/exchange, likewise.",
     kTile},

    {"/launches/launch", kU64, "launch", "1", "Number of the row.", kSuperstep},
    {"/launches/superstep", kU64, "launch", "1", "Superstep; rows ascend by it.", kSuperstep},
    {"/launches/step", kU32, "launch", "1", "Step that the critical tile launches.", kSuperstep},
    {"/launches/cycles", kU64, "launch", "cycle",
     "Compute cycles of the critical tile from its launches of the step, in all rounds of a loop, "
     "to "
     "those of others: those of a superstep sum to its compute cycles.",
     kSuperstep},
    {"/launches/runs", kU64, "launch", "1",
     "How often it launches the step in the superstep, in which loops may go round.", kSuperstep},

    {"/profiles/compute/profile", kU32, "compute_profile", "1", "Number of the row.", kTile},
    {"/profiles/compute/cycles", kU64, "compute_profile used_tile", "cycle",
     "Compute of each tile; equal rows are stored once.", kTile},
    {"/profiles/compute/wait_cycles", kU64, "compute_profile used_tile", "cycle",
     "Waiting of each tile for the barrier.", kTile},
    {"/profiles/compute/instructions", kU64, "compute_profile used_tile", "1",
     "Issued by the workers of each tile; a bundle counts as two.", kTile},
    {"/profiles/compute/worker_busy", kU64, "compute_profile used_tile", "cycle",
     "From first issue to exit, added up over the workers of each tile.", kTile},
    {"/profiles/exchange/profile", kU32, "exchange_profile", "1", "Number of the row.", kTile},
    {"/profiles/exchange/cycles", kU64, "exchange_profile used_tile", "cycle",
     "Exchange of each tile; equal rows are stored once.", kTile},
    {"/profiles/exchange/idle_cycles", kU64, "exchange_profile used_tile", "cycle",
     "Of those, cycles in which no word leaves or arrives.", kTile},
    {"/profiles/exchange/sent_bytes", kU64, "exchange_profile used_tile", "B",
     "Left each tile; a multicast counts once.", kTile},
    {"/profiles/exchange/received_bytes", kU64, "exchange_profile used_tile", "B",
     "Arrived at each tile.", kTile},

    {"/host/transfer", kU64, "transfer", "1", "Number of the transfer.", kSuperstep},
    {"/host/superstep", kU64, "transfer", "1", "Its superstep; rows ascend by it.", kSuperstep},
    {"/host/stream", kU32, "transfer", "1", "Row of /program/stream.", kSuperstep},
    {"/host/direction", kU8, "transfer", "1", "0 to_device, 1 to_host.", kSuperstep},
    {"/host/bytes", kU64, "transfer", "B", "Moved, with padding and copies.", kSuperstep},
    {"/host/start_cycle", kU64, "transfer", "cycle",
     "When it begins; the first of a direction has the latency of the phase.", kSuperstep},
    {"/host/cycles", kU64, "transfer", "cycle", "How long it takes.", kSuperstep},

    {"/events/event", kU32, "event", "1", "Number of the event."},
    {"/events/cycle", kU64, "event", "cycle", "When it happened."},
    {"/events/kind", kU8, "event", "1", "0 warning, 1 limit, 2 trap, 3 oom, 4 interrupted."},
    {"/events/tile", kI32, "event", "1", "Its tile, or -1."},
    {"/events/text", kText, "event", "", "What happened, cut at 120 bytes."},

    {"/summary/json", kText, "one", "",
     "The fields of `superstep report --json`, as one JSON object."},
    {"/summary/step/count", kU64, "step", "1", "Supersteps that the step took part in."},
    {"/summary/step/runs", kU64, "step", "1",
     "Executions of the step; more than its supersteps where loops compute without a barrier."},
    {"/summary/step/exchange_cycles", kU64, "step", "cycle", "Exchange cycles of the step."},
    {"/summary/step/compute_cycles", kU64, "step", "cycle",
     "Compute cycles of the step, as in /launches."},
    {"/summary/step/sync_cycles", kU64, "step", "cycle", "Sync cycles of the step."},
    {"/summary/step/host_cycles", kU64, "step", "cycle", "Host cycles of the step."},
    {"/summary/step/critical_tile", kU32, "step", "1",
     "Critical tile of the step's longest superstep."},
    {"/summary/step/longest_cycles", kU64, "step", "cycle", "Share of the step in that superstep."},
    {"/summary/step/compute_cycles_sum", kU64, "step", "cycle",
     "Compute cycles of the supersteps that begin with the step, added up over tiles."},
    {"/summary/step/compute_cycles_max", kU64, "step", "cycle",
     "Most compute cycles of any tile, added up over those supersteps."},
};

constexpr bool grows_along(std::string_view axis) {
  constexpr std::string_view kGrowing[] = {"superstep", "launch",          "transfer",
                                           "event",     "compute_profile", "exchange_profile"};
  return std::ranges::find(kGrowing, axis) != std::end(kGrowing);
}

/// Goes through the columns of a group that get rows together, in file order.
class ColumnsOf {
 public:
  explicit constexpr ColumnsOf(std::string_view group) : group_(group) { skip(); }

  /// Whether the next column is this one.
  constexpr bool next_is(std::string_view name, Hdf5Type type) {
    if (done()) return false;
    const TraceColumn& column = kColumns[at_++];
    skip();
    return column.path.substr(group_.size()) == name && column.type == type;
  }
  [[nodiscard]] constexpr bool done() const { return at_ == std::size(kColumns); }

 private:
  constexpr void skip() {
    while (!done() && !kColumns[at_].path.starts_with(group_)) ++at_;
  }

  std::string_view group_;
  std::size_t at_ = 0;
};

/// Whether the columns of a group are those of a row type.
template <class Row>
constexpr bool has_columns_of(std::string_view group) {
  ColumnsOf columns(group);
  bool same = true;
  const Row row;
  Row::for_each_column(row, [&](std::string_view name, const auto& value) {
    same = same && columns.next_is(name, hdf5_type_of(value));
  });
  return same && columns.done();
}

constexpr bool has_columns_of(std::string_view group, std::span<const ProfileColumn> profile) {
  ColumnsOf columns(group);
  bool same = columns.next_is("profile", kU32);
  for (const ProfileColumn& column : profile) {
    same = same && columns.next_is(column.path.substr(group.size()), kU64);
  }
  return same && columns.done();
}

/// The number of columns that grow and are in one of these groups, or in any.
constexpr auto growing_columns(std::initializer_list<std::string_view> groups) {
  return std::ranges::count_if(kColumns, [&](const TraceColumn& column) {
    const auto holds = [&](std::string_view group) { return column.path.starts_with(group); };
    return grows_along(column.axes.substr(0, column.axes.find(' '))) &&
           (groups.size() == 0 || std::ranges::any_of(groups, holds));
  });
}

// A column that gets no rows would leave the others of its axis without any: readers take as many
// as all have.
static_assert(has_columns_of<SuperstepRow>("/supersteps/"), "see SuperstepRow");
static_assert(has_columns_of<LaunchRow>("/launches/"), "see LaunchRow");
static_assert(has_columns_of<TransferRow>("/host/"), "see TransferRow");
static_assert(has_columns_of<EventRow>("/events/"), "see EventRow");
static_assert(has_columns_of<StepSums>("/summary/step/"), "see StepSums");
static_assert(has_columns_of("/profiles/compute/", kComputeProfile), "see kComputeProfile");
static_assert(has_columns_of("/profiles/exchange/", kExchangeProfile), "see kExchangeProfile");
static_assert(growing_columns({}) == growing_columns({"/supersteps/", "/launches/", "/host/",
                                                      "/events/", "/profiles/"}),
              "a column that grows belongs to one of the rows above");

constexpr TraceAttribute kAttributes[] = {
    {"/", "format", kText, "", "superstep-trace"},
    {"/", "format_version", kText, "",
     "Version of this schema; readers accept the same major number."},
    {"/", "level", kText, "", "summary, superstep or tile."},
    {"/", "complete", kU8, "1",
     "1 in a finished file, 0 in one that is being written or was cut off."},
    {"/", "outcome", kText, "",
     "ok, trap, interrupted, oom (does not fit: program and memory only), or running."},
    {"/", "module", kText, "", "Name of the StableHLO module."},
    {"/", "machine", kText, "", "Name of the machine."},
    {"/", "clock_hz", kF64, "Hz", "Tile clock."},
    {"/", "ipus", kU16, "1", "Chips."},
    {"/", "tiles", kU32, "1", "Tiles of the chip."},
    {"/", "workers_per_tile", kU8, "1", "Worker contexts of a tile."},
    {"/", "tile_memory_bytes", kU32, "B", "Memory of a tile."},
    {"/", "calls", kU32, "1", "Calls of the program that were asked for."},
    {"/", "predicted_cycles", kU64, "cycle",
     "Device cycles of so many calls by the compiler: compute by its code, exchanges by their "
     "schedules, barriers; loops with their known trips, or one, branches with the longest arm."},
    {"/", "config_sha256", kText, "", "Of /provenance/config_toml, in hexadecimal."},
    {"/", "program_sha256", kText, "",
     "Of the StableHLO text, in hexadecimal; empty for a program that had none."},
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
    {"/summary", "worst_tile", kU32, "1", "Tile with most memory in use."},
    {"/summary", "peak_tile_bytes", kU64, "B", "Memory in use there."},
    {"/summary", "trap", kText, "", "The trap that ended the run, or empty."},
};

constexpr std::string_view kGroups[] = {"/provenance",
                                        "/machine",
                                        "/machine/parameter",
                                        "/program",
                                        "/program/operation",
                                        "/program/step",
                                        "/program/compute_set",
                                        "/program/vertex_type",
                                        "/program/variable",
                                        "/program/event",
                                        "/program/stream",
                                        "/memory",
                                        "/memory/liveness",
                                        "/exchange",
                                        "/exchange/message",
                                        "/supersteps",
                                        "/launches",
                                        "/profiles",
                                        "/profiles/compute",
                                        "/profiles/exchange",
                                        "/host",
                                        "/events",
                                        "/summary",
                                        "/summary/step"};

/// The path of the dimension scale of each axis.
constexpr std::pair<std::string_view, std::string_view> kScales[] = {
    {"tile", "/machine/tile"},
    {"used_tile", "/program/used_tile"},
    {"operation", "/program/operation/operation"},
    {"step", "/program/step/step"},
    {"variable", "/program/variable/variable"},
    {"plan_event", "/program/event/event"},
    {"parameter", "/machine/parameter/parameter"},
    {"compute_set", "/program/compute_set/compute_set"},
    {"vertex_type", "/program/vertex_type/vertex_type"},
    {"stream", "/program/stream/stream"},
    {"category", "/memory/category"},
    {"exchange", "/exchange/exchange"},
    {"message", "/exchange/message/message"},
    {"superstep", "/supersteps/superstep"},
    {"launch", "/launches/launch"},
    {"transfer", "/host/transfer"},
    {"event", "/events/event"},
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
    {"liveness", "Memory in use in each step", "/memory/liveness/not_always_live_bytes",
     "/memory/liveness/always_live_bytes", "step", kSummary},
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

std::string_view TraceColumn::first_axis() const { return axes.substr(0, axes.find(' ')); }

bool TraceColumn::grows() const { return grows_along(first_axis()); }

std::vector<std::pair<std::string, std::uint8_t>> TraceColumn::names() const {
  if (path == "/program/step/kind") {
    return {{"compute", 0}, {"exchange", 1}, {"host", 2}, {"control", kControlKind},
            {"loop", 4},    {"branch", 5},   {"arm", 6}};
  }
  if (path == "/program/vertex_type/cost_source") {
    return {{"measured", 0}, {"published", 1}, {"derived", kDerivedCost}, {"assumed", 3}};
  }
  if (path.ends_with("/direction")) return {{"to_device", 0}, {"to_host", 1}};
  if (path == "/events/kind") {
    return {{"warning", 0}, {"limit", 1}, {"trap", 2}, {"oom", 3}, {"interrupted", 4}};
  }
  return {};
}

const TraceColumn& trace_column(std::string_view path) {
  const auto column = std::ranges::find(kColumns, path, &TraceColumn::path);
  SUPERSTEP_CHECK(column != std::end(kColumns), std::string(path) + " is not in the schema");
  return *column;
}

Hdf5Layout fixed_layout(std::string_view path, Hdf5Type type, std::vector<std::uint64_t> dims) {
  // Long tables are worth compressing.
  constexpr std::uint64_t kLong = 4096;
  const std::uint64_t chunk = !dims.empty() && dims[0] > kLong ? kLong : 0;
  return {.type = type,
          .dims = std::move(dims),
          .chunk_rows = chunk,
          .names = trace_column(path).names()};
}

Hdf5Layout growing_layout(const TraceColumn& column) {
  return {.type = column.type,
          .dims = {0},
          .chunk_rows = column.is_profile() ? kProfileChunk : kSuperstepChunk,
          .names = column.names(),
          .text_bytes = kEventTextBytes};
}

void set_trace_attribute(Hdf5File& file, const std::string& object, const std::string& name,
                         const Hdf5Value& value) {
  const auto attribute = std::ranges::find_if(
      kAttributes, [&](const TraceAttribute& a) { return a.object == object && a.name == name; });
  SUPERSTEP_CHECK(attribute != std::end(kAttributes), name + " is not in the schema");
  file.set_attribute(object, name, value, attribute->type);
}

std::string_view name_of(TraceEvent::Kind kind) {
  constexpr std::string_view kNames[] = {"warning", "limit", "trap", "oom", "interrupted"};
  return kNames[static_cast<std::size_t>(kind)];
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
      R"(One HDF5 file a run, of columns: every dataset has `units`, `long_name` and `axes`, and every axis a dimension scale.
Compression is deflate with shuffle, so that any HDF5 library reads it. The scales of a finished file are also linked into
the groups whose data has their axes, so that netCDF4 and xarray (engines h5netcdf and netcdf4, `open_datatree` too) open
every group; h5netcdf gives text as bytes of UTF-8. Equal rows of tiles are stored once: the compute
cycles of tile t in superstep s are `profiles/compute/cycles[supersteps/compute_profile[s], t]`, t counting
`program/used_tile`. A tile without a program costs nothing and has no column there.

A level holds those before it. While a run lasts its data is in `RUN.h5.part`, flushed by number of supersteps (at powers
of two up to 64, then every 64, and every 1,024 after 4,096) and open to SWMR readers; `superstep report` and
`superstep trace repair` read it after the run was killed, at any level. The next run of the same `-o` replaces it: repair
first what is to be kept. `RUN.h5.lock` keeps other writers away while the run lasts. The finished file does not depend on
the number of host threads. When the file reaches its size limit (2 GiB), the rows of tiles end, `/events` says so, and all
else goes on.

Cycles add up: exchange, compute, sync and host cycles of a superstep are the whole of it, those of all supersteps are the
totals of `/summary`, and the launches of a superstep sum to its compute cycles. A superstep may compute several steps one
after the other; `/launches` says how its critical tile's time is shared between them.

## Datasets

| dataset | type | axes | unit | level | meaning |
|---|---|---|---|---|---|
)";
  for (const TraceColumn& column : kColumns) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", column.path, name_of(column.type),
                        column.axes, column.unit, name_of(column.level), column.meaning);
  }
  text += "\n## Attributes\n\n| attribute | type | unit | meaning |\n|---|---|---|---|\n";
  for (const TraceAttribute& attribute : kAttributes) {
    text += fmt::format("| `{}` of `{}` | {} | {} | {} |\n", attribute.name, attribute.object,
                        name_of(attribute.type), attribute.unit, attribute.meaning);
  }
  text += R"(
Attributes of `/provenance` (with `config_origin`) are all that may differ between two equal runs: `software`,
`software_version`, `build_type`, `compiler`, `command_line`, `created`, `host_threads`, `wall_seconds`.

## What is not there

| not there | because |
|---|---|
| `/vertices`, `/instructions` | they belong to the levels vertex and instruction, which do not exist yet |
| positions of tiles in space | no source gives them; row, column and lane are all that timing depends on, and logical numbers are the only ones |
| reasons of waiting | tiles wait for nothing but the barrier: `wait_cycles` |
| mean compute cycles | `compute_cycles_sum` is exact; by the length of `program/used_tile` it is the mean |
| live variables of each step | `variable/first_step` and `last_step` say it |
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
