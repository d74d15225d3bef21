#pragma once

#include <string>

#include "report/export/format.h"

namespace superstep {

/// One table as CSV (RFC 4180, with line feeds): a head with units, then its rows. Enumerations are
/// their names; a table of two axes has a row for each element.
[[nodiscard]] std::vector<std::string> write_csv(const TraceFile& trace,
                                                 const ExportRequest& request,
                                                 const ExportSink& sink);

/// `supersteps, launches, …`
[[nodiscard]] std::string csv_table_names();

}  // namespace superstep
