#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "sim/trace/trace_file.h"

namespace superstep {

/// How much of a trace goes into a page.
struct PageLimits {
  std::uint64_t supersteps = 250'000;       ///< the first so many
  std::uint64_t distinct = 40'000;          ///< of them, as soon as so many differ
  std::uint64_t profile_bytes = 3'000'000;  ///< rows of tiles, of the longest supersteps first
};

/// A trace as the document that a page shows: the report, tables of the trace by path with columns
/// by name, and equal supersteps and rows of tiles once. Numbers of columns are `packed`.
[[nodiscard]] nlohmann::ordered_json page_document(const TraceFile& trace,
                                                   const PageLimits& limits = {});

}  // namespace superstep
