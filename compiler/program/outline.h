#pragma once

#include "compiler/program/program.h"

namespace superstep {

/// What procedures share at all of their calls.
enum class SharedBuffers {
  kUnlessInUseAtOnce,  ///< what needs the buffers of two calls at once, as weights, stays in `main`
  kCopies,             ///< such buffers are copied before a call, and those that change after it
};

/// Makes procedures of sequences of supersteps that follow one another several times and differ
/// only in their buffers, as the layers of a deep network do.
void outline_repeats(LoweredProgram& program,
                     SharedBuffers shared = SharedBuffers::kUnlessInUseAtOnce);

}  // namespace superstep
