#pragma once

#include <array>
#include <string>
#include <vector>

#include "report/counterparts.h"
#include "report/view.h"

namespace superstep {

/// What differs between two runs: their parts, and the tables of a view that can be compared, row
/// by row as `counterparts` pairs their names; those first that moved most. The view of operations
/// has those without device cycles too, and adds up by `kStepGroupings`.
[[nodiscard]] std::vector<ViewTable> diff_tables(const ViewInput& before, const ViewInput& after,
                                                 const ReportView& view);

/// The tables of the view alone, or one that says what a trace lacks for it; `names` are those of
/// the runs in notes.
[[nodiscard]] std::vector<ViewTable> moved_tables(const ViewInput& before, const ViewInput& after,
                                                  const ReportView& view, const Counterparts& known,
                                                  const std::array<std::string, 2>& names);
/// That the programs differ, and how much of them is paired; empty where they are the same.
[[nodiscard]] std::string difference_of_programs(const Counterparts& known);

}  // namespace superstep
