#pragma once

#include <cstdint>
#include <vector>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Combines runs into tables, one run for each offset and table, in ascending order: inputs 0..k-1
/// of the expression are elements of the k tables, k..2k-1 those of the runs; k outputs.
struct Put {
  Expression expression;
  std::vector<Node> outputs;
  std::vector<DType> dtypes;     ///< of the tables
  std::uint32_t unit_bytes = 4;  ///< 4 or 8: bytes are multiples of it, addresses too

  /// Only offsets are used that `SelectOffsets` has listed, by so many workers; there is one group.
  std::uint32_t lists = 0;

  /// How workers share the windows of one element.
  enum class Sharing : std::uint8_t {
    kNone,       ///< one does all, in order
    kPositions,  ///< each does those at some positions; for runs of one position
    kOffsets,    ///< each does some; for runs of which no two of a group meet
  };

  /// One of the tables that are combined together.
  struct Value {
    StateWord table, runs;
  };
  struct State {
    StateWord offsets, lists;
    std::int64_t groups = 1;  ///< each with a table, behind each other
    std::int64_t offsets_a_group = 1;
    std::int64_t first = 0, positions = 1;  ///< that a group's table has
    std::int64_t table_positions = 1;       ///< of all its parts, which offsets name
    std::int64_t position_elements = 1;
    std::int64_t run_elements = 1;  ///< whole words of each table
    Sharing sharing = Sharing::kNone;
    std::vector<Value> values;

    [[nodiscard]] VertexState words() const;
  };

  /// Whether runs take the place of what was there.
  [[nodiscard]] bool only_replaces() const;

  /// Workers share the elements of runs, then windows. Runs of offsets beyond the positions are
  /// dropped.
  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  void interpret(const StateView& state) const;
};

/// Words of the state of a put in front of {table, runs} of each value: {offsets, groups, offsets
/// of each, positions, elements of a position, of a run, sharing, first position, lists, positions
/// of all parts}.
inline constexpr std::uint32_t kPutWords = 10;

}  // namespace superstep::vertex
