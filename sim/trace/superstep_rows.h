#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "base/hdf5_file.h"
#include "sim/trace/rows.h"

namespace superstep {

/// A superstep as a trace has it, over all tables; valid until the next one is read.
struct SuperstepInFile {
  const SuperstepRow& row;
  std::span<const LaunchRow> launches;
  std::span<const TransferRow> transfers;
  std::optional<ProfileNumbers> profiles;  ///< at level tile
};

/// Calls `visit` with each superstep of `count` rows from `first`, in order, of a file whose whole
/// rows are known by axis (sim/trace/progress.h). Some are read at a time, however many there are.
void for_each_superstep(const Hdf5File& file, const std::map<std::string_view, std::uint64_t>& rows,
                        std::uint64_t first, std::uint64_t count,
                        const std::function<void(const SuperstepInFile&)>& visit);

}  // namespace superstep
