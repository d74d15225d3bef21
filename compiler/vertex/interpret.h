#pragma once

#include <span>
#include <vector>

#include "base/dtype.h"
#include "compiler/vertex/expression.h"

namespace superstep::vertex {

/// Runs an expression on the host for every element: what generated code must give.
///
/// Inputs of rank 0 count for all elements; the result takes the shape of the other inputs (rank 0
/// when there is none). The semantics of each primitive are those of `Primitive`'s comments, and:
/// - kAdd … kNeg and kAbs of floats: the IEEE operation rounded once to the dtype; of integers:
/// modulo 2^width.
/// - kExp, kLog, kTanh, kSigmoid, kReciprocal, kRsqrt: the exact value rounded once to the dtype.
/// - A NaN result is canonical (0x7fc00000, 0x7e00), except of kInput, kConstant, kSelect and
/// kBitcast, which move bits;
///   what reads numbers must not depend on the bits of a NaN.
[[nodiscard]] HostTensor evaluate_expression(const Expression& expression, Node output,
                                             std::span<const HostTensor> inputs);

}  // namespace superstep::vertex
