#include "sim/trace/superstep_rows.h"

#include <algorithm>
#include <vector>

#include "sim/trace/rows_by_superstep.h"

namespace superstep {
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
