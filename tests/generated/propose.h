#pragma once

#include "tests/generated/program_builder.h"

namespace superstep {

/// Adds one op of a random kind, and leaves for it; false when there was no bound for its result.
bool propose_op(ProgramBuilder& builder);

}  // namespace superstep
