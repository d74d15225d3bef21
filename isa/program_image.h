#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/units.h"
#include "isa/compile_event.h"
#include "isa/machine_config.h"
#include "isa/fused_operation.h"
#include "isa/op_location.h"

namespace superstep {

/// Bytes that boot writes at one address of each of a set of tiles.
struct Segment {
  std::vector<TileId> tiles;  ///< ascending
  std::uint32_t address = 0;
  std::vector<std::uint8_t> bytes;

  bool operator==(const Segment&) const = default;
};

/// A box of a tensor's row-major data, which the host copies to or from a piece of a stream: runs
/// of `bytes`, for every index of `axes`.
struct StreamBox {
  struct Axis {
    std::uint32_t count = 1;
    std::int64_t piece_stride = 0, host_stride = 0;  ///< bytes

    bool operator==(const Axis&) const = default;
  };
  std::uint32_t piece_offset = 0;  ///< bytes into the piece
  std::uint64_t host_offset = 0;   ///< bytes into the tensor's data
  std::uint32_t bytes = 0;
  std::vector<Axis> axes = {};  ///< outer to inner

  bool operator==(const StreamBox&) const = default;
};

/// One contiguous piece of a stream on one tile.
struct StreamPiece {
  TileId tile{};
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;       ///< on the tile, a multiple of 4
  std::vector<StreamBox> boxes;  ///< what they leave out is padding

  bool operator==(const StreamPiece&) const = default;
};

/// An argument or result of the program as it crosses the host link.
struct Stream {
  enum class Kind : std::uint8_t {
    kArgument,  ///< host to tile
    kResult,    ///< tile to host
    kGoesOn,    ///< host to tile, with the arguments of the last call only: 0 for each piece
    kInfeed,    ///< host to tile, inside a call
    kOutfeed,   ///< tile to host, inside a call
  };
  Kind kind = Kind::kArgument;
  std::uint32_t position = 0;  ///< K of argK or resultK, or of the queue of a feed
  TensorType type;
  std::vector<StreamPiece> pieces;  ///< the order in which packets go
  std::string label = {};           ///< as the program names it (JAX: `params['w1']`), or empty

  bool operator==(const Stream&) const = default;
};

/// As files of tensors, traces and messages call a stream: `arg0`, `result0`, `infeed0`, `outfeed0`
/// or `goes_on`.
[[nodiscard]] std::string stream_name(Stream::Kind kind, std::uint32_t position);

/// What one visit of the tiles to the host moves: results first, then arguments, each in this
/// order.
struct HostPhase {
  std::vector<std::uint32_t> results;    ///< indices into `streams`
  std::vector<std::uint32_t> arguments;  ///< indices into `streams`

  bool operator==(const HostPhase&) const = default;
};

/// A visit to the host inside a call, for the values of feeds.
struct FeedVisit {
  std::uint32_t pc = 0;  ///< of the sync that begins it, on the lowest tile that has a program
  HostPhase phase;

  bool operator==(const FeedVisit&) const = default;
};

/// A tile that takes part in the program.
struct TileEntry {
  TileId tile{};
  std::uint32_t pc = 0;  ///< of the supervisor program

  bool operator==(const TileEntry&) const = default;
};

/// What a step of the program is, for the trace: found by the pc of the `sync` or `runall` that
/// begins it.
struct StepInfo {
  /// As traces have them, where 3 is the code between steps.
  enum class Kind : std::uint8_t {
    kCompute,
    kExchange,
    kHost,
    kLoop = 4,
    kBranch,
    kArm,  ///< of a branch
  };
  Kind kind = Kind::kCompute;
  std::string name;       ///< `dot_general.3`, `host`, …
  std::string operation;  ///< StableHLO op name, empty when there is none
  OpLocation source;
  /// Steps of one number run in one superstep of every call; empty for host phases and control.
  std::optional<std::uint32_t> superstep = {};
  /// The step that executes it, a loop or an arm, or the branch of an arm; steps follow those that
  /// execute them. Empty: the call.
  std::optional<std::uint32_t> parent = {};
  std::optional<std::uint64_t> trips = {};  ///< of one execution of a loop, where they are known
  std::uint64_t flops = 0;
  std::uint64_t exchange_bytes = 0;
  std::uint64_t bound_cycles = 0;      ///< exchange: the busiest port
  std::uint64_t estimated_cycles = 0;  ///< exchange: what it should take, before a schedule
  std::uint64_t predicted_cycles = 0;  ///< one execution: an exchange by its schedule, a compute
                                       ///< step by its code on the slowest tile, an arm, the
                                       ///< longest arm of a branch; one trip of a loop
  std::uint32_t vertices = 0;          ///< compute: launches on all tiles
  std::uint32_t tiles = 0;             ///< compute: tiles that launch
  std::vector<std::uint32_t> vertex_types = {};  ///< compute: indices into `vertex_types`
  /// The operations that it serves, in order; empty: one, whose name it has. Of several, a compute
  /// step has the name of the last, an exchange that of the first and how many more: `dot.3 +2`.
  std::vector<FusedOperation> fused = {};
  /// Code that several places of the program share: its number, and that of the call which the step
  /// is of, in order of execution. Empty: code of its own.
  std::optional<std::uint32_t> shared_code = {}, call_site = {};

  /// Whether it does nothing but execute other steps.
  [[nodiscard]] bool is_control() const { return kind >= Kind::kLoop; }
  bool operator==(const StepInfo&) const = default;
};

/// One codelet.
struct VertexTypeInfo {
  std::string name;
  std::uint32_t code_bytes = 0;

