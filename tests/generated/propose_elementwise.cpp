// Ops on elements one by one.

#include <array>

#include "compiler/ops/elements.h"
#include "tests/generated/op_kind.h"
#include "tests/generated/tensors.h"

namespace superstep {
namespace {

constexpr DTypeSet kF64 = only(DType::kF64), kC64 = only(DType::kC64);
/// Of f64 some functions are more code than there is room for, of complex<f64> most.
constexpr DTypeSet kFunctions = kFloats | kC64, kRealFunctions = kFloats;
constexpr DTypeSet kLongFunctions = kTileFloats | kNarrowFloats;
/// Integers of as many bits as are stored.
constexpr DTypeSet kWholeIntegers =
    kIntegers & ~(only(DType::kI2) | only(DType::kI4) | only(DType::kU2) | only(DType::kU4));
constexpr DTypeSet kSigned = kSignedIntegers | kFloats;
constexpr DTypeSet kArithmetic = kNumbers | kComplex;

bool unary(RandomProgram& builder, const OpKind& kind) {
  return builder.add(kind.op, {builder.any(kind.dtypes)});
}

bool binary(RandomProgram& builder, const OpKind& kind) {
  const ValueId a = builder.any(kind.dtypes);
  const ValueId b = builder.of_type(builder.type(a));
  return builder.random.chance(50) ? builder.add(kind.op, {a, b}) : builder.add(kind.op, {b, a});
}

/// The first operand is a small integer, with which polygamma differentiates.
bool polygamma(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes);
  HostTensor order(builder.type(x));
  for (std::size_t i = 0; i < static_cast<std::size_t>(order.type.elements()); ++i) {
    write_float(order, i, static_cast<double>(builder.random.below(4)));
  }
  const TensorType type = order.type;
  return builder.add(kind.op, {builder.argument(type, exactly(std::move(order))), x});
}

bool compare(RandomProgram& builder, const OpKind& kind) {
  constexpr std::array kDirections = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  Random& random = builder.random;
  const ValueId a = builder.any(kind.dtypes);
  const DType dtype = builder.type(a).dtype;
  // Complex numbers have no order.
  const std::size_t directions = is_complex(dtype) ? 2 : kDirections.size();
  Attributes attributes = {
      {"comparison_direction", std::string(kDirections.at(random.below(directions)))}};
  if (random.chance(50)) {
    attributes["compare_type"] = std::string(
        is_float(dtype)     ? random.chance(50) && !is_narrow(dtype) ? "TOTALORDER" : "FLOAT"
        : is_complex(dtype) ? "FLOAT"
        : is_signed(dtype)  ? "SIGNED"
                            : "UNSIGNED");
  }
  return builder.add(kind.op, {a, builder.of_type(builder.type(a))}, std::move(attributes));
}

bool select(RandomProgram& builder, const OpKind& kind) {
  const ValueId predicate = builder.any(kBooleans);
  const ValueId a =
      builder.type(predicate).shape.empty()
          ? builder.any(kAnyDType)
          : builder.of_type({random_dtype(builder.random), builder.type(predicate).shape});
  return builder.add(kind.op, {predicate, a, builder.of_type(builder.type(a))});
}

bool clamp(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes);
  const auto bound = [&] {
    return builder.of_type(builder.random.chance(50) ? TensorType{builder.type(x).dtype, {}}
                                                     : builder.type(x));
  };
  const ValueId low = bound();
  return builder.add(kind.op, {low, x, bound()});
}

bool convert(RandomProgram& builder, const OpKind& kind) {
  const ValueId x = builder.any(kind.dtypes);
  const DType to = random_dtype(builder.random);
  return builder.add(kind.op, {x}, {}, {}, {{to, builder.type(x).shape}});
}

/// As a type of the same width, or of a wider or narrower one along a last dimension.
bool bitcast(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const ValueId x = builder.any(kind.dtypes);
  TensorType type = builder.type(x);
  const int from = bit_width(type.dtype);
  const DType to = random_dtype(random, kind.dtypes);
  const int width = bit_width(to);
  type.dtype = to;
  if (width < from) type.shape.push_back(from / width);
  if (width > from) {
    if (type.shape.empty() || type.shape.back() != width / from) return false;
    type.shape.pop_back();
  }
  return builder.add(kind.op, {x}, {}, {}, {type});
}

bool reduce_precision(RandomProgram& builder, const OpKind& kind) {
  Random& random = builder.random;
  const bool is_usual = random.chance(50);
  return builder.add(kind.op, {builder.any(kind.dtypes)},
                     {{"exponent_bits", is_usual ? 5 : random.between(1, 11)},
                      {"mantissa_bits", is_usual ? 10 : random.between(0, 52)}});
}

