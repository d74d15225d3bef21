#pragma once

#include <cstdint>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Merges both halves of rows of keys. A key is some words, compared as signed numbers one after
/// the other; the first half of a row ascends, the second descends, so that no run needs an end:
/// behind its last key comes the greatest of the other one.
struct Merge {
  std::uint32_t key_words = 1;  ///< or 2: registers for more there are none

  struct State {
    StateWord rows;           ///< the first of the rows that hold keys of the results
    std::int64_t length = 0;  ///< keys of a row
    StateWord to;
    std::int64_t first = 0, count = 0;  ///< keys that are made of those of all results
    bool descends = false;              ///< the first result
    bool alternates = false;            ///< every other result is the other way round

    [[nodiscard]] VertexState words() const;
  };

  /// Workers share the keys that are made. Each finds where its share begins in both halves (Odeh,
  /// Green, Mwassi, Shmueli and Birk, Merge Path, IPDPSW 2012), in steps that do not depend on
  /// keys.
  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  void interpret(const StateView& state) const;
};

/// Words of the state: {rows, length, to, first, count, descends, alternates}.
inline constexpr std::uint32_t kMergeWords = 7;

}  // namespace superstep::vertex
