#pragma once

#include "compiler/ops/op.h"

namespace superstep {

/// `{keys}`, i32 of [rows, length, words]: keys of one word or two, compared as signed numbers one
/// after the other. The first half of each row ascends, the second descends. The result has the
/// same rows with all of their keys in ascending order, or, with `alternates`, in descending order
/// where the row's number is odd.
extern const OpDefinition kMergeOp;

}  // namespace superstep
