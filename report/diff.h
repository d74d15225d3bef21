#pragma once

#include <vector>

#include "report/view.h"

namespace superstep {

/// What differs between two runs: their parts, and their operations, or another of
/// `kStepGroupings`, as `counterparts` pairs them; those first whose device cycles differ most.
[[nodiscard]] std::vector<ViewTable> diff_tables(const TraceSummary& before,
                                                 const TraceSummary& after,
                                                 const ViewOptions& options);

}  // namespace superstep
