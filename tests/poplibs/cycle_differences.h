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

/// The cases that it was chosen by: those of whole vectors where there are any, else all.
std::vector<CyclePoint> points_of_difference(const EntryResult& result);
/// Whole cases that no sum was chosen by; none where there are no whole ones.
std::vector<CyclePoint> held_out_points(const EntryResult& result);

/// How many of the first are left to check a sum: it takes two of them, and a third where it has a
/// term of rows.
std::size_t degrees_of_freedom(const CycleDifference& difference, const EntryResult& result);

/// Whether the sum is what is simulated beyond the estimate in all of these cases, exactly.
bool is_exact(const CycleDifference& difference, const std::vector<CyclePoint>& points);

}  // namespace superstep::poplibs
