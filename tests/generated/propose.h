#pragma once

#include "tests/generated/random_program.h"

namespace superstep {

/// Adds one op of a random kind, and leaves for it; false when there was no bound for its result.
bool propose_op(RandomProgram& builder);

}  // namespace superstep
