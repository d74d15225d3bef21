#pragma once

#include <cstdint>
#include <string>
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
  kCallWhere,  // i1, otherwise, argument: where the i1 holds, a function of the argument
};

/// Whether it compares two operands.
[[nodiscard]] constexpr bool is_comparison(Primitive primitive) {
  return primitive >= Primitive::kEq && primitive <= Primitive::kGe;
}

/// Whether a comparison holds.
template <class T>
[[nodiscard]] constexpr bool holds(Primitive comparison, T a, T b) {
  switch (comparison) {
    case Primitive::kEq:
      return a == b;
    case Primitive::kNe:
      return a != b;
    case Primitive::kLt:
      return a < b;
    case Primitive::kLe:
      return a <= b;
    case Primitive::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

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
    /// kConstant: the value's bits; kInput: input number; kCallWhere: function number
    std::uint64_t bits = 0;

    bool operator==(const Step&) const = default;
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

  /// A function of f32 (its last node, of its input 0) of elements for which `condition` holds:
  /// meant for few of them, which code branches for. All others are as `otherwise` has them.
  Node call_where(Node condition, Node otherwise, const Expression& function, Node argument);

  [[nodiscard]] DType dtype(Node n) const { return steps_[n.id].dtype; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Expression>& functions() const { return functions_; }
  /// Whether machine code for an element is more than one straight line.
  [[nodiscard]] bool has_branches() const;
  bool operator==(const Expression&) const = default;

 private:
  Node push(Step step) {
    steps_.push_back(std::move(step));
    return {static_cast<std::uint32_t>(steps_.size() - 1)};
  }
  std::vector<Step> steps_;
  std::vector<Expression> functions_;
};

/// Sums, differences, products, quotients and remainders of floats in an expression.
[[nodiscard]] std::uint64_t arithmetic_on_floats(const Expression& expression);

/// Text that is equal for equal expressions.
[[nodiscard]] std::string expression_key(const Expression& expression,
                                         const std::vector<Node>& outputs);

}  // namespace superstep::vertex
