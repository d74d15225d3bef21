#pragma once

// The one way to include toml++: as headers only, with parse errors where it would assert.

#include <stdexcept>

// A malformed key trips an assertion of toml++ 3.3.0 where it should report a parse error.
#define TOML_ASSERT(condition) ((condition) ? void(0) : throw std::logic_error(#condition))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored \
    "-Wterminate"  // its noexcept functions assert too, on invariants that no input reaches
#include <toml++/toml.h>
#pragma GCC diagnostic pop
