#pragma once

#include <cstdint>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Copies runs from a table, one for each offset, one behind the other.
struct Take {
  std::uint32_t unit_bytes = 4;  ///< 4 or 8: what is moved at a time
  /// The table has only some positions: zeros take the place of what is beyond them. There is one
  /// group.
  bool has_part = false;

  /// Bytes are multiples of the unit, addresses too.
  struct State {
    StateWord to, table, offsets;
    std::int64_t groups = 1;  ///< each with a table, behind each other
    std::int64_t offsets_a_group = 1;
    std::int64_t group_bytes = 0;     ///< of a table
    std::int64_t position_bytes = 0;  ///< from one offset to the next
    std::int64_t run_bytes = 0;
    std::int64_t first = 0, positions = 0;  ///< of the part

    [[nodiscard]] VertexState words() const;
  };

  /// Workers share the offsets, or the words of each run where that is quicker.
  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  void interpret(const StateView& state) const;
};

/// Words of the state of a take: {to, table, offsets, groups, offsets of each, bytes of a group's
/// table, of a position, of a run, first position, positions}.
inline constexpr std::uint32_t kTakeWords = 10;

}  // namespace superstep::vertex
