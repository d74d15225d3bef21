#pragma once

#include "tests/generated/random_program.h"

namespace superstep {

/// Adds one op of a random kind, and leaves for it; false when there was no bound for its result.
bool propose_op(RandomProgram& builder);
/// The same for a `while` of a few trips and for a `case`, with random regions.
bool propose_loop(RandomProgram& builder);
bool propose_case(RandomProgram& builder);

}  // namespace superstep
