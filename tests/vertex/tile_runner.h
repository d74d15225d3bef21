#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "compiler/image/tile_code.h"
#include "compiler/vertex/codelet.h"
#include "sim/tile/tile.h"

namespace superstep::vertex {

/// Runs codelets on one simulated tile.
class TileRunner {
 public:
  explicit TileRunner(std::uint32_t workers);

  [[nodiscard]] const MachineConfig& machine() const { return machine_; }
  /// A place for a tensor, padded to 8 bytes, with guard bytes behind that `run` checks.
  std::uint32_t put(const HostTensor& tensor);
  [[nodiscard]] HostTensor get(std::uint32_t address, const TensorType& type);
  std::uint32_t put_words(const std::vector<std::uint32_t>& words);
  /// Where `run` puts the vertex state.
  static constexpr std::uint32_t kState = 0x78000;
  /// The same in region 0, without guard bytes.
  std::uint32_t put_in_region0(const HostTensor& tensor);
  struct Stage {
    const Codelet& codelet;
    std::uint32_t blocks;
  };
  /// Cycles from the first instruction of a supervisor that launches blocks of common weights to
  /// its next sync. `launch` lacks stages and the address of the state.
  std::uint64_t run_weighted(const std::vector<Stage>& stages,
                             const std::vector<std::uint32_t>& state,
                             TileCode::WeightedLaunch launch);
  /// Runs on one state for all workers, or on states of `worker_words` that follow each other.
  /// Cycles from launch to the last exit; faults and damaged guards are test failures.
  std::uint64_t run(const Codelet& codelet, const std::vector<std::uint32_t>& state,
                    std::uint32_t worker_words = 0);

 private:
  std::uint32_t allocate(std::uint32_t bytes);
  TileStop run_checked();

  MachineConfig machine_;
  CodeStore code_;
  Tile tile_;
  std::uint32_t next_, next_in_region0_ = 0x60000;
  std::vector<std::uint32_t> guards_;
};

}  // namespace superstep::vertex
