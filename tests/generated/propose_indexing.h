#pragma once

#include "tests/generated/random_program.h"

namespace superstep {

/// Adds an op that indexes at run time, with start indices inside and outside; false when its
/// result would be too large.
bool propose_dynamic_slice(RandomProgram& builder);
bool propose_dynamic_update_slice(RandomProgram& builder);
bool propose_gather(RandomProgram& builder);
bool propose_scatter(RandomProgram& builder);

}  // namespace superstep
