#pragma once

#include <cstdint>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Packs narrow elements of 1 or 2 bytes one behind the other.
struct AppendRuns {
  std::uint32_t element_bytes = 1;

  /// Strides are bytes.
  struct Rows {
    std::int64_t rows = 0, count = 0;  ///< rows, and elements of each
    StateWord from;
    std::int64_t stride = 0, row_stride = 0;
  };
  struct State {
    StateWord to;
    std::vector<Rows> commands;

    [[nodiscard]] VertexState words() const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  void interpret(const StateView& state) const;
};

/// Words of a command of `append_runs`: {rows, elements of a row, address of the first element,
/// bytes from an element to the next, bytes from a row to the next}.
inline constexpr std::uint32_t kAppendCommandWords = 5;

/// Writes narrow elements (1 or 2 bytes) from anywhere one behind the other, so that no word has to
/// be read before it is written. State: {destination address, number of commands, address of the
/// commands, which are part of the state}. The destination is a multiple of 8 and padded to whole
/// words.
[[nodiscard]] Codelet append_runs(const MachineConfig& machine, std::uint32_t element_bytes);

/// Worker slots of all workers together, roughly.
[[nodiscard]] constexpr std::uint64_t append_slots(std::uint32_t element_bytes,
                                                   std::uint64_t commands, std::uint64_t rows,
                                                   std::uint64_t elements) {
  return 7 * commands + 3 * rows + 4 * elements + elements * element_bytes / 2;
}

}  // namespace superstep::vertex
