#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace superstep {

/// A report as one HTML file that needs nothing else: one run, or two to compare, each a
/// `page_document`. Its policy (CSP) allows its own script and style, by their hashes, and nothing
/// from elsewhere; what the documents hold is data.
[[nodiscard]] std::string page_html(const std::vector<nlohmann::ordered_json>& documents);

}  // namespace superstep
