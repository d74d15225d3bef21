#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "report/export/format.h"

namespace superstep {

// Values of options that say which part of a run is meant. What is none is a wrong command line,
// and `option` is what its message begins with.

/// `A:B`, either of which may be left out.
[[nodiscard]] SuperstepWindow supersteps_of(std::string_view option, std::string_view text);
/// `0,17,100-107`, ascending and each once; `others` is what the option takes besides.
[[nodiscard]] std::vector<std::uint32_t> tiles_of(std::string_view option, std::string_view text,
                                                  std::string_view others = {});

}  // namespace superstep
