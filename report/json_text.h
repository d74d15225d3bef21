#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace superstep {

/// A document as text, on one line or indented by so much. Bytes of names and paths that are not
/// UTF-8 become U+FFFD.
inline std::string json_text(const nlohmann::ordered_json& document, int indent = -1) {
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace superstep
