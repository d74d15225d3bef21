#pragma once

#include <limits>

#include "compiler/vertex/expression.h"

namespace superstep {

/// A node with arithmetic, so that formulas read as such. Every operator rounds on its own, in the
/// order written.
struct Term {
  vertex::Expression* expression;
  vertex::Node node;

  [[nodiscard]] Term apply(vertex::Primitive primitive) const {
    return {expression, expression->apply(primitive, {node})};
  }
  [[nodiscard]] Term apply(vertex::Primitive primitive, Term other) const {
    return {expression, expression->apply(primitive, {node, other.node})};
  }
  /// A constant of this term's dtype, which is f32 or a 32-bit integer.
  [[nodiscard]] Term f32(float value) const {
    return {expression, expression->constant_f32(value)};
  }
  [[nodiscard]] Term i32(std::int32_t value) const {
    return {expression, expression->constant(DType::kI32, static_cast<std::uint32_t>(value))};
  }
  [[nodiscard]] Term as(DType dtype) const {
    return {expression, expression->convert(node, dtype)};
  }
  [[nodiscard]] Term bits_as(DType dtype) const {
    return {expression, expression->bitcast(node, dtype)};
  }
  /// True where the sign bit of an f32 is set, that of a zero or NaN too.
  [[nodiscard]] Term sign_bit() const {
    return bits_as(DType::kI32).apply(vertex::Primitive::kLt, i32(0));
  }
  [[nodiscard]] Term abs() const { return apply(vertex::Primitive::kAbs); }
  [[nodiscard]] Term is_nan() const { return apply(vertex::Primitive::kNe, *this); }
};

inline Term operator+(Term a, Term b) { return a.apply(vertex::Primitive::kAdd, b); }
inline Term operator-(Term a, Term b) { return a.apply(vertex::Primitive::kSub, b); }
inline Term operator*(Term a, Term b) { return a.apply(vertex::Primitive::kMul, b); }
inline Term operator/(Term a, Term b) { return a.apply(vertex::Primitive::kDiv, b); }
inline Term operator-(Term a) { return a.apply(vertex::Primitive::kNeg); }
inline Term operator+(Term a, float b) { return a + a.f32(b); }
inline Term operator-(Term a, float b) { return a - a.f32(b); }
inline Term operator*(Term a, float b) { return a * a.f32(b); }
inline Term operator<(Term a, Term b) { return a.apply(vertex::Primitive::kLt, b); }
inline Term operator>(Term a, Term b) { return a.apply(vertex::Primitive::kGt, b); }
inline Term operator==(Term a, Term b) { return a.apply(vertex::Primitive::kEq, b); }
inline Term operator!=(Term a, Term b) { return a.apply(vertex::Primitive::kNe, b); }
inline Term operator<(Term a, float b) { return a < a.f32(b); }
inline Term operator>(Term a, float b) { return a > a.f32(b); }
inline Term operator==(Term a, float b) { return a == a.f32(b); }
inline Term operator!=(Term a, float b) { return a != a.f32(b); }
inline Term operator&(Term a, Term b) { return a.apply(vertex::Primitive::kAnd, b); }
inline Term operator|(Term a, Term b) { return a.apply(vertex::Primitive::kOr, b); }
inline Term operator^(Term a, Term b) { return a.apply(vertex::Primitive::kXor, b); }
inline Term operator!(Term a) { return a.apply(vertex::Primitive::kNot); }

/// pi as an f32, and what it is more than that.
inline constexpr float kPi = 3.14159274F, kPiRest = -8.74227766e-8F;

/// A number without a sign, or a zero, with the sign of another one.
inline Term with_sign_of(Term magnitude, Term sign) {
  const Term bit = sign.bits_as(DType::kI32) & sign.i32(std::numeric_limits<std::int32_t>::min());
  return (magnitude.bits_as(DType::kI32) | bit).bits_as(DType::kF32);
}

inline Term select(Term condition, Term if_true, Term if_false) {
  return {condition.expression,
          condition.expression->apply(vertex::Primitive::kSelect,
                                      {condition.node, if_true.node, if_false.node})};
}

/// log(1 + x), right for small x too.
inline Term log_plus_one(Term x) {
  const Term u = x + 1.0F;
  // log(1 + x) = log(u) + log((1 + x) / u), and what the sum lost, x - (u - 1), is small against u.
  const Term lost = (x - (u - 1.0F)) / u;
  const Term regular = (u > 0.0F) & u.apply(vertex::Primitive::kIsFinite);
  const Term sum = u.apply(vertex::Primitive::kLog) + select(regular, lost, x.f32(0));
  return select(u == 1.0F, x, sum);
}

/// c[0] + c[1] x + c[2] x^2 + …, by Horner's rule.
template <std::size_t kSize>
Term polynomial(Term x, const float (&coefficients)[kSize]) {
  Term sum = x.f32(coefficients[kSize - 1]);
  for (std::size_t i = kSize - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

/// An unevaluated sum, whose second part is small against the first.
struct Sum {
  Term high, low;
};

/// The first 12 bits of a number, as Veltkamp splits it.
inline Term first_half(Term x) {
  const Term scaled = x * 4097.0F;
  return scaled - (scaled - x);
}

/// The square root of 0 or a number from 2^-40 to 2^40, to 2^-26 of it. The first part has 12 bits,
/// so that what its square leaves is exact.
inline Sum square_root(Term x) {
  const Term inverse = (x + 0x1p-80F).apply(vertex::Primitive::kRsqrt);
  const Term high = first_half(x * inverse);
  return {high, (x - high * high) * (inverse * 0.5F)};
}

}  // namespace superstep
