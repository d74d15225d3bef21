#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/chip/step_table.h"
#include "sim/observer.h"
#include "sim/trace/rows.h"
#include "sim/trace/trace.h"

namespace superstep {

/// A superstep that has more of something than a trace keeps, and how much it keeps.
struct LeftOut {
  std::uint64_t superstep = 0, most = 0;
};
inline constexpr std::string_view kWorkerRuns = "worker runs", kInstructionsIssued = "instructions";

/// That in the text of an event; `what` it has too many of.
[[nodiscard]] std::string text_of(const LeftOut& left_out, std::string_view what);
/// What such a text says; nothing of any other.
[[nodiscard]] std::optional<LeftOut> left_out_by(std::string_view text, std::string_view what);

/// Gathers what levels below tile add to a trace, of the superstep that goes on: the rows of a
/// window.
class DetailRows : public Observer {
 public:
  DetailRows(const ProgramImage& image, const TraceOptions& options);

  [[nodiscard]] Watch watch() const override;
  void on_worker_run(TileId tile, const WorkerRun& run) override;
  void on_instruction(TileId tile, const IssuedInstruction& instruction) override;
  void on_too_many_instructions() override { now_.has_too_many_instructions = true; }
  void on_too_many_worker_runs() override { now_.has_too_many_runs = true; }

  /// Of a superstep.
  struct Rows {
    std::vector<VertexRow> vertices;
    std::vector<InstructionRow> instructions;
    bool has_too_many_instructions = false, has_too_many_runs = false;
  };
  /// All that came since the last call, of the superstep of a number.
  [[nodiscard]] Rows take(std::uint64_t superstep);

 private:
  /// A codelet on a tile.
  struct Codelet {
    TileId tile{};
    std::uint32_t pc = 0, vertex_type = 0;
  };

  void name_steps(std::span<VertexRow> of_tile) const;
  /// Leaves what belongs to operations of the window.
  void keep_operations(Rows& rows) const;
  [[nodiscard]] std::optional<std::uint32_t> vertex_type(TileId tile, std::uint32_t pc) const;

  std::vector<TileId> tiles_;  ///< with a program
  TraceOptions options_;
  StepTable steps_;
  std::vector<std::uint32_t> operation_by_step_;
  std::vector<bool> is_kept_;      ///< by operation
  std::vector<Codelet> codelets_;  ///< ascending by tile, then by pc
  Rows now_;
};

}  // namespace superstep
