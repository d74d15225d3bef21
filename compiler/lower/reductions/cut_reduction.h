#pragma once

#include <cstdint>

#include "compiler/cost/reduce_costs.h"
#include "isa/machine_config.h"

namespace superstep {

/// Results of a reduction, and elements that each combines.
struct ReductionSize {
  std::int64_t results = 1, reduced = 1;
};

/// How the first stage of a reduction is cut over tiles: results in blocks of `width`, the reduced
/// elements into `splits` parts, which later stages combine.
struct ReductionCut {
  std::int64_t width = 1;
  std::int64_t splits = 1;
  std::int64_t cycles = 0;  ///< estimated, of all stages
};

/// The cut with the least estimated cycles when every element is gathered by an exchange.
/// `final_width` is the greatest number of results on a tile in the end; `reduced_inside`: elements
/// of one result are neighbours; `first` and `later` are the costs of elements and of what is
/// reduced already.
[[nodiscard]] ReductionCut cut_reduction(const MachineConfig& machine, ReductionSize size,
                                         std::int64_t final_width, bool may_split,
                                         bool reduced_inside, const ReduceCosts& first,
                                         const ReduceCosts& later);

}  // namespace superstep
