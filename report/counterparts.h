#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "sim/trace/trace.h"

namespace superstep {

/// By a name in the later run, that in the earlier one.
using NamesBefore = std::map<std::string, std::string>;

/// What of one run is what of another.
struct Counterparts {
  std::map<std::string_view, NamesBefore> groups;  ///< by each of `kStepGroupings`
  NamesBefore operations;                          ///< each alone, fused ones too
  bool is_same_program = false;                    ///< by its text
  std::size_t operations_before = 0, operations_after = 0;
};

/// Pairs the operations of two runs, and groups, each at most once, by the operations that they
/// share. Operations of equal programs are those of one name. Of different ones they are a common
/// subsequence of both programs by opcode and by name without its numbers, preferably of one type
/// and Python line, and those of one kind, type and line that are elsewhere.
[[nodiscard]] Counterparts counterparts(const TraceSummary& before, const TraceSummary& after);

}  // namespace superstep
