#pragma once

#include <functional>
#include <string>

#include "sim/trace/column.h"
#include "sim/trace/cost_source.h"
#include "sim/trace/enumerations.h"
#include "sim/trace/rows.h"

namespace superstep {

// The tables that a run fills, and the attributes, in file order; `trace_columns` lists them. To
// add a column is to add its row here, and to fill the member that it names.

inline constexpr auto kSupersteps = growing_table<SuperstepRow>(
    "/supersteps", "superstep", TraceLevel::kSuperstep,
    Column{"superstep", &SuperstepRow::number, "1", "Number of the superstep."},
    Column{"start_cycle", &SuperstepRow::begin, "cycle", "Opening of the barrier that begins it."},
    Column{"iteration", &SuperstepRow::call, "1",
           "Call of the program, from 0; what the host does between two belongs to the later."},
    Column{"step", &SuperstepRow::step, "1",
           "First step that computes in it (see /launches), or that of the host; its sync and host "
           "cycles belong to it, but visit_begin_cycles to the step of the superstep behind, the "
           "visit."},
    Column{"exchange_step", &SuperstepRow::exchange_step, "1",
           "Step that its exchange cycles belong to."},
    Column{"trip", &SuperstepRow::trip, "1",
           "Trip, from 0, of the innermost loop around its exchange_step; 0 outside of loops."}
        .since(4),
    Column{"operation", &SuperstepRow::operation, "1", "Row of /program/operation, of its step."},
    Column{"exchange_cycles", &SuperstepRow::exchange, "cycle",
           "Until the critical tile's last port event."},
    Column{"compute_cycles", &SuperstepRow::compute, "cycle",
           "From there to the critical tile's arrival."},
    Column{"sync_cycles", &SuperstepRow::sync, "cycle", "From there to the opening that ends it."},
    Column{"host_cycles", &SuperstepRow::host, "cycle",
           "All of a superstep between two external syncs."},
    Column{"critical_tile", &SuperstepRow::critical, "1",
           "Last tile to arrive, the lowest of several."},
    Column{"active_tiles", &SuperstepRow::active_tiles, "1", "Tiles that compute in it."},
    Column{"compute_cycles_max", &SuperstepRow::compute_max, "cycle",
           "Most compute cycles of any tile."},
    Column{"compute_cycles_min", &SuperstepRow::compute_min, "cycle",
           "Fewest compute cycles of any tile."},
    Column{"compute_cycles_sum", &SuperstepRow::compute_sum, "cycle",
           "Compute cycles added up over tiles."},
    Column{"h_bytes", &SuperstepRow::h_bytes, "B",
           "h of the h-relation: the most that any tile sends or receives in the exchange."},
    Column{"bytes_sent", &SuperstepRow::exchange_bytes, "B",
           "Written to tile memories by the exchange."},
    Column{"messages", &SuperstepRow::messages, "1",
           "Unbroken arrivals from one tile at consecutive addresses of another."},
    Column{"host_bytes", &SuperstepRow::host_bytes, "B",
           "Moved over the host link, both directions."},
    Column{"flops", &SuperstepRow::flops, "flop",
           "Useful floating-point operations of the steps in it, by the compiler."},
    Column{"instructions", member(&SuperstepRow::worker_instructions, &InstructionCounts::all), "1",
           "Issued by all workers; a bundle counts as two."},
    Column{"live_bytes", &SuperstepRow::live_bytes, "B",
           "Memory in use over all tiles, the most of the steps in it."},
    Column{"predicted_cycles", &SuperstepRow::predicted_cycles, "cycle",
           "Length of its exchange by the compiler's schedule."},
    Column{"exchange_cost_source", &SuperstepRow::exchange_source, "1",
           "Where its exchange cycles come from, as /machine/parameter/cost_source: the least "
           "certain of the numbers that they follow from.",
           kCostSources}
        .since(7),
    Column{"compute_cost_source", &SuperstepRow::compute_source, "1",
           "Where its compute cycles come from, likewise, slots of functions (`costs.f32div`) "
           "apart.",
           kCostSources}
        .since(7),
    Column{"sync_cost_source", &SuperstepRow::sync_source, "1",
           "Where its sync cycles come from, likewise.", kCostSources}
        .since(5),
    Column{"host_cost_source", &SuperstepRow::host_source, "1",
           "Where its host cycles come from, likewise.", kCostSources}
        .since(5),
    Column{"visit_begin_cycles", &SuperstepRow::visit_begin, "cycle",
           "Its sync cycles where the sync that ends it begins a visit to the host: until the host "
           "is there."}
        .since(5),
    Column{"visit_callback_cycles", &SuperstepRow::visit_callbacks, "cycle",
           "Of those, until the host's callbacks are done."}
        .since(6),
    Column{"callback_cost_source", &SuperstepRow::callback_source, "1",
           "Where these come from, as sync_cost_source, which is of the others.", kCostSources}
        .since(6),
    Column{"visit_end_cycles", &SuperstepRow::visit_end, "cycle",
           "Of its host cycles, those from the last packet to the sync that closes the visit; the "
           "others move data."}
        .since(5),
    Column{"main_instructions", [](const SuperstepRow& s) { return s.worker_instructions.main(); },
           "1", "Of its instructions, those of the main pipe."}
        .since(5),
    Column{"aux_instructions", member(&SuperstepRow::worker_instructions, &InstructionCounts::aux),
           "1", "Of its instructions, those of the auxiliary pipe: all others."}
        .since(5),
    Column{"amp_instructions", member(&SuperstepRow::worker_instructions, &InstructionCounts::amp),
           "1", "Of the auxiliary ones, those of the AMP units."}
        .since(5),
    Column{"load_instructions",
           member(&SuperstepRow::worker_instructions, &InstructionCounts::loads), "1",
           "Of the main ones, those that load; some also store."}
        .since(5),
    Column{"store_instructions",
           member(&SuperstepRow::worker_instructions, &InstructionCounts::stores), "1",
           "Of the main ones, those that store; some also load."}
        .since(5),
    Column{"branch_instructions",
           member(&SuperstepRow::worker_instructions, &InstructionCounts::branches), "1",
           "Of the main ones, branches, taken or not."}
        .since(5),
    Column{"word_rows", &SuperstepRow::word_rows, "1",
           "Words received in the exchange, each times the rows between its tiles (see "
           "/machine/row)."}
        .since(5),
    Column{"word_columns", &SuperstepRow::word_columns, "1",
           "Likewise times the columns between its tiles."}
        .since(5));

inline constexpr auto kProfileNumbers = growing_table<ProfileNumbers>(
    "/supersteps", "superstep", TraceLevel::kTile,
    Column{"compute_profile", &ProfileNumbers::compute, "1",
           "Row of /profiles/compute; 0xffffffff when the file had reached its size limit."},
    Column{"exchange_profile", &ProfileNumbers::exchange, "1",
           "Row of /profiles/exchange, likewise."});

inline constexpr auto kLaunches = growing_table<LaunchRow>(
    "/launches", "launch", TraceLevel::kSuperstep,
    Column{"launch", RowNumber<std::uint64_t>{}, "1", "Number of the row."},
    Column{"superstep", &LaunchRow::superstep, "1", "Superstep; rows ascend by it."},
    Column{"step", &LaunchRow::step, "1",
           "Step that the critical tile launches, or, in a loop or an arm, another one."},
    Column{"cycles", &LaunchRow::cycles, "cycle",
           "Compute cycles of the critical tile for its launches of the step, in all rounds of a "
           "loop, from where workers of others have left, as its supervisor loads weights before "
           "a launch (before 1.9 from the launch): those of a superstep sum to its compute "
           "cycles."},
    Column{
        "runs", &LaunchRow::runs, "1",
        "How often a tile launches the step in the superstep, in which loops may go round. 0, and "
        "no cycles, of a step that no tile launched, since the loop around it was left."}
        .since(4));

inline constexpr auto kComputeProfiles = growing_table<ProfileRow>(
    "/profiles/compute", "compute_profile", TraceLevel::kTile,
    Column{"profile", RowNumber<std::uint32_t>{}, "1", "Number of the row."});

inline constexpr auto kComputePhases = growing_table<TilePhase>(
    "/profiles/compute", "compute_profile used_tile", TraceLevel::kTile,
    Column{"cycles", &TilePhase::compute, "cycle",
           "Compute of each tile; equal rows are stored once."},
    Column{"wait_cycles", &TilePhase::sync, "cycle", "Waiting of each tile for the barrier."},
    Column{"instructions", member(&TilePhase::instructions, &InstructionCounts::all), "1",
           "Issued by the workers of each tile; a bundle counts as two."},
    Column{"worker_busy", &TilePhase::worker_busy, "cycle",
           "From first issue to exit, added up over the workers of each tile."},
    Column{"main_instructions", [](const TilePhase& p) { return p.instructions.main(); }, "1",
           "Of its instructions, those of the main pipe."}
        .since(5),
    Column{"aux_instructions", member(&TilePhase::instructions, &InstructionCounts::aux), "1",
           "Of its instructions, those of the auxiliary pipe: all others."}
        .since(5),
    Column{"amp_instructions", member(&TilePhase::instructions, &InstructionCounts::amp), "1",
           "Of the auxiliary ones, those of the AMP units."}
        .since(5),
    Column{"load_instructions", member(&TilePhase::instructions, &InstructionCounts::loads), "1",
           "Of the main ones, those that load; some also store."}
        .since(5),
    Column{"store_instructions", member(&TilePhase::instructions, &InstructionCounts::stores), "1",
           "Of the main ones, those that store; some also load."}
        .since(5),
    Column{"branch_instructions", member(&TilePhase::instructions, &InstructionCounts::branches),
           "1", "Of the main ones, branches, taken or not."}
        .since(5));

inline constexpr auto kExchangeProfiles = growing_table<ProfileRow>(
    "/profiles/exchange", "exchange_profile", TraceLevel::kTile,
    Column{"profile", RowNumber<std::uint32_t>{}, "1", "Number of the row."});

inline constexpr auto kExchangePhases = growing_table<TilePhase>(
    "/profiles/exchange", "exchange_profile used_tile", TraceLevel::kTile,
    Column{"cycles", &TilePhase::exchange, "cycle",
           "Exchange of each tile; equal rows are stored once."},
    Column{"idle_cycles", &TilePhase::exchange_idle, "cycle",
           "Of those, cycles in which no word leaves or arrives."},
    Column{"sent_bytes", &TilePhase::sent_bytes, "B", "Left each tile; a multicast counts once."},
    Column{"received_bytes", &TilePhase::received_bytes, "B", "Arrived at each tile."},
    Column{"word_rows", &TilePhase::word_rows, "1",
           "Words that arrived, each times the rows from its tile (see /machine/row)."}
        .since(5),
    Column{"word_columns", &TilePhase::word_columns, "1",
           "Likewise times the columns from its tile."}
        .since(5));

inline constexpr auto kVertices = growing_table<VertexRow>(
    "/vertices", "vertex", TraceLevel::kVertex,
    Column{"vertex", RowNumber<std::uint64_t>{}, "1",
           "Number of the row: what one worker does from launch to exit."}
        .since(9),
    Column{"superstep", &VertexRow::superstep, "1",
           "Its superstep; rows ascend by it, then by tile, start_cycle and worker."}
        .since(9),
    Column{"tile", &VertexRow::tile, "1", "Tile of the worker."}.since(9),
    Column{"worker", &VertexRow::worker, "1", "Number of the worker on its tile."}.since(9),
    Column{"step", &VertexRow::step, "1", "Step that launches it."}.since(9),
    Column{"operation", &VertexRow::operation, "1", "Row of /program/operation, of its step."}
        .since(9),
    Column{"vertex_type", &VertexRow::vertex_type, "1",
           "Row of /program/vertex_type, or -1 where the program does not say."}
        .since(9),
    Column{"launch_cycle", &VertexRow::launch, "cycle",
           "When the supervisor issued its launch, which may be one of all workers."}
        .since(9),
    Column{"start_cycle", &VertexRow::begin, "cycle", "Its first issue."}.since(9),
    Column{"cycles", &VertexRow::length, "cycle",
           "From there to its exit: those of a tile in a superstep sum to its worker_busy."}
        .since(9),
    Column{"instructions", member(&VertexRow::instructions, &InstructionCounts::all), "1",
           "That it issued; a bundle counts as two. Those of a tile in a superstep sum to those of "
           "its profile, and so do those of each class."}
        .since(9),
    Column{"aux_instructions", member(&VertexRow::instructions, &InstructionCounts::aux), "1",
           "Of its instructions, those of the auxiliary pipe; all others are of the main pipe."}
        .since(9),
    Column{"amp_instructions", member(&VertexRow::instructions, &InstructionCounts::amp), "1",
           "Of the auxiliary ones, those of the AMP units."}
        .since(9),
    Column{"load_instructions", member(&VertexRow::instructions, &InstructionCounts::loads), "1",
           "Of the main ones, those that load; some also store."}
        .since(9),
    Column{"store_instructions", member(&VertexRow::instructions, &InstructionCounts::stores), "1",
           "Of the main ones, those that store; some also load."}
        .since(9),
    Column{"branch_instructions", member(&VertexRow::instructions, &InstructionCounts::branches),
           "1", "Of the main ones, branches, taken or not."}
        .since(9));

inline constexpr auto kInstructions = growing_table<InstructionRow>(
    "/instructions", "instruction", TraceLevel::kInstruction,
    Column{"instruction", RowNumber<std::uint64_t>{}, "1",
           "Number of the row: an instruction, or a bundle of two, that a context issues."}
        .since(9),
    Column{"superstep", &InstructionRow::superstep, "1",
           "Its superstep; rows ascend by it, then by cycle, then by tile."}
        .since(9),
    Column{"cycle", &InstructionRow::cycle, "cycle", "When it issued."}.since(9),
    Column{"tile", &InstructionRow::tile, "1", "Tile of the context."}.since(9),
    Column{"worker", &InstructionRow::worker, "1", "The context: a worker, or -1: the supervisor."}
        .since(9),
    Column{"pc", &InstructionRow::pc, "1", "Address of its word, or of the first of a bundle."}
        .since(9),
    Column{"opcode", &InstructionRow::opcode, "1",
           "Row of /machine/opcode; of a bundle that of the main pipe. -1 of no known instruction."}
        .since(9),
    Column{"aux_opcode", &InstructionRow::aux_opcode, "1",
           "That of the auxiliary pipe of a bundle, else -1."}
        .since(9),
    Column{"word", element(&InstructionRow::words, 0), "1", "Its word."}.since(9),
    Column{"aux_word", element(&InstructionRow::words, 1), "1",
           "The second word of a bundle, else 0."}
        .since(9),
    Column{"instructions", &InstructionRow::instructions, "1", "2 of a bundle, else 1."}.since(9),
    Column{"cycles", &InstructionRow::cycles, "cycle",
           "From its issue until the next one of its context could."}
        .since(9),
    Column{"register_wait_cycles", &InstructionRow::register_wait, "cycle",
           "Supervisor: before its issue, for a register."}
        .since(9),
    Column{"slot_wait_cycles", &InstructionRow::slot_wait, "cycle",
           "Supervisor: behind these, for a slot that no worker has."}
        .since(9));

inline constexpr auto kTransfers = growing_table<TransferRow>(
    "/host", "transfer", TraceLevel::kSuperstep,
    Column{"transfer", RowNumber<std::uint64_t>{}, "1", "Number of the transfer."},
    Column{"superstep", &TransferRow::superstep, "1", "Its superstep; rows ascend by it."},
    Column{"stream", &TransferRow::stream, "1", "Row of /program/stream."},
    Column{"direction", &TransferRow::direction, "1", "0 to_device, 1 to_host.", kDirections},
    Column{"bytes", &TransferRow::bytes, "B", "Moved, with padding and copies."},
    Column{"start_cycle", &TransferRow::start, "cycle",
           "When its first packet begins on its link, behind the latency of the phase; in "
           "traces "
           "before format 1.5 the first of a direction has that latency."},
    Column{"cycles", &TransferRow::length, "cycle", "From there to the end of its last packet."},
    Column{"packets", &TransferRow::packets, "1", "How many packets it took."}.since(5));

inline constexpr auto kEvents = growing_table<TraceEvent>(
    "/events", "event", TraceLevel::kSummary,
    Column{"event", RowNumber<std::uint32_t>{}, "1", "Number of the event."},
    Column{"cycle", &TraceEvent::cycle, "cycle", "When it happened."},
    Column{"kind", &TraceEvent::kind, "1", "0 warning, 1 limit, 2 trap, 3 oom, 4 interrupted.",
           kEventKinds},
    Column{"tile", &TraceEvent::tile, "1", "Its tile, or -1."},
    Column{"text", &TraceEvent::text, "", "What happened, cut at 120 bytes."});

inline constexpr auto kReport = fixed_table<std::string>(
    "/summary", "one", TraceLevel::kSummary,
    Column{"json", std::identity{}, "",
           "The fields of `superstep report --json`, as one JSON object."});

inline constexpr auto kStepSums = fixed_table<StepSums>(
    "/summary/step", "step", TraceLevel::kSummary,
    Column{"count", &StepSums::count, "1", "Supersteps that the step took part in."},
    Column{"runs", &StepSums::runs, "1",
           "Executions of the step; more than its supersteps where loops compute without a "
           "barrier."}
        .since(4),
    Column{"exchange_cycles", &StepSums::exchange, "cycle", "Exchange cycles of the step."},
    Column{"compute_cycles", &StepSums::compute, "cycle",
           "Compute cycles of the step, as in /launches."},
    Column{"sync_cycles", &StepSums::sync, "cycle",
           "Sync cycles of the step, with those in which its visits to the host begin; in "
           "traces "
           "before format 1.7 these are of the step before them."},
    Column{"host_cycles", &StepSums::host, "cycle", "Host cycles of the step."},
    Column{"critical_tile", &StepSums::critical_tile, "1",
           "Critical tile of the step's longest superstep."},
    Column{"longest_cycles", &StepSums::longest, "cycle", "Share of the step in that superstep."},
    Column{"compute_cycles_sum", &StepSums::compute_sum, "cycle",
           "Compute cycles of the supersteps that begin with the step, added up over tiles."},
    Column{"compute_cycles_max", &StepSums::compute_max, "cycle",
           "Most compute cycles of any tile, added up over those supersteps."},
    Column{"instructions", member(&StepSums::instructions, &InstructionCounts::all), "1",
           "Instructions of the workers in those supersteps; a bundle counts as two."}
        .since(11),
    Column{"aux_instructions", member(&StepSums::instructions, &InstructionCounts::aux), "1",
           "Of these, those of the auxiliary pipe."}
        .since(11),
    Column{"amp_instructions", member(&StepSums::instructions, &InstructionCounts::amp), "1",
           "Of those of the auxiliary pipe, those of the AMP units."}
        .since(11));

inline constexpr auto kRootAttributes = attributes_of<RootRow>(
    "/", Column{"format", &RootRow::format, "", "superstep-trace"},
    Column{"format_version", &RootRow::format_version, "",
           "Version of this schema; readers accept the same major number."},
    Column{"level", &RootRow::level, "", "summary, superstep, tile, vertex or instruction."},
    Column{"window_first_superstep", &RootRow::window_first, "1",
           "Levels below tile: of the first superstep whose rows are kept."}
        .since(9),
    Column{"window_end_superstep", &RootRow::window_end, "1",
           "That behind the last one; 2^64 - 1 where it is not bounded."}
        .since(9),
    Column{"window_tiles", &RootRow::window_tiles, "",
           "Tiles whose rows are kept, as in 0,17,100-107; empty: all."}
        .since(9),
    Column{"window_operations", &RootRow::window_operations, "",
           "Shell pattern of the names of operations whose rows are kept; empty: all."}
        .since(9),
    Column{"complete", &RootRow::complete, "1",
           "1 in a finished file, 0 in one that is being written or was cut off."},
    Column{"outcome", &RootRow::outcome, "",
           "ok, trap, interrupted, oom (does not fit: program and memory only), or running."},
    Column{"module", &RootRow::module, "", "Name of the StableHLO module."},
    Column{"machine", &RootRow::machine, "", "Name of the machine."},
    Column{"clock_hz", &RootRow::clock_hz, "Hz", "Tile clock."},
    Column{"ipus", &RootRow::ipus, "1", "Chips."},
    Column{"tiles", &RootRow::tiles, "1", "Tiles of the chip."},
    Column{"workers_per_tile", &RootRow::workers, "1", "Worker contexts of a tile."},
    Column{"tile_memory_bytes", &RootRow::tile_memory_bytes, "B", "Memory of a tile."},
    Column{"calls", &RootRow::calls, "1",
           "Calls of the program that ended in the run. While it lasts, those that were "
           "asked for; behind a checkpoint those that were not over."},
    Column{"begins_inside", &RootRow::begins_inside, "1",
           "1 where the run goes on from a checkpoint inside a call: what was before is "
           "not there."}
        .since(6),
    Column{"predicted_cycles", &RootRow::predicted, "cycle",
           "Device cycles of so many calls by the compiler: compute by its code, exchanges "
           "by their schedules, barriers; loops with their known trips, or one, branches "
           "with the longest arm. 0 where the run did not end."}
        .since(3),
    Column{"config_sha256", &RootRow::config_sha256, "",
           "Of /provenance/config_toml, in hexadecimal."},
    Column{"program_sha256", &RootRow::program_sha256, "",
           "Of the StableHLO text, in hexadecimal; empty for a program that had none."},
    Column{"code_sha256", &RootRow::code_sha256, "",
           "Of what tiles hold when the program begins: its code, vertex states and "
           "constants, with their addresses. Runs of one program have the same. Empty for "
           "a program that does not fit."}
        .since(10),
    Column{"NX_class", &RootRow::nexus_class, "", "NXroot"},
    Column{"default", &RootRow::plot, "", "plots"});

inline constexpr auto kSummaryAttributes = attributes_of<SummaryRow>(
    "/summary", Column{"total_cycles", &SummaryRow::total, "cycle", "Cycles of the run."},
    Column{"device_cycles", &SummaryRow::device, "cycle", "Exchange, compute and sync."},
    Column{"exchange_cycles", &SummaryRow::exchange, "cycle", "Exchange, over all supersteps."},
    Column{"compute_cycles", &SummaryRow::compute, "cycle", "Compute, over all supersteps."},
    Column{"sync_cycles", &SummaryRow::sync, "cycle", "Sync, over all supersteps."},
    Column{"host_cycles", &SummaryRow::host, "cycle", "Host, over all supersteps."},
    Column{"exchange_assumed_cycles", member(&SummaryRow::assumed, &AssumedCycles::exchange),
           "cycle", "Of the exchange cycles, those that rest on assumed or extrapolated numbers."}
        .since(7),
    Column{"compute_assumed_cycles", member(&SummaryRow::assumed, &AssumedCycles::compute), "cycle",
           "Of the compute cycles, likewise."}
        .since(7),
    Column{"sync_assumed_cycles", member(&SummaryRow::assumed, &AssumedCycles::sync), "cycle",
           "Of the sync cycles, likewise."}
        .since(5),
    Column{"host_assumed_cycles", member(&SummaryRow::assumed, &AssumedCycles::host), "cycle",
           "Of the host cycles, likewise."}
        .since(5),
    Column{"visits", &SummaryRow::visits, "1", "Visits to the host."}.since(5),
    Column{"visit_begin_cycles", &SummaryRow::visit_begin, "cycle",
           "Of the sync cycles, those in which visits to the host begin."}
        .since(5),
    Column{"visit_callback_cycles", &SummaryRow::visit_callbacks, "cycle",
           "Of those, until the host's callbacks are done."}
        .since(6),
    Column{"visit_end_cycles", &SummaryRow::visit_end, "cycle",
           "Of the host cycles, those behind the last packets."}
        .since(5),
    Column{"supersteps", &SummaryRow::supersteps, "1", "Number of supersteps."},
    Column{"instructions", &SummaryRow::instructions, "1",
           "Issued by all workers; a bundle counts as two."},
    Column{"aux_instructions", &SummaryRow::aux_instructions, "1",
           "Of those, those of the auxiliary pipe."}
        .since(8),
    Column{"amp_instructions", &SummaryRow::amp_instructions, "1",
           "Of the auxiliary ones, those of the AMP units."}
        .since(8),
    Column{"bytes_exchanged", &SummaryRow::bytes_exchanged, "B",
           "Written to tile memories by exchanges."},
    Column{"host_bytes", &SummaryRow::host_bytes, "B", "Moved over the host link."},
    Column{"flops", &SummaryRow::flops, "flop",
           "Useful floating-point operations of what ran, by the compiler."},
    Column{"flop_per_cycle", &SummaryRow::flop_per_cycle, "flop/cycle", "Those, by device cycle."},
    Column{"tile_balance", &SummaryRow::tile_balance, "1",
           "Sum of the tiles' mean compute cycles over the sum of their maximum."},
    Column{"bsp_efficiency", &SummaryRow::bsp_efficiency, "1",
           "Sum of the tiles' mean compute cycles over device cycles."},
    Column{"worst_tile", &SummaryRow::worst_tile, "1", "Tile with most memory in use."},
    Column{"peak_tile_bytes", &SummaryRow::peak_tile_bytes, "B", "Memory in use there."},
    Column{"trap", &SummaryRow::trap, "", "The trap that ended the run, or empty."},
    Column{"trap_kind", &SummaryRow::trap_kind, "", "Its kind, or empty."});

}  // namespace superstep
