#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compiler/vertex/fold_constants.h"
#include "isa/machine_config.h"

namespace superstep {

/// What formulas take in vertices of their own, by the static timing of their codelets.
class FormulaCosts {
 public:
  /// `machine` outlives the costs.
  explicit FormulaCosts(const MachineConfig& machine) : machine_(machine) {}

  /// Cycles of a tile for `kElements` elements more, their loads and stores with them. Of a formula
  /// with so many inputs, dense ones; 0 where it computes nothing.
  [[nodiscard]] std::uint32_t cycles(vertex::Folded formula, std::uint32_t inputs);

  /// Of each worker whole turns of every codelet [64 each, with 6].
  static constexpr std::int64_t kElements = 384;

 private:
  const MachineConfig& machine_;
  std::map<std::string, std::uint32_t> known_;  ///< by key of the expression
};

}  // namespace superstep
