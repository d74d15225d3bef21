#pragma once

#include "compiler/passes/split/rules.h"

// Rules of integers and of f64, whose parts are words.

namespace superstep::split {

using Number = Wide<GraphWord>;

[[nodiscard]] inline Number operand(const WideOp& op, std::size_t i) {
  return words(op.operands[i]);
}

/// Rules of functions of the operands alone.
template <Number (*kFunction)(Number)>
Parts unary(const WideOp& op) {
  return parts(kFunction(operand(op, 0)));
}
template <Number (*kFunction)(Number, Number)>
Parts binary(const WideOp& op) {
  return parts(kFunction(operand(op, 0), operand(op, 1)));
}

}  // namespace superstep::split
