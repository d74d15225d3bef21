#pragma once

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// A [rows][depth] times the transpose of B [columns][depth] gives C [rows][columns].
struct DenseProduct {
  DType input = DType::kF32;
  DType output = DType::kF32;

  struct State {
    std::int64_t rows = 0, columns = 0, depth = 0;
    StateWord a, b, c;

    [[nodiscard]] VertexState words() const {
      return {
          StateWord::number(rows), StateWord::number(columns), StateWord::number(depth), a, b, c};
    }
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const {
    return dense_product(machine, input, output);
  }
  void interpret(const StateView& state) const;
};

/// Worker slots for so many outputs [derived from the codelet's loops].
[[nodiscard]] std::int64_t dense_product_slots(DType operands, std::int64_t outputs,
                                               std::int64_t depth);

}  // namespace superstep::vertex