constexpr std::array kKinds = {
    OpKind{"chlo.acos", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.acosh", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.asin", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.asinh", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.atan", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.atanh", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.bessel_i1e", unary, kLongFunctions | kF64, Wants::kExact},
    OpKind{"chlo.cosh", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.digamma", unary, kLongFunctions, Wants::kExact},
    OpKind{"chlo.erf", unary, kRealFunctions, Wants::kExact},
    OpKind{"chlo.erf_inv", unary, kRealFunctions, Wants::kExact},
    OpKind{"chlo.erfc", unary, kRealFunctions, Wants::kExact},
    OpKind{"chlo.is_inf", unary, kFloats, Wants::kExact},
    OpKind{"chlo.is_neg_inf", unary, kFloats, Wants::kExact},
    OpKind{"chlo.is_pos_inf", unary, kFloats, Wants::kExact},
    OpKind{"chlo.lgamma", unary, kLongFunctions, Wants::kExact},
    OpKind{"chlo.mulhi", binary, kWholeIntegers},
    OpKind{"chlo.next_after", binary, kSimpleFloats, Wants::kExact},
    OpKind{"chlo.polygamma", polygamma, kTileFloats, Wants::kModerate},
    OpKind{"chlo.sinh", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.square", unary, kArithmetic, Wants::kExact, 2},
    OpKind{"chlo.tan", unary, kFunctions, Wants::kExact},
    OpKind{"chlo.zeta", binary, kTileFloats, Wants::kModerate},
    OpKind{"stablehlo.abs", unary, kSigned | kComplex, Wants::kAnything, 2},
    OpKind{"stablehlo.add", binary, kAnyDType, Wants::kAnything, 8},
    OpKind{"stablehlo.and", binary, kBits, Wants::kAnything, 2},
    OpKind{"stablehlo.atan2", binary, kRealFunctions, Wants::kExact, 2},
    OpKind{"stablehlo.bitcast_convert", bitcast, kWholeIntegers | kSimpleFloats, Wants::kExact, 3},
    OpKind{"stablehlo.cbrt", unary, kRealFunctions, Wants::kExact, 2},
    OpKind{"stablehlo.ceil", unary, kFloats, Wants::kExact, 2},
    OpKind{"stablehlo.clamp", clamp, kBits | kFloats, Wants::kAnything, 3},
    OpKind{"stablehlo.compare", compare, kAnyDType, Wants::kExact, 4},
    OpKind{"stablehlo.complex", binary, only(DType::kF32) | kF64, Wants::kAnything, 3},
    OpKind{"stablehlo.convert", convert, kAnyDType, Wants::kAnything, 7},
    OpKind{"stablehlo.cosine", unary, kFunctions, Wants::kAnything, 2},
    OpKind{"stablehlo.count_leading_zeros", unary, kIntegers},
    OpKind{"stablehlo.divide", binary, kArithmetic, Wants::kAnything, 5},
    OpKind{"stablehlo.exponential", unary, kFunctions, Wants::kAnything, 4},
    OpKind{"stablehlo.exponential_minus_one", unary, kFunctions, Wants::kExact, 2},
    OpKind{"stablehlo.floor", unary, kFloats, Wants::kExact, 2},
    OpKind{"stablehlo.imag", unary, kFloats | kComplex, Wants::kAnything},
    OpKind{"stablehlo.is_finite", unary, kFloats, Wants::kExact},
    OpKind{"stablehlo.log", unary, kFunctions, Wants::kAnything, 3},
    OpKind{"stablehlo.log_plus_one", unary, kFunctions, Wants::kExact, 2},
    OpKind{"stablehlo.logistic", unary, kFunctions, Wants::kAnything, 2},
    OpKind{"stablehlo.maximum", binary, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.minimum", binary, kAnyDType, Wants::kAnything, 5},
    OpKind{"stablehlo.multiply", binary, kAnyDType, Wants::kAnything, 7},
    OpKind{"stablehlo.negate", unary, kArithmetic, Wants::kAnything, 3},
    OpKind{"stablehlo.not", unary, kBits},
    OpKind{"stablehlo.or", binary, kBits, Wants::kAnything, 2},
    OpKind{"stablehlo.popcnt", unary, kIntegers},
    OpKind{"stablehlo.power", binary, (kNumbers & ~(only(DType::kI64) | only(DType::kU64))) | kC64,
           Wants::kExact, 3},
    OpKind{"stablehlo.real", unary, kFloats | kComplex, Wants::kAnything},
    OpKind{"stablehlo.reduce_precision", reduce_precision, kFloats, Wants::kExact, 2},
    OpKind{"stablehlo.remainder", binary, kNumbers, Wants::kExact, 2},
    OpKind{"stablehlo.round_nearest_afz", unary, kFloats, Wants::kExact},
    OpKind{"stablehlo.round_nearest_even", unary, kFloats, Wants::kExact},
    OpKind{"stablehlo.rsqrt", unary, kFunctions, Wants::kExact, 2},
    OpKind{"stablehlo.select", select, kAnyDType, Wants::kAnything, 4},
    OpKind{"stablehlo.shift_left", binary, kIntegers},
    OpKind{"stablehlo.shift_right_arithmetic", binary, kIntegers},
    OpKind{"stablehlo.shift_right_logical", binary, kIntegers},
    OpKind{"stablehlo.sign", unary, kSigned | kC64, Wants::kExact, 2},
    OpKind{"stablehlo.sine", unary, kFunctions, Wants::kAnything, 2},
    OpKind{"stablehlo.sqrt", unary, kFunctions, Wants::kAnything, 3},
    OpKind{"stablehlo.subtract", binary, kArithmetic, Wants::kAnything, 4},
    OpKind{"stablehlo.tan", unary, kFunctions, Wants::kExact},
    OpKind{"stablehlo.tanh", unary, kFunctions, Wants::kAnything, 4},
    OpKind{"stablehlo.xor", binary, kBits, Wants::kAnything, 2},
};

}  // namespace

std::span<const OpKind> elementwise_kinds() { return kKinds; }

}  // namespace superstep
