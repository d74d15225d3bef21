#pragma once

#include "compiler/ops/op.h"

namespace superstep {

/// `{words}`, i32 of [batches, rows], to the first `count` in ascending order along rows; with
/// `is_numbered` also the numbers that they had, which ascend where words are equal. How depends on
/// the machine.
extern const OpDefinition kSortWordsOp;

}  // namespace superstep
