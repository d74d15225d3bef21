#pragma once

#include <charconv>
#include <string_view>

namespace superstep {

/// The minor number of a version of a file format: 7 of `1.7.0`; 0 where there is none.
[[nodiscard]] inline unsigned minor_of(std::string_view version) {
  const std::size_t dot = version.find('.');
  unsigned minor = 0;
  if (dot != std::string_view::npos) {
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  }
  return minor;
}

}  // namespace superstep
