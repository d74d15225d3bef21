#pragma once

#include <vector>

#include "report/view.h"

namespace superstep {

/// What differs between two runs: their parts, and the tables of a view that can be compared, row
/// by row as `counterparts` pairs their names; those first that moved most. The view of operations
/// has those without device cycles too, and adds up by `kStepGroupings`.
[[nodiscard]] std::vector<ViewTable> diff_tables(const ViewInput& before, const ViewInput& after,
                                                 const ReportView& view);

}  // namespace superstep
