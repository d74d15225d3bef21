#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/trace/trace_file.h"

namespace superstep {

/// How much of a trace goes into a page: the first supersteps, and rows of tiles, of the longest
/// supersteps first.
struct PageLimits {
  std::uint64_t supersteps = 250'000;
  std::uint64_t bytes = 4'700'000;  ///< of all documents, so that a page has less than 5 MB
};

/// A trace as the document that a page shows: the report, tables of the trace by path with columns
/// by name, and equal supersteps and rows of tiles once. Numbers of columns are `packed`.
[[nodiscard]] nlohmann::ordered_json page_document(const TraceFile& trace,
                                                   const PageLimits& limits = {});

/// Two traces to compare within the limits of one, the first before the second, which has what is
/// what of the other as `report diff` pairs it (`counterparts`): by kind, names of its own and
/// those before; and what it says of exchanges, streams, tiles and codelets (`differences`).
[[nodiscard]] std::vector<nlohmann::ordered_json> page_documents(const TraceFile& before,
                                                                 const TraceFile& after,
                                                                 const PageLimits& limits = {});

}  // namespace superstep
