#pragma once

#include <vector>

#include "compiler/import/syntax.h"

namespace superstep::import {

/// The values that regions use and do not define, each once, in the order of first use.
[[nodiscard]] std::vector<ValueUse> free_values(const std::vector<SyntaxBlock>& regions);

}  // namespace superstep::import
