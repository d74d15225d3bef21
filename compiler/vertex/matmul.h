#pragma once

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// A [rows][depth] times the transpose of B [columns][depth] gives C [rows][columns].
struct Matmul {
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
    return matmul(machine, input, output);
  }
  void interpret(const StateView& state) const;
};

}  // namespace superstep::vertex
