#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "compiler/cost/costs.h"
#include "compiler/vertex/reduce.h"
#include "compiler/vertex/timing_analysis.h"

namespace superstep {

/// What a tile takes to reduce, by the static timing of the codelets that do it.
class ReduceCosts {
 public:
  /// `in_rows`: elements of a result are neighbours; `may_cut`: rows may be reduced in parts, which
  /// `combine` combines; null where `reduce` does so itself.
  ReduceCosts(const MachineConfig& machine, const vertex::Reduce& reduce, bool in_rows,
              bool may_cut, const vertex::Reduce* combine = nullptr);

  /// To reduce `width` columns of `depth` elements, or as many rows, with the launches.
  [[nodiscard]] std::int64_t cycles(std::int64_t width, std::int64_t depth) const;
  /// Into how many equal parts rows are best cut, so that more workers have one; another launch
  /// combines these.
  [[nodiscard]] std::int64_t parts(std::int64_t width, std::int64_t depth) const;
  /// To receive so many runs of neighbouring elements in an exchange phase, and to put in order
  /// those that are no whole words.
  [[nodiscard]] std::int64_t gather(std::int64_t runs, std::int64_t run) const;

 private:
  [[nodiscard]] std::int64_t launch(std::int64_t width, std::int64_t depth, bool in_rows) const;
  [[nodiscard]] bool are_rows(std::int64_t width) const { return in_rows_ || width == 1; }
  [[nodiscard]] std::int64_t in_parts(std::int64_t width, std::int64_t depth,
                                      std::int64_t parts) const;

  const MachineConfig& machine_;
  Costs costs_;
  vertex::Reduce reduce_;
  bool in_rows_, may_cut_;
  std::shared_ptr<const ReduceCosts> combine_;
  vertex::TimingAnalysis columns_;
  std::optional<vertex::TimingAnalysis> rows_, odd_row_;  ///< of codelets for rows, if any
  mutable std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::int64_t> launches_;
};

}  // namespace superstep
