#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "sim/trace/trace.h"

namespace superstep {

/// Which groups of operations of one run are those of another.
struct Counterparts {
  std::map<std::string, std::string> before;  ///< by name of the later run, that of the earlier one
  bool is_same_program = false;               ///< by its text
  std::size_t operations_before = 0, operations_after = 0;
  std::size_t paired = 0;  ///< operations
};

/// Pairs the groups of two runs, each at most once, by the operations that they share. Operations
/// of equal programs are those of one name. Of different ones they are a common subsequence of both
/// programs by opcode and by name without its numbers, preferably of one type and Python line, and
/// those of one kind, type and line that are elsewhere.
[[nodiscard]] Counterparts counterparts(const TraceSummary& before, const TraceSummary& after,
                                        std::string_view by);

}  // namespace superstep
