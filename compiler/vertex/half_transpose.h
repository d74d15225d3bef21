#pragma once

#include <cstdint>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/strips.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// How `half_transpose` finds its way, in bytes, all multiples of 8.
struct HalfTransposition {
  std::int64_t inputs = 0, columns = 0;  ///< multiples of 4
  std::int64_t pitch = 0;                ///< from an input to the next in the source
  std::int64_t column_pitch = 0;         ///< from a column to the next in the destination
  /// Inputs that are neighbours in the destination, and from these to the next ones.
  std::int64_t block_inputs = 0, block_bytes = 0;
};

/// Puts the inputs of each column next to each other; see `half_transpose`.
struct HalfTranspose {
  struct State {
    HalfTransposition of;
    StateWord from, to;

    /// Of all workers, of equal length.
    [[nodiscard]] VertexState words(std::int64_t workers) const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  /// Of one worker.
  void interpret(const StateView& state) const;
};

/// Puts the inputs of each column next to each other, in blocks: f16 from [input][column], in any
/// region. State of each worker: {number of strips, three strides, then for each strip the
/// addresses of source and destination and the number of squares}.
[[nodiscard]] Codelet half_transpose();

/// The second to fourth words of the state.
[[nodiscard]] std::vector<std::uint32_t> half_transpose_strides(const HalfTransposition& of);

/// The strips of each worker. A unit is a square of 4 inputs by 4 columns.
[[nodiscard]] Strips half_transpose_strips(std::int64_t workers, const HalfTransposition& of);

/// Worker slots for some strips, of so many squares in all.
[[nodiscard]] std::int64_t half_transpose_slots(std::int64_t strips, std::int64_t squares);

}  // namespace superstep::vertex
