#pragma once

#include <string>

#include "compiler/lower/values.h"

namespace superstep {

/// Storage for a word that decides where a loop or branch goes on, on every tile.
[[nodiscard]] BufferId add_control_word(Values& values, ProgramBuilder& builder,
                                        const Origin& origin, const std::string& suffix);

}  // namespace superstep
