#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "compiler/program/blocks.h"

namespace superstep {

/// Runs a lowered program on the host by what its codelets mean: no addresses, no machine code, no
/// time.
class PlanInterpreter {
 public:
  explicit PlanInterpreter(const LoweredProgram& program);

  /// One call; buffers of arguments keep what earlier calls left in them unless a value is given.
  std::vector<HostTensor> run(std::span<const HostTensor> arguments,
                              std::span<const TensorType> results);

  /// The arguments of a call; what has none keeps its value.
  using Arguments = std::vector<std::optional<HostTensor>>;
  /// So many calls of a program with a call loop: the results of each.
  std::vector<std::vector<HostTensor>> run_calls(std::span<const Arguments> calls,
                                                 std::span<const TensorType> results);

  /// By stream: what visits inside a call take, and what they gave.
  std::map<std::uint32_t, std::deque<HostTensor>> infeeds;
  std::map<std::uint32_t, std::vector<HostTensor>> outfeeds;

 private:
  std::vector<std::byte>& bytes(BufferId buffer, TileId tile);
  void fill(BufferId buffer, const HostTensor& tensor);
  [[nodiscard]] HostTensor read(BufferId buffer, const TensorType& type);
  std::vector<HostTensor> read_results();
  void run_block(const Block& block);
  void visit_host(HostVisit visit);
  void visit_host(const Feed& feed);
  void run_superstep(const Superstep& superstep);
  std::uint32_t run_scalars(const vertex::Scalars& scalars);
  void exchange(const std::vector<Movement>& movements);
  void launch_weighted(const Launch& launch);
  void launch(std::uint32_t codelet, const Launch& launch);

  const LoweredProgram& program_;
  std::span<const Arguments> calls_;  ///< that the host has
  std::span<const TensorType> results_;
  std::vector<std::vector<HostTensor>> finished_;            ///< results of calls
  Execution execution_;                                      ///< that runs now
  std::vector<std::vector<std::vector<std::byte>>> memory_;  ///< by buffer, tile
};

}  // namespace superstep
