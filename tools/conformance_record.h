#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/conformance.h"

namespace superstep {

/// What a run of conformance gave, for a file that the next one is compared with: how many modules
/// passed, by folder, and what became of each other one, by name.
using ConformanceRecord = std::map<std::string, std::string>;

[[nodiscard]] ConformanceRecord record_of(const std::vector<ConformanceOutcome>& outcomes);

/// Throws MalformedInput for a file that is no record.
[[nodiscard]] ConformanceRecord read_record(const std::string& path);
[[nodiscard]] std::string text_of(const ConformanceRecord& record);

/// Each difference as a sentence, in the order of names.
[[nodiscard]] std::vector<std::string> differences(const ConformanceRecord& expected,
                                                   const std::vector<ConformanceOutcome>& outcomes);

}  // namespace superstep
