#pragma once

#include <cstdint>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Lists the numbers of the offsets that name a position of a part: a list of each worker, who
/// looks through as many offsets as the others; ascending, and so are the lists.
struct SelectOffsets {
  std::uint32_t workers = 6;

  struct State {
    StateWord lists, offsets;
    std::int64_t count = 0;  ///< of offsets
    std::int64_t first = 0, positions = 0;
    std::int64_t table_positions = 1;  ///< of all parts

    [[nodiscard]] VertexState words() const;
  };

  /// Words of a list: the address of its end, then numbers.
  [[nodiscard]] static std::int64_t list_words(std::int64_t count, std::int64_t workers) {
    return (count + workers - 1) / workers + 1;
  }

  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  void interpret(const StateView& state) const;
};

/// Words of the state: {lists, offsets, count, first position, positions, those of all parts}.
inline constexpr std::uint32_t kSelectWords = 6;

}  // namespace superstep::vertex
