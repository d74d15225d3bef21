#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/hdf5_file.h"
#include "isa/program_image.h"
#include "sim/trace/totals.h"
#include "sim/trace/trace.h"

namespace superstep {

/// The steps of a trace: those of the program and, last, the code between steps.
[[nodiscard]] std::vector<StepInfo> trace_steps(const ProgramInfo& info);

/// Device cycles of so many calls as the compiler predicted them, with one sync of each visit to
/// the host and, for feeds, what the tiles wait for callbacks; 0 of a program without a prediction,
/// and of a run that begins inside a call.
[[nodiscard]] Cycles predicted_cycles(const ProgramImage& image, std::uint32_t calls,
                                      CallPlace begin = CallPlace::kBegin);

/// Memory in use while each step of a trace runs; between steps as in the host's.
[[nodiscard]] std::vector<StepMemory> trace_memory(const ProgramInfo& info);

/// Bytes in use over all tiles in the superstep of each step: the most of those that run in it.
[[nodiscard]] std::vector<std::uint64_t> live_bytes_by_step(std::span<const StepGroup> groups,
                                                            std::span<const StepMemory> memory);

/// The operations of steps: the number of each step's, and the steps that name them.
struct TraceOperations {
  std::vector<std::uint32_t> by_step;
  /// Of each operation, under the operation's name; with opcode and place of the first that has an
  /// opcode. One that shares all its exchanges and computes nothing has one too.
  std::vector<StepInfo> first_steps;
  std::map<std::string, std::uint32_t> numbers;  ///< by name
};
[[nodiscard]] TraceOperations operations_of(const std::vector<StepInfo>& steps);

/// A place as a trace has it, which tells nothing of the host's folders.
[[nodiscard]] SourceLocation shown_source(const SourceLocation& source);
[[nodiscard]] OpLocation shown_source(const OpLocation& source);

/// The stored direction of a stream, as `kDirections` has it.
[[nodiscard]] constexpr std::uint8_t direction_of(const Stream& stream) {
  return stream.kind == Stream::Kind::kResult || stream.kind == Stream::Kind::kOutfeed ? 1 : 0;
}

/// Writes what is known before a run: the attributes of the root, /provenance, /machine, /program,
/// /memory and, at level tile, /exchange. The groups exist.
void write_tables(Hdf5File& file, const ProgramImage& image, const TraceOptions& options);

}  // namespace superstep