  bool operator==(const VertexTypeInfo&) const = default;
};

/// Where the code of a codelet begins on tiles.
struct CodeletPlace {
  std::vector<TileId> tiles;  ///< ascending
  std::uint32_t pc = 0;
  std::uint32_t vertex_type = 0;  ///< index into `vertex_types`

  bool operator==(const CodeletPlace&) const = default;
};

/// Words that an exchange moves from one tile to another without a break.
struct ExchangeMessage {
  std::uint32_t source_tile = 0, destination_tile = 0;
  std::uint32_t bytes = 0;
  std::uint32_t start_cycle = 0;  ///< of the first word's arrival, from the barrier's opening

  bool operator==(const ExchangeMessage&) const = default;
};

/// The static plan of one exchange step.
struct ExchangeInfo {
  std::uint32_t step = 0;
  std::vector<ExchangeMessage> messages;

  bool operator==(const ExchangeInfo&) const = default;
};

/// Where the bytes of one category are, tile by tile.
struct MemoryCategory {
  std::string
      name;  ///< codelets, supervisor_code, exchange_code, vertex_state, constants, variables, …
  std::vector<std::uint32_t> bytes_by_tile;

  bool operator==(const MemoryCategory&) const = default;
};

struct TensorInfo {
  std::string name;
  TensorType type;
  OpLocation source;
  std::uint64_t bytes = 0;  ///< over all tiles
  std::uint32_t max_tile_bytes = 0;
  std::uint32_t tiles = 0;
  bool is_always_live = false;
  std::uint32_t first_step = 0,
                last_step = 0;  ///< that need it; the host's when it reads or writes

  bool operator==(const TensorInfo&) const = default;
};

/// Memory in use while a step runs.
struct StepMemory {
  std::uint64_t always_live_bytes = 0;  ///< over all tiles: code, state, arguments, constants
  std::uint64_t not_always_live_bytes = 0;
  std::uint32_t peak_tile_bytes = 0;  ///< of the fullest tile
  std::uint32_t peak_tile = 0;

  bool operator==(const StepMemory&) const = default;
};

/// The most memory that a tile ever has in use.
struct TilePeak {
  std::uint32_t bytes = 0;
  std::uint32_t step = 0;  ///< the first that needs so much

  bool operator==(const TilePeak&) const = default;
};

/// Names for what runs; the simulator copies it to the trace without reading it.
struct ProgramInfo {
  std::string module;
  std::vector<StepInfo> steps;  ///< index = step number
  /// Device cycles of a call besides its visit to the host: exchanges as estimated before a
  /// schedule, or by their schedules; with them compute on the slowest tile of each superstep, and
  /// barriers. Loops take their known trips, or one; branches the longest arm.
  std::uint64_t estimated_cycles = 0, predicted_cycles = 0;
  std::vector<MemoryCategory> memory;
  std::vector<TensorInfo> tensors;
  std::vector<VertexTypeInfo> vertex_types;
  std::vector<CodeletPlace> codelets;
  std::vector<StepMemory> step_memory;  ///< by step
  std::vector<TilePeak> tile_peaks;     ///< by tile of the machine
  std::vector<ExchangeInfo> exchanges;  ///< only if the compiler was asked for them
  std::vector<CompileEvent> events;     ///< in program order
  std::string text_sha256;              ///< of the StableHLO text, in hexadecimal

  bool operator==(const ProgramInfo&) const = default;
};

/// A step number for a supervisor pc of a tile: which step begins when this `sync`/`runall` at `pc`
/// is executed there.
struct StepMark {
  TileId tile{};
  std::uint32_t pc = 0;
  std::uint32_t step = 0;

  bool operator==(const StepMark&) const = default;
};

/// The step that executes a step again and again, if one does.
[[nodiscard]] std::optional<std::uint32_t> loop_around(const std::vector<StepInfo>& steps,
                                                       std::uint32_t step);

/// How often a call executes each step: loops take the trips that are known, or one, and branches
/// the first of the arms that are predicted to take longest.
[[nodiscard]] std::vector<std::uint64_t> executions_by_step(const std::vector<StepInfo>& steps);

/// A compiled program: the contract between compiler and simulator.
/// Run: host phase `first`; then calls of the program, with host phase `next` between two; host
/// phase `last`. Only the host knows how many calls there are. Inside a call the tiles may visit
/// the host as well, for feeds.
struct ProgramImage {
  MachineConfig machine;
  MachineSources sources;  ///< of the machine's numbers; the compiler does not know them
  std::uint32_t stack_bytes = 0;
  std::vector<Segment> segments;
  std::vector<TileEntry>
      entries;  ///< ascending tiles; a tile without one is outside every sync zone
  std::vector<Stream> streams;
  HostPhase first, next, last;
  std::vector<FeedVisit> visits;  ///< inside calls
  std::vector<TensorType> arguments, results;
  std::vector<std::optional<std::uint32_t>>
      alias;  ///< by result: the argument whose storage it takes
  ProgramInfo info;
  std::vector<StepMark> marks;
  /// `call`s of code that serves several steps: until it returns, the steps of marks are counted
  /// from that of the call.
  std::vector<StepMark> calls;
  /// Branches that begin another trip of a loop; the host's step stands for the loop over calls.
  std::vector<StepMark> loops;

  bool operator==(const ProgramImage&) const = default;
};

/// Everything in an image that the simulator, a trace or a report could not take; of each of its
/// tables the first such row, and how many more there are. Empty for what was compiled.
[[nodiscard]] std::vector<Problem> problems(const ProgramImage& image);

}  // namespace superstep
