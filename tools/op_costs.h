#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/dtype.h"
#include "base/units.h"
#include "compiler/graph/graph.h"
#include "isa/machine_config.h"

namespace superstep {

/// The machine whose cycles the page of ops gives: one tile of `bow`.
[[nodiscard]] const MachineConfig& machine_of_costs();

/// A program of one op on vectors of so many elements: operands of `dtype` where the op takes it,
/// else of the first type that it takes. Empty where the op does not make a vector of as many
/// elements of them, or only moves elements.
[[nodiscard]] std::optional<Module> vector_use(const OpDefinition& op, DType dtype,
                                               std::int64_t elements);

/// What `vector_use` takes on a tile for one element more, as the compiler predicts it.
struct ElementCost {
  double cycles = 0;
  bool data_decide = false;  ///< the prediction is of some data, others take more or less
};
/// Empty where `vector_use` is.
[[nodiscard]] std::optional<ElementCost> element_cost(const OpDefinition& op, DType dtype);

/// What a program becomes on a machine, and takes there in one call.
struct ProgramCost {
  std::map<std::string_view, std::size_t> ops;  ///< those that are planned, in regions too
  std::size_t computes = 0, exchanges = 0;      ///< steps
  std::uint64_t exchange_bytes = 0;             ///< of them, each once
  Cycles compute, exchange;                     ///< simulated, with zeros as arguments
};
[[nodiscard]] ProgramCost cost_of(const Module& module, const MachineConfig& machine);

}  // namespace superstep
