#pragma once

#include <array>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Moves elements of 1, 2 or 4 bytes by strided boxes, in any order.
struct CopyBoxes {
  std::uint32_t element_bytes = 4;

  /// Sizes and strides go from the outer axis to the inner one; strides are bytes.
  struct Box {
    StateWord to, from;
    std::array<std::int64_t, 3> sizes, to_strides, from_strides;
  };
  struct State {
    std::vector<Box> boxes;

    [[nodiscard]] VertexState words() const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const {
    return copy_boxes(machine, element_bytes);
  }
  void interpret(const StateView& state) const;
};

}  // namespace superstep::vertex
