#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"

namespace superstep::vertex {

/// How a codelet reduces the columns of a command.
enum class ReduceKind : std::uint8_t {
  kRows,     ///< dense rows of an even number of f32, two at a time
  kPairs,    ///< two neighbouring columns of f32 at a time
  kSingles,  ///< one column, or one row, at a time
};

/// Columns of one worker that lie at equal distances. Turns are columns, or pairs of them.
struct ReduceCommand {
  ReduceKind kind = ReduceKind::kSingles;
  std::uint64_t turns = 0;  ///< in each outer row
  std::uint64_t outers = 1;
  std::uint64_t element = 0;    ///< the first of the input
  std::int64_t skip = 0;        ///< elements from the end of a column to the next one
  std::int64_t outer_skip = 0;  ///< from behind the last column of a row to the next row
};

/// The work of one launch of `reduce`, divided among workers.
struct ReducePlan {
  struct Worker {
    std::uint64_t first = 0, outputs = 0;  ///< whole words, but for the last
    std::vector<ReduceCommand> commands;
  };
  std::vector<Worker> workers;
};

/// `in_pairs`: whether kRows and kPairs may be used; `lanes`: outputs of a word of the narrowest
/// dtype.
[[nodiscard]] ReducePlan plan_reduction(std::uint64_t outer, std::uint64_t reduced,
                                        std::uint64_t inner, bool in_pairs, std::uint32_t lanes,
                                        std::uint32_t workers);

}  // namespace superstep::vertex
