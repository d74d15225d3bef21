#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/graph/graph.h"
#include "compiler/import/parser.h"

namespace superstep::import {

/// `import_stablehlo` of a text with ops of `dialects`, whose syntax `edit` may change before names
/// are resolved; ops that programs do not have must be gone then.
[[nodiscard]] Module read_module(std::string_view text, const std::string& file, Dialects dialects,
                                 const std::function<void(SyntaxModule&)>& edit);

}  // namespace superstep::import
