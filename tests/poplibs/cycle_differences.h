#pragma once

#include <optional>
#include <vector>

#include "tests/poplibs/harness.h"

namespace superstep::poplibs {

/// What some vertices take beyond PopLibs' estimate, as a sum over the shape of a case: clocks of
/// the tile, or slots of the worker for a vertex of one worker.
struct CycleDifference {
  double once = 0;
  double row = 0;      ///< for each row, or output of a reduction, where one worker has several
  double element = 0;  ///< for each element of all rows

  [[nodiscard]] double of(const CyclePoint& point) const;
};

/// That of an entry point; none where no sum is known.
std::optional<CycleDifference> cycle_difference(const EntryResult& result);

/// The cases that it is about: those of whole vectors where there are any, else all.
std::vector<CyclePoint> points_of_difference(const EntryResult& result);

/// Whether the sum is what is measured beyond the estimate in all these cases, exactly.
bool is_exact(const CycleDifference& difference, const EntryResult& result);

}  // namespace superstep::poplibs
