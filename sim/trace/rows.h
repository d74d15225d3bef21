#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isa/instruction.h"
#include "isa/program_image.h"
#include "sim/superstep_record.h"
#include "sim/tile/instruction_observer.h"
#include "sim/tile/worker_run.h"
#include "sim/trace/cost_source.h"
#include "sim/trace/trace.h"

namespace superstep {

/// The one row of what /provenance has besides its attributes.
struct MachineText {
  std::string toml, origin;
};

/// One row of /machine/parameter.
struct ParameterRow : ConfigNumber {
  CostSource source = CostSource::kAssumed;
};

/// One row of /program/operation: `dot_general.3` of all its steps.
struct OperationRow {
  std::string name, opcode;
  OpLocation source;
  std::uint64_t flops = 0;
  std::uint32_t code_bytes = 0;
};

/// One row of /program/step.
struct StepRow : StepInfo {
  std::uint8_t kind_number = 0;   ///< as `kStepKinds` has it
  std::uint64_t known_trips = 0;  ///< 0 where they follow from data
  std::optional<std::uint32_t> compute_set = {}, exchange = {};
  std::uint32_t operation_number = 0;

  [[nodiscard]] bool is(Kind of) const { return kind_number == static_cast<std::uint8_t>(of); }
  /// A loop, branch or arm: a step that executes others.
  [[nodiscard]] bool executes_others() const {
    return is(Kind::kLoop) || is(Kind::kBranch) || is(Kind::kArm);
  }
};

/// One row of /program/fused.
struct FusedOperationRow : FusedOperation {
  std::uint32_t step = 0;
  std::uint32_t operation_number = 0;
};

/// One row of /program/variable.
struct VariableRow : TensorInfo {
  std::string type_text;
};

/// One row of /program/event.
struct CompileEventRow : CompileEvent {
  std::string kind_name;
};

/// One row of /program/stream.
struct StreamRow {
  std::string name;
  std::uint8_t direction = 0;  ///< as `kDirections` has it
  std::string type;
  std::uint64_t bytes = 0;
  std::string label = {};
};

/// One row of /exchange.
struct ExchangeProgramRow {
  std::uint32_t step = 0;
  std::uint64_t first_message = 0, messages = 0;
};

/// One row of /supersteps.
struct SuperstepRow : SuperstepCounts {
  std::uint32_t operation = 0;
  std::uint32_t active_tiles = 0;
  std::uint64_t compute_max = 0, compute_min = 0, compute_sum = 0;
  std::uint64_t flops = 0, live_bytes = 0, predicted_cycles = 0;
  CostSource exchange_source = CostSource::kAssumed, compute_source = CostSource::kAssumed,
             sync_source = CostSource::kAssumed, host_source = CostSource::kAssumed,
             callback_source = CostSource::kAssumed;
};

/// What a row of /supersteps has at level tile: rows of /profiles.
struct ProfileNumbers {
  std::uint32_t compute = 0, exchange = 0;
};

/// One row of /profiles/compute or /profiles/exchange, of which only the number is stored: what it
/// holds is a row of TilePhase for each tile.
struct ProfileRow {};

/// One row of /launches: a step's share of the critical tile's compute cycles in a superstep.
struct LaunchRow : ComputeShare {
  std::uint64_t superstep = 0;
};

/// One row of /vertices.
struct VertexRow : WorkerRun {
  std::uint64_t superstep = 0;
  std::uint32_t tile = 0;
  std::uint32_t step = 0, operation = 0;
  std::optional<std::uint32_t> vertex_type = {};
  std::uint64_t length = 0;
};

/// One row of /instructions.
struct InstructionRow : IssuedInstruction {
  std::uint64_t superstep = 0;
  std::uint32_t tile = 0;
  std::optional<std::uint32_t> worker = {}, opcode = {}, aux_opcode = {};
};

/// One row of /machine/opcode.
struct OpcodeRow {
  std::string name, syntax;
  isa::Pipe pipe = isa::Pipe::kMain;
};

/// One row of /host.
struct TransferRow {
  std::uint64_t superstep = 0;
  std::uint32_t stream = 0;
  std::uint8_t direction = 0;
  std::uint64_t bytes = 0, packets = 0;
  Cycles start, length;
};

/// One row of /summary/step: what one step added up to.
struct StepSums {
  std::uint64_t count = 0, runs = 0;
  Cycles exchange, compute, sync, host;
  TileId critical_tile{};
  Cycles longest;
  std::uint64_t compute_sum = 0, compute_max = 0;
  InstructionCounts instructions;
};

/// The attributes of the root.
struct RootRow {
  std::string format, format_version, level;
  std::uint64_t window_first = 0, window_end = UINT64_MAX;
  std::string window_tiles, window_operations;
  bool complete = false;
  std::string outcome;
  std::string module, machine;
  double clock_hz = 0;
  std::uint16_t ipus = 1;
  std::uint32_t tiles = 0;
  std::uint8_t workers = 0;
  std::uint32_t tile_memory_bytes = 0;
  std::uint32_t calls = 0;
  bool begins_inside = false;
  Cycles predicted;
  std::string config_sha256, program_sha256, code_sha256;
  std::string nexus_class = "NXroot", plot = "plots";
};

/// The attributes of /summary.
struct SummaryRow {
  Cycles total, device, exchange, compute, sync, host;
  /// All, where a trace does not say.
  AssumedCycles assumed{Cycles(UINT64_MAX), Cycles(UINT64_MAX), Cycles(UINT64_MAX),
                        Cycles(UINT64_MAX)};
  Cycles visit_begin, visit_callbacks, visit_end;
  std::uint64_t visits = 0, supersteps = 0, instructions = 0, aux_instructions = 0,
                amp_instructions = 0;
  std::uint64_t bytes_exchanged = 0, host_bytes = 0, flops = 0;
  double flop_per_cycle = 0, tile_balance = 1, bsp_efficiency = 0;
  std::uint32_t worst_tile = 0;
  std::uint64_t peak_tile_bytes = 0;
  std::string trap, trap_kind;
};

}  // namespace superstep
