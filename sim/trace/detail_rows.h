#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/chip/step_table.h"
#include "sim/observer.h"
#include "sim/trace/rows.h"
#include "sim/trace/trace.h"

namespace superstep {

/// Gathers what levels below tile add to a trace, of the superstep that goes on: the rows of a
/// window.
class DetailRows : public Observer {
 public:
  /// The image outlives it.
  DetailRows(const ProgramImage& image, const TraceWindow& window);

  [[nodiscard]] Watch watch() const override;
  void on_worker_run(TileId tile, const WorkerRun& run) override;

  /// All that came since the last call, of the superstep of a number.
  [[nodiscard]] std::vector<VertexRow> take(std::uint64_t superstep);

 private:
  /// A codelet on a tile.
  struct Codelet {
    TileId tile{};
    std::uint32_t pc = 0, vertex_type = 0;
  };

  void name_steps(std::span<VertexRow> of_tile) const;
  [[nodiscard]] std::optional<std::uint32_t> vertex_type(TileId tile, std::uint32_t pc) const;

  const ProgramImage& image_;
  TraceWindow window_;
  StepTable steps_;
  std::vector<std::uint32_t> operation_by_step_;
  std::vector<bool> is_kept_;      ///< by operation
  std::vector<Codelet> codelets_;  ///< ascending by tile, then by pc
  std::vector<VertexRow> vertices_;
};

}  // namespace superstep
