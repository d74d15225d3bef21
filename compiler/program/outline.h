#pragma once

#include "compiler/program/program.h"

namespace superstep {

/// Makes procedures of sequences of supersteps that follow one another several times and differ
/// only in their buffers, as the layers of a deep network do. What needs the buffers of two of the
/// times at once (the weights of each layer) stays in `main`.
void outline_repeats(LoweredProgram& program);

}  // namespace superstep
