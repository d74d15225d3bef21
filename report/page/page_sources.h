#pragma once

#include <string_view>

namespace superstep {

/// The files of report/page that a page is made of, as cmake/page.cmake puts them into the program.
struct PageSources {
  std::string_view body, style, script;
};
[[nodiscard]] PageSources page_sources();

}  // namespace superstep
