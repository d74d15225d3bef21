#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"

namespace superstep {

/// Of so many rows that ascend by the superstep in a column, the first that is not of one below
/// `superstep`. A few rows are read.
[[nodiscard]] inline std::uint64_t first_of_superstep(const Hdf5File& file,
                                                      const std::string& column, std::uint64_t rows,
                                                      std::uint64_t superstep) {
  std::uint64_t first = 0, end = rows;
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    if (read_numbers<std::uint64_t>(file, column, middle, 1).front() < superstep) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

/// Rows of a table that ascend by their superstep, those of one after those of the one before.
template <const auto& kTable>
class RowsBySuperstep {
  using Row = typename std::remove_cvref_t<decltype(kTable)>::RowType;
  static constexpr std::uint64_t kBlock = rows_at_once(kTable.level);

 public:
  /// Of so many rows, those from the first of a superstep on. The file outlives it.
  RowsBySuperstep(const Hdf5File& file, std::uint64_t rows, std::uint64_t superstep)
      : file_(file),
        rows_(rows),
        next_(first_of_superstep(file, kTable.path_of("superstep"), rows, superstep)) {}

  /// The row that `of` gives next.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// Those of a superstep behind the last one that was asked for; valid until the next call.
  std::span<const Row> of(std::uint64_t superstep) {
    found_.clear();
    for (; next_ < rows_; ++next_) {
      if (next_ >= first_ + block_.size()) {
        first_ = next_;
        block_ = read_rows(file_, kTable, first_, std::min(kBlock, rows_ - first_));
      }
      const Row& row = block_[next_ - first_];
      if (row.superstep > superstep) break;
      if (row.superstep == superstep) found_.push_back(row);
    }
    return found_;
  }

 private:
  const Hdf5File& file_;
  std::uint64_t rows_;
  std::uint64_t next_;
  std::uint64_t first_ = 0;  ///< row of the block
  std::vector<Row> block_, found_;
};

}  // namespace superstep
