#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"

namespace superstep::vertex {

/// Columns of one worker that lie at equal distances. Turns are columns, or so many neighbours.
struct ReduceCommand {
  std::uint32_t columns_per_turn = 1;
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

/// `neighbours`: columns that may be reduced at a time; `lanes`: outputs of a word of the narrowest
/// dtype.
[[nodiscard]] ReducePlan plan_reduction(std::uint64_t outer, std::uint64_t reduced,
                                        std::uint64_t inner, std::uint32_t neighbours,
                                        std::uint32_t lanes, std::uint32_t workers);

}  // namespace superstep::vertex
