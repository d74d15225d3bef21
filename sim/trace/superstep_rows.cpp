#include "sim/trace/superstep_rows.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "sim/trace/schema.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

/// Rows of a table that ascend by their superstep, those of one after those of the one before.
template <const auto& kTable>
class RowsBySuperstep {
  using Row = typename std::remove_cvref_t<decltype(kTable)>::RowType;

 public:
  /// Of so many rows, those from the first of a superstep on.
  RowsBySuperstep(const Hdf5File& file, std::uint64_t rows, std::uint64_t superstep)
      : file_(file), rows_(rows) {
    const std::string column = kTable.path_of("superstep");
    std::uint64_t end = rows;
    while (next_ < end) {
      const std::uint64_t middle = next_ + (end - next_) / 2;
      if (read_numbers<std::uint64_t>(file, column, middle, 1).front() < superstep) {
        next_ = middle + 1;
      } else {
        end = middle;
      }
    }
  }

  /// Those of a superstep behind the last one that was asked for.
  std::span<const Row> of(std::uint64_t superstep) {
    found_.clear();
    for (; next_ < rows_; ++next_) {
      if (next_ >= first_ + block_.size()) {
        first_ = next_;
        block_ = read_rows(file_, kTable, first_, std::min(kSuperstepChunk, rows_ - first_));
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
  std::uint64_t next_ = 0;
  std::uint64_t first_ = 0;  ///< row of the block
  std::vector<Row> block_, found_;
};

}  // namespace

void for_each_superstep(const Hdf5File& file, const std::map<std::string_view, std::uint64_t>& rows,
                        std::uint64_t first, std::uint64_t count,
                        const std::function<void(const SuperstepInFile&)>& visit) {
  if (count == 0) return;
  const auto rows_of = [&](std::string_view axis) {
    const auto found = rows.find(axis);
    return found == rows.end() ? 0 : found->second;
  };
  const bool has_profiles = file.exists(kProfileNumbers.path_of("compute_profile"));
  const std::uint64_t number = read_rows(file, kSupersteps, first, 1).front().number;
  RowsBySuperstep<kLaunches> launches(file, rows_of(kLaunches.axes), number);
  RowsBySuperstep<kTransfers> transfers(file, rows_of(kTransfers.axes), number);
  for (std::uint64_t begin = first; begin < first + count; begin += kSuperstepChunk) {
    const std::uint64_t block = std::min(kSuperstepChunk, first + count - begin);
    const std::vector<SuperstepRow> supersteps = read_rows(file, kSupersteps, begin, block);
    const std::vector<ProfileNumbers> profiles =
        has_profiles ? read_rows(file, kProfileNumbers, begin, block)
                     : std::vector<ProfileNumbers>();
    for (std::uint64_t i = 0; i < block; ++i) {
      const SuperstepRow& row = supersteps[i];
      visit({row, launches.of(row.number), transfers.of(row.number),
             has_profiles ? std::optional(profiles[i]) : std::nullopt});
    }
  }
}

}  // namespace superstep
