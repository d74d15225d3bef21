#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace superstep::vertex {

/// Primitive operations of an expression. Integers wrap at their width; comparisons give i1.
enum class Primitive : std::uint8_t {
  kInput,
  kConstant,
  // float and integer
  kAdd,
  kSub,
  kMul,
  kNeg,
  kAbs,
  kDiv,  // integers: towards zero, x / 0 = all ones (-1), lowest / -1 = lowest
  kMin,
  kMax,  // floats: NaN if either is NaN, -0 < +0 (IEEE 754-2019 minimum and maximum)
  kRem,  // integers: sign of the dividend, x % 0 = x, lowest % -1 = 0; floats: C fmod
  kAnd,
  kOr,
  kXor,
  kNot,  // integers and i1
  kShl,
  kShrLogical,
  kShrArithmetic,  // the amount is read unsigned; amount >= width: 0, 0, sign fill
  kClz,
  kPopcount,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,       // by the operand's signedness; unordered floats: only kNe is true
  kSelect,   // i1, a, b
  kConvert,  // see number.h: float to integer truncates, saturates, NaN -> 0; to i1: != 0 (NaN:
             // true)
  kBitcast,  // same width
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kTanh,
  kSigmoid,  // floats, native instructions
  kFloor,
  kCeil,
  kRoundEven,
  kRoundAway,
  kTruncate,  // floats
  kIsFinite,
};

/// A value of one expression; nodes are numbered in order of creation.
struct Node {
  std::uint32_t id = 0;
};

/// A tree over one element of each input: what a generated vertex computes for every element of its
/// outputs.
class Expression {
 public:
  struct Step {
    Primitive primitive;
    DType dtype;  ///< of the result
    std::vector<std::uint32_t> operands;
    std::uint64_t bits = 0;  ///< kConstant: the value's bits; kInput: input number
  };

  /// Element of input number `input`.
  Node input(std::uint32_t input, DType dtype) {
    return push({Primitive::kInput, dtype, {}, input});
  }
  Node constant(DType dtype, std::uint64_t bits) {
    return push({Primitive::kConstant, dtype, {}, bits});
  }
  Node constant_f32(float value) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return constant(DType::kF32, bits);
  }
  /// Result dtype: that of the first operand; i1 for comparisons and kIsFinite; that of the second
  /// for kSelect.
  Node apply(Primitive primitive, std::vector<Node> operands);
  Node convert(Node x, DType to) { return push({Primitive::kConvert, to, {x.id}}); }
  Node bitcast(Node x, DType to) { return push({Primitive::kBitcast, to, {x.id}}); }

  [[nodiscard]] DType dtype(Node n) const { return steps_[n.id].dtype; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  Node push(Step step) {
    steps_.push_back(std::move(step));
    return {static_cast<std::uint32_t>(steps_.size() - 1)};
  }
  std::vector<Step> steps_;
};

}  // namespace superstep::vertex
