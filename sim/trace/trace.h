#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hdf5_file.h"
#include "base/output_file.h"
#include "base/units.h"
#include "isa/program_image.h"
#include "sim/instruction_counts.h"
#include "sim/run_image.h"

namespace superstep {

/// How much of a run its trace keeps; each level holds the one before it.
enum class TraceLevel : std::uint8_t { kSummary, kSuperstep, kTile, kVertex, kInstruction };

/// The level of a name, as `superstep`; empty for any other.
[[nodiscard]] std::optional<TraceLevel> trace_level(std::string_view name);
[[nodiscard]] std::string_view name_of(TraceLevel level);

/// What may differ between equal runs: version, command line, date, host; by attribute.
using Provenance = std::map<std::string, Hdf5Value>;

class RunRecorder;
struct TraceSummary;
struct TraceTotals;
/// Makes the text of /summary/json.
using TraceReport = std::function<std::string(const TraceSummary&)>;

/// Where a trace keeps what levels below tile add.
struct TraceWindow {
  std::uint64_t first_superstep = 0;
  std::uint64_t end_superstep = UINT64_MAX;       ///< not included, behind the first
  std::optional<std::vector<TileId>> tiles = {};  ///< ascending; all with a program without any
  std::string operations = {};  ///< shell pattern of their names; all where it is empty

  [[nodiscard]] bool is_everything() const {
    return first_superstep == 0 && end_superstep == UINT64_MAX && !tiles && operations.empty();
  }
};

/// Why nothing that the program does can be in a window; empty when something may.
[[nodiscard]] std::string window_problem(const TraceWindow& window, const ProgramImage& image);

/// What a trace keeps of a run.
struct TraceOptions {
  TraceLevel level = TraceLevel::kSuperstep;
  TraceWindow window = {};
  std::uint32_t calls = 1;  ///< of the program that end in the run, if nothing ends it before
  CallPlace begin = CallPlace::kBegin;  ///< of the run, which may go on from a checkpoint
  /// Once the file is as large as this, what level tile and those below add ends, and everything
  /// else goes on.
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  /// A superstep with more in the window has none of them in the trace: they are in the host's
  /// memory until it ends.
  std::uint64_t most_instructions = std::uint64_t{1} << 22;
  std::uint64_t most_worker_runs = std::uint64_t{1} << 22;
  std::shared_ptr<FileLock> lock = {};  ///< of the file, from who has it; else the writer takes it
  MachineSources sources = {};          ///< of the image's machine
  std::string config_origin = {};       ///< text of /provenance/config_origin
  TraceReport report = {};
};

/// Where the trace of a run is while the run lasts.
[[nodiscard]] std::filesystem::path trace_part(const std::filesystem::path& path);

/// Writes the trace of one run. While the run lasts the data is in `<path>.part`, which SWMR
/// readers can follow and which outlives a killed process; no other process can write the same
/// trace. Throws InputOutputError when a file cannot be written: the `.part` then keeps what was
/// flushed, and the writer is of no more use.
class TraceWriter {
 public:
  /// `image` must outlive the writer.
  TraceWriter(const std::filesystem::path& path, const TraceOptions& options,
              const ProgramImage& image, const Provenance& provenance);
  TraceWriter(const std::filesystem::path& path, const TraceOptions& options, ProgramImage&& image,
              const Provenance& provenance) = delete;
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Sees what levels below tile add, and goes to RunOptions::observer; null at other levels.
  [[nodiscard]] Observer* observer();
  /// To be called from RunOptions::on_superstep.
  void on_superstep(const SuperstepRecord& record);
  /// What the run added up to so far; also after a superstep that could not be written.
  [[nodiscard]] const RunRecorder& recorder() const;

  /// Adds the totals and repacks `<path>.part` into `path`; `provenance` is added to that of the
  /// constructor.
  void finish(const RunResult& result, const Provenance& provenance = {});
  /// The same for a program that cannot run because it does not fit.
  void finish_unrun();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes a trace with outcome `oom`: the machine, the program and the memory that it would take.
void write_memory_trace(const std::filesystem::path& path, const TraceOptions& options,
                        const MachineConfig& machine, const ProgramInfo& info,
                        const Provenance& provenance);

/// Copies what a killed run left in `part` to a clean trace `out` with outcome `interrupted`, and
/// removes `part` where `out` is the trace of that run; false, and no `out`, when `part` is a
/// finished trace. Throws UserError (damaged trace) when it
/// is none, and InputOutputError while its run lasts.
bool repair_trace(const std::filesystem::path& part, const std::filesystem::path& out,
                  const TraceReport& report = {});

/// Whether a tensor is in use while a step runs; the host's, 0, comes behind all others.
[[nodiscard]] inline bool is_live_in(const TensorInfo& tensor, std::uint32_t step) {
  const auto place = [](std::uint32_t s) { return s == 0 ? UINT32_MAX : s; };
  return tensor.is_always_live ||
         (place(tensor.first_step) <= place(step) && place(step) <= place(tensor.last_step));
}

/// The name of the operation that one of those that a step serves is booked on: of an exchange its
/// own, else that of the step.
[[nodiscard]] std::string operation_of(const StepInfo& step, const FusedOperation& served);

/// Totals of one step of the program over a run.
struct StepTotals {
  StepInfo info;
  std::string operation_name;  ///< that it is of; an exchange of several, the first
  std::uint64_t count = 0;     ///< supersteps
  std::uint64_t runs = 0;      ///< executions: in loops there may be several in a superstep
  Cycles cycles, exchange, compute, sync, host;
  TileId worst{};                 ///< critical tile of its longest superstep
  std::uint64_t tile_cycles = 0;  ///< compute cycles added up over tiles and supersteps
  std::uint64_t peak_cycles = 0;  ///< most compute cycles of any tile, added up over supersteps
  /// Of the workers in those supersteps: all, auxiliary and AMP; none before format 1.11.
  InstructionCounts instructions;

