#pragma once

// The one way to include toml++: as headers only, with parse errors where it would assert.

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

// A malformed key trips an assertion of toml++ 3.3.0 where it should report a parse error.
#define TOML_ASSERT(condition) ((condition) ? void(0) : throw std::logic_error(#condition))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored \
    "-Wterminate"  // its noexcept functions assert too, on invariants that no input reaches
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace superstep {

/// Reads TOML; `file` is its name in problems. Throws MalformedInput with the place of what is no
/// TOML, no UTF-8, or nested too deep.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& file);

/// Where a node or key stands in its file.
[[nodiscard]] inline SourceLocation toml_place(const std::string& file,
                                               const toml::source_region& source) {
  return {file, static_cast<std::uint32_t>(source.begin.line),
          static_cast<std::uint32_t>(source.begin.column)};
}

}  // namespace superstep
