#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
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
  /// Cycles from launch to the last exit; faults and damaged guards are test failures.
  std::uint64_t run(const Codelet& codelet, const std::vector<std::uint32_t>& state);

 private:
  std::uint32_t allocate(std::uint32_t bytes);

  MachineConfig machine_;
  CodeStore code_;
  Tile tile_;
  std::uint32_t next_;
  std::vector<std::uint32_t> guards_;
};

}  // namespace superstep::vertex