  [[nodiscard]] Cycles device() const { return exchange + compute + sync; }
  /// Mean over maximum of the tiles' compute cycles; 1 when nothing was computed.
  [[nodiscard]] double balance(std::size_t tiles) const {
    if (peak_cycles == 0 || tiles == 0) return 1.0;
    return static_cast<double>(tile_cycles) /
           (static_cast<double>(peak_cycles) * static_cast<double>(tiles));
  }
};

/// Something that happened in a run.
struct TraceEvent {
  enum class Kind : std::uint8_t { kWarning, kLimit, kTrap, kOom, kInterrupted };
  Kind kind = Kind::kWarning;
  Cycles cycle;
  std::int32_t tile = -1;
  std::string text;
};
[[nodiscard]] std::string_view name_of(TraceEvent::Kind kind);

/// Visits to the host, and cycles of their beginnings and ends; the other host cycles move data.
struct Visits {
  std::uint64_t count = 0;
  Cycles begin, callbacks, end;  ///< callbacks: of the beginnings
};

/// Of the parts of a run, what rests on assumed numbers of the machine; all of a part that a trace
/// does not say it of.
struct AssumedCycles {
  Cycles exchange, compute, sync, host;

  [[nodiscard]] Cycles device() const { return exchange + compute + sync; }
};

/// What a text report needs of a trace.
struct TraceSummary {
  std::string format_version, level, outcome, module, machine_name, machine_toml, trap, trap_kind;
  std::string program_sha256;  ///< of the StableHLO text; empty for a program that had none
  bool complete = false;
  std::uint64_t clock_hz = 0;
  std::uint32_t tiles = 0;       ///< of the chip
  std::uint32_t tiles_used = 0;  ///< with a program
  std::uint32_t workers = 0;
  std::uint32_t calls = 1;     ///< of the program, that ended
  bool begins_inside = false;  ///< a call: what of it a checkpoint was made behind is not there
  std::uint64_t tile_memory_bytes = 0;
  RunTotals totals;
  AssumedCycles assumed;  ///< of the totals
  Visits visits;
  Cycles predicted;  ///< device cycles of these calls by the compiler; 0 when unknown
  std::uint64_t exchange_bytes = 0, host_bytes = 0, flops = 0;
  /// Of the workers: all, auxiliary and AMP; the others are not in a summary, nor are these before
  /// format 1.8.
  InstructionCounts instructions;
  std::uint64_t tile_cycles = 0;  ///< compute cycles added up over tiles
  double balance = 1.0;           ///< mean over maximum of the tiles' compute cycles
  double bsp_efficiency = 0.0;    ///< mean of the tiles' compute cycles over device cycles
  std::vector<StepTotals> steps;  ///< by step number, those that never ran included
  TileId worst_tile{};            ///< of most memory
  std::uint64_t worst_tile_bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> worst_tile_memory;  ///< bytes by category
  std::vector<TensorInfo> tensors;
  std::vector<TraceEvent> events;
  std::vector<CompileEvent> plan_events;
  std::map<std::string, std::string> provenance;

  /// Sets what the totals of a run say of it; `tiles_used` is known.
  void add_totals(const TraceTotals& sums);
  /// Of a run that did not end, or lasts.
  void count_calls(const TraceTotals& sums);
};

/// Reads a finished trace, or a `.part` while its run lasts or after it was killed. Throws
/// UserError with ExitCode::kDamagedTrace for anything else, and InputOutputError when the file
/// cannot be read.
[[nodiscard]] TraceSummary read_trace(const std::filesystem::path& path);

/// The schema as a Markdown table: dataset, type, axes, unit, meaning.
[[nodiscard]] std::string trace_schema_markdown();

}  // namespace superstep
