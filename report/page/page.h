#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace superstep {

/// A report as one HTML file that needs nothing else: one run, or two to compare, each a
/// `page_document`. Its policy (CSP) allows its own script and style, by their hashes, and nothing
/// from elsewhere; what the documents hold is data. A browser reads the file anew after `again`,
/// and goes on there as it was left.
[[nodiscard]] std::string page_html(const std::vector<nlohmann::ordered_json>& documents,
                                    std::optional<std::chrono::seconds> again = {});

}  // namespace superstep
