#pragma once

#include "compiler/program/program.h"

namespace superstep {

/// How much is done so that there is less code.
enum class OutlineEffort {
  kFree,  ///< what follows itself and needs no copies: weights of a layer stay in `main`, say
  /// What repeats anywhere. Buffers that two calls need at once are copied before a call, and those
  /// that change after it.
  kLeastCode,
};

/// Makes procedures of sequences of steps, in any blocks, that are there several times and differ
/// only in their buffers, as the layers of a deep network and calls of one function do.
void outline_repeats(LoweredProgram& program, OutlineEffort effort = OutlineEffort::kFree);

}  // namespace superstep
