#include "tests/generated/accuracy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/narrow_float.h"

namespace superstep {
namespace {

constexpr double kLargestF32 = std::numeric_limits<float>::max();

/// Functions that are not rounded once: so many units in the last place of f32 and f64. Those of
/// f32 are what docs/numerics.md says (at most 1.5; zeta 5 of results below 1e-37) and the half
/// that the reference is rounded by; those of f64 leave room for the reference, which is of the
/// host's functions. Shorter floats are computed in f32 and rounded, which may change the last
/// place.
struct Function {
  std::string_view name;
  double of_f32, of_f64;
};
constexpr std::array kFunctions = {
    Function{"chlo.acos", 2, 3},
    Function{"chlo.acosh", 2, 3},
    Function{"chlo.asin", 2, 3},
    Function{"chlo.asinh", 2, 3},
    Function{"chlo.atan", 2, 3},
    Function{"chlo.atanh", 2, 3},
    Function{"chlo.bessel_i1e", 2, 4},
    Function{"chlo.cosh", 2, 3},
    Function{"chlo.digamma", 2, 4},
    Function{"chlo.erf", 2, 3},
    Function{"chlo.erf_inv", 2, 3},
    Function{"chlo.erfc", 2, 3},
    Function{"chlo.lgamma", 2, 4},
    Function{"chlo.polygamma", 2, 10},
    Function{"chlo.sinh", 2, 3},
    Function{"chlo.tan", 2, 4},
    Function{"chlo.zeta", 5.5, 8},
    Function{"stablehlo.atan2", 2, 3},
    Function{"stablehlo.cbrt", 2, 3},
    Function{"stablehlo.cosine", 2, 3},
    Function{"stablehlo.exponential", 2, 3},
    Function{"stablehlo.exponential_minus_one", 2, 3},
    Function{"stablehlo.log", 2, 3},
    Function{"stablehlo.log_plus_one", 2, 3},
    Function{"stablehlo.logistic", 2, 3},
    Function{"stablehlo.power", 2, 3},
    Function{"stablehlo.rsqrt", 2, 3},
    Function{"stablehlo.sine", 2, 3},
    Function{"stablehlo.tan", 2, 4},
    Function{"stablehlo.tanh", 2, 3},
};

/// Of complex numbers: add, subtract and what moves parts or changes their signs.
constexpr std::array<std::string_view, 9> kExactOfComplex = {
    "stablehlo.add",     "stablehlo.subtract", "stablehlo.negate",
    "stablehlo.compare", "stablehlo.real",     "stablehlo.imag",
    "stablehlo.complex", "stablehlo.maximum",  "stablehlo.minimum"};

const Function* function_of(std::string_view op) {
  const auto* const found = std::ranges::find(kFunctions, op, &Function::name);
  return found == kFunctions.end() ? nullptr : found;
}

int fraction_bits(DType dtype) {
  if (is_narrow_float(dtype)) return narrow_float(dtype).mantissa_bits;
  switch (real_of(dtype)) {
    case DType::kBF16:
      return 7;
    case DType::kF16:
      return 10;
    case DType::kF64:
      return 52;
    default:
      return 23;
  }
}

int least_exponent(DType dtype) {
  if (is_narrow_float(dtype)) return 1 - narrow_float(dtype).bias;
  return dtype == DType::kF16 ? -14 : real_of(dtype) == DType::kF64 ? -1022 : -126;
}

/// Below zero terms cancel in some functions: so many units of roundoff of their sizes.
double cancelled(std::string_view op, double result, const Operand* operands, std::size_t count) {
  const double x = operands[count - 1].value, first = operands[0].value;
  if (x >= 0) return 0;
  const double size = 2 - x;
  const auto digamma = [&] { return 32 * (std::abs(result) + std::log(size) + 1); };
  // Of the terms nearest to a pole.
  const auto zeta = [&](double s) {
    const double distance = std::abs(x - std::nearbyint(x));
    return 48 * (4 + 2 * std::pow(distance, -s));
  };
  if (op == "chlo.lgamma") return 16 * (std::abs(result) + 2 * size * std::log(size));
  if (op == "chlo.digamma" || (op == "chlo.polygamma" && first == 0)) return digamma();
  if (op == "chlo.polygamma") return std::tgamma(first + 1) * zeta(first + 1);
  return op == "chlo.zeta" ? zeta(first) : 0;
}

}  // namespace

double largest(DType dtype) {
  if (is_narrow_float(dtype)) {
    const NarrowFloat format = narrow_float(dtype);
    return number_of(format, format.infinity() - 1);
  }
  if (dtype == DType::kBF16) return 0x1.fep127;
  return dtype == DType::kF16 ? 65504.0 : kLargestF32;
}

double unit_roundoff(DType dtype) { return std::ldexp(1, -1 - fraction_bits(dtype)); }

double ulp(DType dtype, double x) {
  if (!std::isfinite(x)) return std::abs(x);
  const int bits = fraction_bits(dtype);
  const int lowest = least_exponent(dtype) - bits;
  return x == 0 ? std::ldexp(1, lowest) : std::ldexp(1, std::max(std::ilogb(x) - bits, lowest));
}

bool is_rounded_once(std::string_view op, DType dtype) {
  if (is_complex(dtype)) return std::ranges::find(kExactOfComplex, op) != kExactOfComplex.end();
  return function_of(op) == nullptr;
}

std::optional<double> function_error(std::string_view op, DType dtype, double result,
                                     const Operand* operands, std::size_t count) {
  const double x = operands[0].value;
  // Derivatives beyond are products of what is infinite.
  if (op == "chlo.polygamma" && !(x < 20)) return std::nullopt;
  if (!std::isfinite(result)) return is_complex(dtype) ? std::nullopt : std::optional(0.0);
  if (is_complex(dtype)) {
    // Both parts by the size of the number: 2.5 units of samples
    // (tests/ops/special_values_test.cpp) and the rest for the poles of logistic. A power
    // multiplies its logarithm by the exponent.
    constexpr double kUnits = 16;
    double units = kUnits;
    if (op == "stablehlo.power" && x > 0) {
      units *= 1 + operands[count - 1].value * (4 + std::abs(std::log(x)));
    }
    return units * ulp(dtype, result);
  }
  const Function* const function = function_of(op);
  const bool is_wide_enough = real_of(dtype) == DType::kF32 || real_of(dtype) == DType::kF64;
  const bool is_double = real_of(dtype) == DType::kF64;
  const double of_function = function == nullptr ? 0
                             : is_double         ? function->of_f64
                                                 : function->of_f32;
  const double ulps = is_wide_enough ? of_function : 1;
  const double inner = is_wide_enough ? unit_roundoff(dtype) : unit_roundoff(DType::kF32);
  return ulps * ulp(dtype, result) + inner * cancelled(op, result, operands, count);
}

}  // namespace superstep
