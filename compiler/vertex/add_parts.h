#pragma once

#include <cstdint>

#include "compiler/vertex/codelet.h"
#include "compiler/vertex/meaning.h"
#include "compiler/vertex/vertex_state.h"

namespace superstep::vertex {

/// Words of vertex state of one worker: {groups - 1, address of its elements in the first part,
/// address of its sums, that of the last pair of them, pitch / 16, `add_parts_back`}. Without sums:
/// -1 and nothing else.
inline constexpr std::int64_t kAddPartsStateWords = 6;
/// Sums that are made together; the last group may be a pair.
inline constexpr std::int64_t kAddPartsGroup = 4;

/// f32 sums of parts; see `add_parts`.
struct AddParts {
  std::int64_t parts = 1;

  struct State {
    std::int64_t sums = 0;  ///< a multiple of 2; parts lie behind each other, in whole groups
    BufferId from{}, to{};

    /// Of all workers.
    [[nodiscard]] VertexState words(std::int64_t parts, std::int64_t workers) const;
  };

  [[nodiscard]] Codelet code(const MachineConfig& machine) const;
  /// Of one worker.
  void interpret(const StateView& state) const;
};

/// f32 sums of `parts` parts that lie `pitch` bytes apart, a multiple of 16 in region 1: 0 plus the
/// first part plus the second and so on. A worker's elements begin 16-byte aligned.
[[nodiscard]] Codelet add_parts(std::int64_t parts);

/// The last word of the state: the step from a group in the last part to the next in the first.
[[nodiscard]] std::int64_t add_parts_back(std::int64_t parts, std::int64_t pitch);

/// Worker slots for `groups` groups.
[[nodiscard]] std::int64_t add_parts_slots(std::int64_t parts, std::int64_t groups);

}  // namespace superstep::vertex
