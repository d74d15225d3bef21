#pragma once

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
  WideColumn(const TraceFile& trace, std::string path, std::uint64_t rows)
      : trace_(trace), path_(std::move(path)), rows_(rows) {}

  /// The values of a row, which there is; valid until the next call.
  std::span<const std::uint64_t> row(std::uint64_t number) {
    if (block_.empty() || number < first_ || number >= first_ + count_) {
      first_ = number - number % kProfileChunk;
      count_ = std::min(kProfileChunk, rows_ - first_);
      block_ = trace_.read_wide<std::uint64_t>(path_, first_, count_);
    }
    const std::size_t width = block_.size() / count_;
    return std::span(block_).subspan((number - first_) * width, width);
  }

 private:
  const TraceFile& trace_;
  std::string path_;
  std::uint64_t rows_, first_ = 0, count_ = 1;
  std::vector<std::uint64_t> block_;
};

}  // namespace superstep
