#pragma once

#include <functional>
#include <string>

#include "isa/timing.h"
#include "sim/trace/column.h"
#include "sim/trace/cost_source.h"
#include "sim/trace/enumerations.h"
#include "sim/trace/rows.h"

namespace superstep {

// The tables of what is known before the run, in file order; `trace_columns` lists them. To add a
// column is to add its row here, and to fill the member that it names.

inline constexpr auto kMachineText = fixed_table<MachineText>(
    "/provenance", "one", TraceLevel::kSummary,
    Column{"config_toml", &MachineText::toml, "", "The machine as a complete machine file."},
    Column{"config_origin", &MachineText::origin, "",
           "JSON: where each key of the machine comes from; empty when nobody said."});

inline constexpr auto kTilePlaces = fixed_table<TilePlace>(
    "/machine", "tile", TraceLevel::kSummary,
    Column{"tile", RowNumber<std::uint32_t>{}, "1", "Logical number of each tile of the chip."},
    Column{"row", &TilePlace::row, "1", "Physical row of the tile."},
    Column{"column", &TilePlace::column, "1", "Physical column of the tile."},
    Column{"lane", &TilePlace::lane, "1", "Lane of the tile at its row and column."});

inline constexpr auto kParameters = fixed_table<ParameterRow>(
    "/machine/parameter", "parameter", TraceLevel::kSummary,
    Column{"parameter", RowNumber<std::uint32_t>{}, "1", "Number of the key."},
    Column{"name", &ParameterRow::key, "", "Key of the machine file."},
    Column{"value", &ParameterRow::value, "1", "Its value, in the unit beside it."},
    Column{"unit", [](const ParameterRow& n) { return std::string(symbol_of(n.unit)); }, "",
           "Unit of the value."},
    Column{"cost_source", &ParameterRow::source, "1",
           "Where it comes from, by the machine file: 0 measured, 1 published, 2 derived, 3 "
           "assumed, also where nobody says, 4 extrapolated, 5 user.",
           kCostSources}
        .since(5));

inline constexpr auto kOpcodes = fixed_table<OpcodeRow>(
    "/machine/opcode", "opcode", TraceLevel::kInstruction,
    Column{"opcode", RowNumber<std::uint32_t>{}, "1", "Number of the instruction."}.since(9),
    Column{"name", &OpcodeRow::name, "", "Its mnemonic."}.since(9),
    Column{"syntax", &OpcodeRow::syntax, "", "With its operands."}.since(9),
    Column{"pipe", &OpcodeRow::pipe, "1", "0 main, 1 aux.", kPipes}.since(9));

inline constexpr auto kUsedTiles = fixed_table<TileEntry>(
    "/program", "used_tile", TraceLevel::kSummary,
    Column{"used_tile", &TileEntry::tile, "1", "Tiles that have a program, ascending."});

inline constexpr auto kOperations = fixed_table<OperationRow>(
    "/program/operation", "operation", TraceLevel::kSummary,
    Column{"operation", RowNumber<std::uint32_t>{}, "1", "Number of the operation."},
    Column{"name", &OperationRow::name, "",
           "Name of the operation; the last is the code between steps."},
    Column{"hlo_opcode", &OperationRow::opcode, "",
           "StableHLO operation, superstep.take or superstep.put for what gathers, scatters and "
           "slices at computed places become, or empty."},
    Column{"source_file", member(&OperationRow::source, &OpLocation::module, &SourceLocation::file),
           "", "Its file, or empty."},
    Column{"source_line", member(&OperationRow::source, &OpLocation::module, &SourceLocation::line),
           "1", "Its line, 0 when unknown."},
    Column{"source_column",
           member(&OperationRow::source, &OpLocation::module, &SourceLocation::column), "1",
           "Its column, 0 when unknown."},
    Column{"python_file", member(&OperationRow::source, &OpLocation::python, &SourceLocation::file),
           "", "File of the Python line that it was traced from, or empty."}
        .since(1),
    Column{"python_line", member(&OperationRow::source, &OpLocation::python, &SourceLocation::line),
           "1", "That line, 0 when unknown."}
        .since(1),
    Column{"flops", &OperationRow::flops, "flop", "Useful floating-point operations of one call."},
    Column{"code_bytes", &OperationRow::code_bytes, "B",
           "Codelets that it runs; what operations share counts for each."});

inline constexpr auto kSteps = fixed_table<StepRow>(
    "/program/step", "step", TraceLevel::kSummary,
    Column{"step", RowNumber<std::uint32_t>{}, "1", "Number of the step."},
    Column{"kind", &StepRow::kind_number, "1",
           "0 compute, 1 exchange, 2 host, 3 control, 4 loop, 5 branch, 6 arm.", kStepKinds},
    Column{"name", &StepRow::name, "", "Name of the step; the last is the code between steps."},
    Column{"superstep", &StepRow::superstep, "1",
           "Steps of one number run in the same superstep of a call; -1: in any."},
    Column{"parent", &StepRow::parent, "1",
           "Loop or arm that executes the step, branch of an arm; -1: the call does."}
        .since(4),
    Column{"trips", &StepRow::known_trips, "1",
           "Trips of one execution of a loop; 0 where they follow from data, and for other steps."}
        .since(4),
    Column{"shared_code", &StepRow::shared_code, "1",
           "Code that several places of the program share, which the step is of; -1: its own."}
        .since(10),
    Column{"call_site", &StepRow::call_site, "1",
           "Of those places, from 0 over all shared code, the one that the step is of, or -1."}
        .since(10),
    Column{"compute_set", &StepRow::compute_set, "1", "Row of /program/compute_set, or -1."},
    Column{"exchange", &StepRow::exchange, "1", "Row of /exchange (level tile), or -1."},
    Column{"operation", &StepRow::operation_number, "1", "Row of /program/operation."},
    Column{"flops", &StepRow::flops, "flop", "Useful floating-point operations of one execution."},
    Column{"exchange_bytes", &StepRow::exchange_bytes, "B",
           "Bytes that one execution writes to tile memories, by the compiler."},
    Column{"bound_cycles", &StepRow::bound_cycles, "cycle",
           "Lower bound of an exchange: words of its busiest port."},
    Column{"estimated_cycles", &StepRow::estimated_cycles, "cycle",
           "Length of an exchange as estimated before it was scheduled; 0 for other steps."}
        .since(2),
    Column{"predicted_cycles", &StepRow::predicted_cycles, "cycle",
           "Cycles of an exchange by its schedule, of a compute step by its code on the tile that "
           "takes longest, of a trip of a loop, of an arm, of the longest arm of a branch; 0 for "
           "one that only ever runs beside another, and for the host."});

inline constexpr auto kFusedOperations = fixed_table<FusedOperationRow>(
    "/program/fused", "fused", TraceLevel::kSummary,
    Column{"step", &FusedOperationRow::step, "1",
           "Compute step that computes several operations, or, from format 1.11 on, exchange that "
           "moves operands of several; those of one step follow one another."}
        .since(9),
    Column{"name", &FusedOperationRow::name, "", "Name of one of them."}.since(9),
    Column{"hlo_opcode", &FusedOperationRow::operation, "", "StableHLO operation."}.since(9),
    Column{"source_file",
           member(&FusedOperationRow::source, &OpLocation::module, &SourceLocation::file), "",
           "Its file, or empty."}
        .since(9),
    Column{"source_line",
           member(&FusedOperationRow::source, &OpLocation::module, &SourceLocation::line), "1",
           "Its line, 0 when unknown."}
        .since(9),
    Column{"source_column",
           member(&FusedOperationRow::source, &OpLocation::module, &SourceLocation::column), "1",
           "Its column, 0 when unknown."}
        .since(9),
    Column{"python_file",
           member(&FusedOperationRow::source, &OpLocation::python, &SourceLocation::file), "",
           "File of the Python line that it was traced from, or empty."}
        .since(9),
    Column{"python_line",
           member(&FusedOperationRow::source, &OpLocation::python, &SourceLocation::line), "1",
           "That line, 0 when unknown."}
        .since(9),
    Column{
        "cycles_alone", &FusedOperationRow::cycles_alone, "cycle",
        "Reports share the cycles of the step by it. Compute: what elements of its formula would "
        "take in a vertex of their own, as many for each operation of the step. Exchange: the "
        "words of 4 B that it writes for the operation, of which a port takes one a cycle."}
        .since(9),
    Column{"operation", &FusedOperationRow::operation_number, "1",
           "Row of /program/operation that its share is booked on: of a compute step that of the "
           "step, of an exchange its own."}
        .since(11));

inline constexpr auto kComputeSets = fixed_table<StepInfo>(
    "/program/compute_set", "compute_set", TraceLevel::kSummary,
    Column{"compute_set", RowNumber<std::uint32_t>{}, "1", "Number of the compute set."},
    Column{"name", &StepInfo::name, "", "Name of its step."},
    Column{"vertices", &StepInfo::vertices, "1",
           "Vertices, each a launch of a codelet on the workers of a tile."},
    Column{"tiles", &StepInfo::tiles, "1", "Tiles that have one."},
    Column{"vertex_type",
           [](const StepInfo& s) { return s.vertex_types.empty() ? 0U : s.vertex_types.front(); },
           "1", "Row of /program/vertex_type; of several that a vertex runs, the first."});

inline constexpr auto kVertexTypes = fixed_table<VertexTypeInfo>(
    "/program/vertex_type", "vertex_type", TraceLevel::kSummary,
    Column{"vertex_type", RowNumber<std::uint32_t>{}, "1", "Number of the codelet."},
    Column{"name", &VertexTypeInfo::name, "", "Name, unique by content."},
    Column{"code_bytes", &VertexTypeInfo::code_bytes, "B", "Its code."},
    Column{"cost_source", [](const VertexTypeInfo&) { return CostSource::kDerived; }, "1",
           "Where its cycles come from: 0 measured, 1 published, 2 derived (its instructions are "
           "executed one by one), 3 assumed, 4 extrapolated, 5 user.",
           kCostSources});

inline constexpr auto kVariables = fixed_table<VariableRow>(
    "/program/variable", "variable", TraceLevel::kSummary,
    Column{"variable", RowNumber<std::uint32_t>{}, "1", "Number of the tensor."},
    Column{"name", &VariableRow::name, "", "Name of the tensor."},
    Column{"type", &VariableRow::type_text, "", "StableHLO type."},
    Column{"bytes", &VariableRow::bytes, "B", "Its memory over all tiles."},
    Column{"max_tile_bytes", &VariableRow::max_tile_bytes, "B",
           "Its memory on the tile that holds most of it."},
    Column{"tiles", &VariableRow::tiles, "1", "Tiles that hold a part of it."},
    Column{"always_live", &VariableRow::is_always_live, "1",
           "1 when it keeps its memory from call to call: arguments and constants."},
    Column{"first_step", &VariableRow::first_step, "1",
           "First step that needs it; 0, the host's, which comes behind all others, when it is "
           "always live or only the host needs it."},
    Column{"last_step", &VariableRow::last_step, "1",
           "Last step that needs it; 0, the host's, for results."},
    Column{"source_file", member(&VariableRow::source, &OpLocation::module, &SourceLocation::file),
           "", "File of the operation that makes it, or empty."},
    Column{"source_line", member(&VariableRow::source, &OpLocation::module, &SourceLocation::line),
           "1", "Line of that operation, 0 when unknown."},
    Column{"python_file", member(&VariableRow::source, &OpLocation::python, &SourceLocation::file),
           "", "File of the Python line that it was traced from, or empty."}
        .since(10),
    Column{"python_line", member(&VariableRow::source, &OpLocation::python, &SourceLocation::line),
           "1", "That line, 0 when unknown."}
        .since(10));

inline constexpr auto kCompileEvents = fixed_table<CompileEventRow>(
    "/program/event", "plan_event", TraceLevel::kSummary,
    Column{"event", RowNumber<std::uint32_t>{}, "1",
           "Number of a choice of the compiler that costs time."}
        .since(2),
    Column{"kind", &CompileEventRow::kind_name, "",
           "no_amp, dropped_plan, slow_route or small_product."}
        .since(2),
    Column{"operation", &CompileEventRow::operation, "", "Name of the operation."}.since(2),
    Column{"source_file",
           member(&CompileEventRow::source, &OpLocation::module, &SourceLocation::file), "",
           "Its file, or empty."}
        .since(2),
    Column{"source_line",
           member(&CompileEventRow::source, &OpLocation::module, &SourceLocation::line), "1",
           "Its line, 0 when unknown."}
        .since(2),
    Column{"source_column",
           member(&CompileEventRow::source, &OpLocation::module, &SourceLocation::column), "1",
           "Its column, 0 when unknown."}
        .since(2),
    Column{"python_file",
           member(&CompileEventRow::source, &OpLocation::python, &SourceLocation::file), "",
           "File of the Python line that it was traced from, or empty."}
        .since(10),
    Column{"python_line",
           member(&CompileEventRow::source, &OpLocation::python, &SourceLocation::line), "1",
           "That line, 0 when unknown."}
        .since(10),
    Column{"reason", &CompileEventRow::reason, "", "What was found."}.since(2),
    Column{"advice", &CompileEventRow::advice, "", "What would help, or empty."}.since(2));

inline constexpr auto kStreams = fixed_table<StreamRow>(
    "/program/stream", "stream", TraceLevel::kSummary,
    Column{"stream", RowNumber<std::uint32_t>{}, "1", "Number of the stream."},
    Column{"name", &StreamRow::name, "",
           "arg0, result0, infeed0, outfeed0 and so on, or goes_on: whether another call comes."},
    Column{"direction", &StreamRow::direction, "1", "0 to_device, 1 to_host.", kDirections},
    Column{"type", &StreamRow::type, "", "StableHLO type."},
    Column{"bytes", &StreamRow::bytes, "B", "Bytes on tiles, with padding and copies."},
    Column{"label", &StreamRow::label, "",
           "As the program names it, `params['w1']` of JAX, or empty."}
        .since(12));

inline constexpr auto kMemoryCategories = fixed_table<MemoryCategory>(
    "/memory", "category", TraceLevel::kSummary,
    Column{"category", &MemoryCategory::name, "", "What tile memory is used for."});

inline constexpr auto kMemoryBytes = fixed_table<std::uint32_t>(
    "/memory", "tile category", TraceLevel::kSummary,
    Column{"bytes", std::identity{}, "B", "Bytes of each category on each tile."});

inline constexpr auto kTilePeaks = fixed_table<TilePeak>(
    "/memory", "tile", TraceLevel::kSummary,
    Column{"max_live_bytes", &TilePeak::bytes, "B", "Most bytes in use at once on each tile."},
    Column{"at_step", &TilePeak::step, "1", "The first step with so many in use."});

inline constexpr auto kLiveness = fixed_table<StepMemory>(
    "/memory/liveness", "step", TraceLevel::kSummary,
    Column{"always_live_bytes", &StepMemory::always_live_bytes, "B",
           "Over all tiles: code, vertex state, stacks, arguments and constants."},
    Column{"not_always_live_bytes", &StepMemory::not_always_live_bytes, "B",
           "Over all tiles: tensors that live from one step to another, this one among them."},
    Column{"peak_tile_bytes", &StepMemory::peak_tile_bytes, "B", "In use on the fullest tile."},
    Column{"peak_tile", &StepMemory::peak_tile, "1", "The fullest tile."});

inline constexpr auto kExchanges = fixed_table<ExchangeProgramRow>(
    "/exchange", "exchange", TraceLevel::kTile,
    Column{"exchange", RowNumber<std::uint32_t>{}, "1", "Number of the exchange program."},
    Column{"step", &ExchangeProgramRow::step, "1", "Its step."},
    Column{"first_message", &ExchangeProgramRow::first_message, "1",
           "Its first row of /exchange/message."},
    Column{"messages", &ExchangeProgramRow::messages, "1", "How many rows there are its own."});

inline constexpr auto kMessages = fixed_table<ExchangeMessage>(
    "/exchange/message", "message", TraceLevel::kTile,
    Column{"message", RowNumber<std::uint64_t>{}, "1", "Number of the message."},
    Column{"source_tile", &ExchangeMessage::source_tile, "1", "Tile that sends."},
    Column{"destination_tile", &ExchangeMessage::destination_tile, "1",
           "Tile that receives; a multicast has a row for each."},
    Column{"bytes", &ExchangeMessage::bytes, "B", "Its words, without a break."},
    Column{"start_cycle", &ExchangeMessage::start_cycle, "cycle",
           "Arrival of its first word, from the opening of the barrier."},
    Column{"cycles", [](const ExchangeMessage& m) { return m.bytes / 4; }, "cycle",
           "From its first word to its last."});

}  // namespace superstep
