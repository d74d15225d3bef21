#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/trace/schema.h"
#include "sim/trace/trace_file.h"

namespace superstep {

/// A column of profiles, row by row. Some rows are read at a time, so that those that follow one
/// another cost little.
class WideColumn {
 public:
  /// Of so many rows, each of a value for each tile with a program.
  WideColumn(const TraceFile& trace, std::string path, std::uint64_t rows, std::uint64_t tiles)
      : trace_(trace), path_(std::move(path)), rows_(rows), tiles_(tiles) {}

  /// The values of a row, which there is; valid until the next call. Throws Hdf5Error for
  /// one of another length.
  [[nodiscard]] std::span<const std::uint64_t> row(std::uint64_t number) {
    if (number < first_ || number >= first_ + count_) {
      first_ = number - number % kProfileChunk;
      count_ = std::min(kProfileChunk, rows_ - first_);
      block_ = trace_.read_wide<std::uint64_t>(path_, first_, count_);
      if (block_.size() != count_ * tiles_) throw Hdf5Error(path_ + " has other tiles");
    }
    return std::span(block_).subspan((number - first_) * tiles_, tiles_);
  }

 private:
  const TraceFile& trace_;
  std::string path_;
  std::uint64_t rows_, tiles_;
  std::uint64_t first_ = 0, count_ = 0;  ///< rows of the block
  std::vector<std::uint64_t> block_;
};

}  // namespace superstep
