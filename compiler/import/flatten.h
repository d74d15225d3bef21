#pragma once

#include <vector>

#include "compiler/import/lexer.h"
#include "compiler/import/syntax.h"

namespace superstep::import {

/// Replaces tuples by their elements, of which tokens are none: in arguments, results, operands and
/// regions. The ops that only make or take apart tuples and tokens are gone then.
void flatten(SyntaxModule& module, std::vector<SyntaxError>& problems);

/// Whether `flatten` takes an op away.
[[nodiscard]] bool is_flattened(std::string_view name);

}  // namespace superstep::import
