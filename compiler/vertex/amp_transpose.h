#pragma once

#include <cstdint>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/strips.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Makes blocks of common f32 weights; see `amp_transpose`.
struct AmpTranspose {
  struct State {
    std::int64_t pitch = 0;   ///< bytes of an input's columns
    std::int64_t depth = 0;   ///< inputs, a multiple of 8
    std::int64_t groups = 0;  ///< of 16 columns
    StateWord from, to;

    /// Of all workers, of equal length.
    [[nodiscard]] VertexState words(std::int64_t workers) const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  /// Of one worker.
  void interpret(const StateView& state) const;
};

/// Makes blocks of common f32 weights, [block][channel][8 inputs] (those of one depth for all
/// columns, then the next) in region 1, from [input][column] in region 0. State of each worker:
/// {number of strips, two words of strides, pitch / 8, then for each strip the addresses of source
/// and destination and the number of blocks}.
[[nodiscard]] Codelet amp_transpose();

/// The second to fourth words of the state: an input's columns take `pitch` bytes, the blocks of
/// one depth `groups` times 512.
[[nodiscard]] std::vector<std::uint32_t> amp_transpose_strides(std::int64_t pitch,
                                                               std::int64_t groups);

/// The strips for `depth` inputs, a multiple of 8, and `groups` of 16 columns. A unit is 8 inputs
/// of a pair of columns, in a block of its own; units of a strip are neighbours along the depth.
[[nodiscard]] Strips amp_transpose_strips(std::int64_t workers, std::int64_t pitch,
                                          std::int64_t depth, std::int64_t groups);

/// Worker slots for some strips, of so many blocks in all.
[[nodiscard]] std::int64_t amp_transpose_slots(std::int64_t strips, std::int64_t blocks);

}  // namespace superstep::vertex
