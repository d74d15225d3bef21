#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "compiler/image/tile_code.h"
#include "compiler/vertex/codelet.h"
#include "tests/tile_run.h"

namespace superstep::vertex {

[[nodiscard]] MachineConfig machine_with(std::uint32_t workers);

/// Runs codelets of the compiler on one tile, between guard bytes.
class VertexRun {
 public:
  explicit VertexRun(std::uint32_t workers) : VertexRun(machine_with(workers)) {}
  explicit VertexRun(MachineConfig machine);

  [[nodiscard]] const MachineConfig& machine() const { return run_.machine(); }
  /// A place for a tensor, padded to 8 bytes, with guard bytes behind that `run` checks.
  std::uint32_t put(const HostTensor& tensor);
  /// What `put` gave a place, with other contents.
  void set(std::uint32_t address, const HostTensor& tensor) { run_.put(address, tensor.data); }
  [[nodiscard]] HostTensor get(std::uint32_t address, const TensorType& type);
  /// The same in region 0, without guard bytes.
  std::uint32_t put_in_region0(const HostTensor& tensor);
  /// The next tensor outside of region 0 begins at a multiple of 16.
  void align_to_16();
  /// Where `run` puts the vertex state.
  static constexpr std::uint32_t kState = 0x78000;
  struct Stage {
    const Codelet& codelet;
    std::uint32_t blocks;
  };
  /// Cycles from the first instruction of a supervisor that launches blocks of common weights to
  /// its next sync, as `TimingAnalysis` says too. `launch` lacks stages and the
  /// address of the state.
  std::uint64_t run_weighted(const std::vector<Stage>& stages,
                             const std::vector<std::uint32_t>& state,
                             TileCode::WeightedLaunch launch);
  /// Runs on one state for all workers, or on states of `worker_words` that follow each other.
  /// Cycles from launch to the last exit; faults and damaged guards are test failures.
  /// `TimingAnalysis` says the same, unless data may decide.
  std::uint64_t run(const Codelet& codelet, const std::vector<std::uint32_t>& state,
                    std::uint32_t worker_words = 0);
  /// The next runs may take branches that depend on data.
  void let_data_decide() { data_decides_ = true; }

 private:
  [[nodiscard]] std::uint64_t counted_weighted(const std::vector<Stage>& stages,
                                               std::span<const std::uint32_t> state,
                                               const TileCode::WeightedLaunch& launch) const;
  std::uint32_t allocate(std::uint32_t bytes);
  /// Runs the supervisor program from kProgram on.
  TileStop run_checked();

  testing::TileRun run_;
  std::uint32_t next_ = 0x80000, next_in_region0_ = 0x60000;
  std::vector<std::uint32_t> guards_;
  bool data_decides_ = false;
};

}  // namespace superstep::vertex
