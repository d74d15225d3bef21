// Expected values are worked out by hand from the StableHLO specification (docs/spec.md of
// openxla/stablehlo), or taken from its examples.

#include <cmath>
#include <limits>

#include "tests/ops/op_case.h"

namespace superstep {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

using enum DType;

OpCase unary(const std::string& op, const std::string& what, DType dtype,
             const std::vector<double>& x, const std::vector<double>& y, std::uint64_t ulp = 0) {
  return {"stablehlo." + op, what, {vector_of(dtype, x)}, {}, {vector_of(dtype, y)}, ulp, {}};
}

OpCase binary(const std::string& op, const std::string& what, DType dtype,
              const std::vector<double>& a, const std::vector<double>& b,
              const std::vector<double>& result, std::uint64_t ulp = 0) {
  return {"stablehlo." + op,
          what,
          {vector_of(dtype, a), vector_of(dtype, b)},
          {},
          {vector_of(dtype, result)},
          ulp,
          {}};
}

OpCase compare(const std::string& direction, const std::string& type, DType dtype,
               const std::vector<double>& a, const std::vector<double>& b,
               const std::vector<double>& result) {
  Attributes attributes{{"comparison_direction", direction}};
  if (!type.empty()) attributes.emplace("compare_type", type);
  return {"stablehlo.compare",
          direction + type + std::string(name_of(dtype)),
          {vector_of(dtype, a), vector_of(dtype, b)},
          attributes,
          {vector_of(kI1, result)},
          0,
          {}};
}

OpCase convert(const std::string& what, const HostTensor& x, const HostTensor& y) {
  return {"stablehlo.convert", what, {x}, {}, {y}, 0, {}};
}

void add_unary(std::vector<OpCase>& cases) {
  cases.push_back(
      unary("abs", "f32", kF32, {-0.0, -1.5, kInf, -kInf, kNaN}, {0.0, 1.5, kInf, kInf, kNaN}));
  cases.push_back(unary("abs", "i8", kI8, {-128, -3, 0, 127}, {-128, 3, 0, 127}));
  cases.push_back(unary("negate", "f16", kF16, {0.0, -2.5, kInf}, {-0.0, 2.5, -kInf}));
  cases.push_back(unary("negate", "ui8", kU8, {0, 1, 255}, {0, 255, 1}));
  cases.push_back(unary("negate", "i32", kI32, {-2147483648.0, 5}, {-2147483648.0, -5}));
  cases.push_back(
      unary("sign", "f32", kF32, {kNaN, -kInf, -0.0, 0.0, 1e-40}, {kNaN, -1, -0.0, 0.0, 1}));
  cases.push_back(unary("sign", "i16", kI16, {-32768, 0, 9}, {-1, 0, 1}));
  cases.push_back({"chlo.square",
                   "f32",
                   {vector_of(kF32, {-1.5, 3, kInf})},
                   {},
                   {vector_of(kF32, {2.25, 9, kInf})},
                   0,
                   {}});
  cases.push_back({"chlo.square",
                   "i8",
                   {vector_of(kI8, {-3, 16, 127})},
                   {},
                   {vector_of(kI8, {9, 0, 1})},
                   0,
                   {}});
  cases.push_back(unary("ceil", "f32", kF32, {-0.5, 0.2, 1, kNaN}, {-0.0, 1, 1, kNaN}));
  cases.push_back(unary("floor", "f32", kF32, {-0.5, 0.2, -0.0, kInf}, {-1, 0, -0.0, kInf}));
  cases.push_back(
      unary("round_nearest_afz", "f32", kF32, {-2.5, 0.4, 0.5, 0.6, 2.5}, {-3, 0, 1, 1, 3}));
  cases.push_back(unary("round_nearest_afz", "BelowOneHalf", kF32, {0.49999997}, {0}));
  cases.push_back(unary("round_nearest_even", "f32", kF32, {-2.5, 0.4, 0.5, 0.6, 2.5, 3.5},
                        {-2, 0, 0, 1, 2, 4}));
  cases.push_back({"stablehlo.is_finite",
                   "f32",
                   {vector_of(kF32, {kInf, -kInf, kNaN, -10, 0})},
                   {},
                   {vector_of(kI1, {0, 0, 0, 1, 1})},
                   0,
                   {}});
  cases.push_back({"stablehlo.is_finite",
                   "f16",
                   {vector_of(kF16, {65504, 70000})},
                   {},
                   {vector_of(kI1, {1, 0})},
                   0,
                   {}});
  cases.push_back(
      unary("sqrt", "f32", kF32, {0, -0.0, 2.25, -1, kInf}, {0, -0.0, 1.5, kNaN, kInf}));
  cases.push_back(unary("rsqrt", "f32", kF32, {4, 0.25, kInf, 0, -1}, {0.5, 2, 0, kInf, kNaN}));
  cases.push_back(unary("cbrt", "f32", kF32, {0, -0.0, 1, 8, -27, kInf, -kInf, kNaN},
                        {0, -0.0, 1, 2, -3, kInf, -kInf, kNaN}, 1));
  const double e = std::exp(1.0);
  cases.push_back(
      unary("exponential", "f32", kF32, {0, -kInf, kInf, 1, 89}, {1, 0, kInf, e, kInf}, 1));
  cases.push_back(unary("exponential_minus_one", "f32", kF32,
                        {0, -0.0, 1e-10, -kInf, kInf, 1, 89, kNaN},
                        {0, -0.0, 1e-10, -1, kInf, e - 1, kInf, kNaN}, 2));
  cases.push_back(
      unary("log", "f32", kF32, {0, 1, -1, kInf, 10}, {-kInf, 0, kNaN, kInf, std::log(10)}, 1));
  cases.push_back(unary("log_plus_one", "f32", kF32, {-1, -0.0, 0, 1e-10, kInf, -2, 6},
                        {-kInf, -0.0, 0, 1e-10, kInf, kNaN, std::log(7)}, 2));
  cases.push_back(
      unary("logistic", "f32", kF32, {0, kInf, -kInf, std::log(3)}, {0.5, 1, 0, 0.75}, 1));
  cases.push_back(unary("tanh", "f32", kF32, {0, -0.0, kInf, -kInf}, {0, -0.0, 1, -1}));
  cases.push_back(unary("count_leading_zeros", "i32", kI32, {0, 1, -1, 65536}, {32, 31, 0, 15}));
  cases.push_back(unary("count_leading_zeros", "ui16", kU16, {0, 1, 32768}, {16, 15, 0}));
  cases.push_back(unary("popcnt", "i8", kI8, {0, 1, 127, -1}, {0, 1, 7, 8}));
  cases.push_back(unary("not", "i1", kI1, {0, 1}, {1, 0}));
  cases.push_back(unary("not", "ui8", kU8, {5, 255}, {250, 0}));
}

void add_binary(std::vector<OpCase>& cases) {
  cases.push_back(
      binary("add", "f32", kF32, {1.5, kInf, 3e38}, {2.25, -kInf, 3e38}, {3.75, kNaN, kInf}));
  cases.push_back(binary("add", "f16RoundsToEven", kF16, {2048, 2048}, {1, 3}, {2048, 2052}));
  cases.push_back(binary("add", "i8Wraps", kI8, {127, -128}, {1, -1}, {-128, 127}));
  cases.push_back(binary("add", "i1IsOr", kI1, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}));
  cases.push_back(binary("subtract", "ui32Wraps", kU32, {0, 7}, {1, 5}, {4294967295.0, 2}));
  cases.push_back(binary("subtract", "f32", kF32, {1, kInf}, {0.75, kInf}, {0.25, kNaN}));
  cases.push_back(binary("multiply", "i32Wraps", kI32, {65536, -3}, {65536, 7}, {0, -21}));
  cases.push_back(binary("multiply", "ui32Wraps", kU32, {4294967295.0}, {4294967295.0}, {1}));
  cases.push_back(binary("multiply", "i1IsAnd", kI1, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}));
  cases.push_back(binary("multiply", "f16Overflow", kF16, {256, 0}, {256, kInf}, {kInf, kNaN}));
  cases.push_back(binary("divide", "i32", kI32, {17, -17, 17, -17, 5, -2147483648.0},
                         {3, 3, -3, -3, 0, -1}, {5, -5, -5, 5, -1, -2147483648.0}));
  cases.push_back(binary("divide", "ui8", kU8, {200, 7}, {3, 0}, {66, 255}));
  cases.push_back(
      binary("divide", "f32", kF32, {1, -1, 0, 1}, {0, 0, 0, 3}, {kInf, -kInf, kNaN, 1.0 / 3}));
  cases.push_back(binary("remainder", "i32", kI32, {17, -17, 17, -17, 5, -2147483648.0},
                         {3, 3, -3, -3, 0, -1}, {2, -2, 2, -2, 5, 0}));
  cases.push_back(binary("remainder", "f32", kF32, {17.1, -17.1, 5, 5, kInf, -6},
                         {3, 3, 0, kInf, 2, 3},
                         {std::fmod(static_cast<double>(17.1F), 3),
                          -std::fmod(static_cast<double>(17.1F), 3), kNaN, 5, kNaN, -0.0}));
  cases.push_back(binary("maximum", "f32", kF32, {1, kNaN, 1, -0.0, 0.0, -kInf},
                         {2, 1, kNaN, 0.0, -0.0, 3}, {2, kNaN, kNaN, 0.0, 0.0, 3}));
  cases.push_back(binary("maximum", "ui8", kU8, {0, 255}, {16, 1}, {16, 255}));
  cases.push_back(binary("maximum", "i1IsOr", kI1, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}));
  cases.push_back(binary("minimum", "f16", kF16, {1, kNaN, 1, -0.0, 0.0}, {2, 1, kNaN, 0.0, -0.0},
                         {1, kNaN, kNaN, -0.0, -0.0}));
  cases.push_back(binary("minimum", "i8", kI8, {-128, 5}, {127, 3}, {-128, 3}));
  cases.push_back(binary("minimum", "i1IsAnd", kI1, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}));
  cases.push_back(binary("and", "i1", kI1, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}));
  cases.push_back(binary("and", "i8", kI8, {-1, 12}, {-128, 10}, {-128, 8}));
  cases.push_back(binary("or", "ui16", kU16, {1, 0xff00}, {6, 0x00ff}, {7, 0xffff}));
  cases.push_back(binary("xor", "i32", kI32, {-1, 6}, {1, 3}, {-2, 5}));
  cases.push_back(binary("xor", "i1", kI1, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}));
  cases.push_back(binary("shift_left", "i8", kI8, {-1, 0, 1, 64, 1, 1}, {1, 2, 3, 1, 8, -1},
                         {-2, 0, 8, -128, 0, 0}));
  cases.push_back(
      binary("shift_right_logical", "i8", kI8, {-1, 8, -128, 1}, {1, 3, 8, -1}, {127, 1, 0, 0}));
  cases.push_back(binary("shift_right_arithmetic", "i8", kI8, {-1, 8, -128, 127, -3},
                         {1, 3, 8, 9, -1}, {-1, 1, -1, 0, -1}));
  cases.push_back(binary("shift_right_arithmetic", "ui8", kU8, {255, 64}, {1, 3}, {255, 8}));
  cases.push_back(binary("power", "i32", kI32, {-1, -1, -3, 1, -3, 0, -1, 2},
                         {1, 0, -3, -3, 3, 2, -3, 31}, {-1, 1, 0, 1, -27, 0, -1, -2147483648.0}));
  cases.push_back(
      binary("power", "ui16", kU16, {0, 0, 1, 1, 5}, {0, 1, 0, 2, 5}, {1, 0, 1, 1, 3125}));
  cases.push_back(binary("power", "f32", kF32, {-2, -0.0, -36, 5, 3, 10000}, {2, 2, 1.1, 2, -1, 10},
                         {4, 0, kNaN, 25, 1.0 / 3, kInf}, 2));
  // ISO C annex F lists these.
  cases.push_back(binary(
      "power", "f32Special", kF32,
      {0, -0.0, -0.0, 0, -1, 1, kNaN, kNaN, 0.5, 0.5, 2, 2, -kInf, -kInf, -kInf, -kInf, kInf},
      {-3, -3, -2, kInf, kInf, kNaN, 0, 1, kInf, -kInf, kInf, -kInf, -3, -2, 3, 2, -1},
      {kInf, -kInf, kInf, 0, 1, 1, 1, kNaN, 0, kInf, kInf, 0, -0.0, 0, -kInf, kInf, 0}));
  cases.push_back(binary(
      "atan2", "f32", kF32, {0, 1, -1, 1, 0.0, -0.0, 0.0, -0.0, kInf, kInf, 3, kNaN},
      {1, 0, 0, 1, -1, -1, -0.0, 0.0, kInf, -kInf, -kInf, 1},
      {0, kPi / 2, -kPi / 2, kPi / 4, kPi, -kPi, kPi, -0.0, kPi / 4, 3 * kPi / 4, kPi, kNaN}, 1));
}

void add_compare(std::vector<OpCase>& cases) {
  const std::vector<double> a = {1, 2, 3, kNaN, kNaN, 0.0};
  const std::vector<double> b = {2, 2, 2, 1, kNaN, -0.0};
  cases.push_back(compare("EQ", "FLOAT", kF32, a, b, {0, 1, 0, 0, 0, 1}));
  cases.push_back(compare("NE", "FLOAT", kF32, a, b, {1, 0, 1, 1, 1, 0}));
  cases.push_back(compare("LT", "", kF32, a, b, {1, 0, 0, 0, 0, 0}));
  cases.push_back(compare("LE", "FLOAT", kF16, a, b, {1, 1, 0, 0, 0, 1}));
  cases.push_back(compare("GT", "FLOAT", kF32, a, b, {0, 0, 1, 0, 0, 0}));
  cases.push_back(compare("GE", "FLOAT", kF32, a, b, {0, 1, 1, 0, 0, 1}));
  cases.push_back(compare("LT", "TOTALORDER", kF32, {-kInf, -0.0, 0.0, kInf, kNaN, -1, -2},
                          {kInf, 0.0, -0.0, kNaN, kInf, -2, -1}, {1, 1, 0, 1, 0, 0, 1}));
  cases.push_back(compare("EQ", "TOTALORDER", kF16, {-0.0, kNaN, 1}, {0.0, kNaN, 1}, {0, 1, 1}));
  cases.push_back(compare("LT", "SIGNED", kI8, {-128, 1}, {127, -1}, {1, 0}));
  cases.push_back(compare("LT", "UNSIGNED", kU8, {128, 1}, {127, 255}, {0, 1}));
  cases.push_back(compare("LT", "UNSIGNED", kI1, {1, 1, 0, 0}, {1, 0, 1, 0}, {0, 0, 1, 0}));
}

void add_ternary(std::vector<OpCase>& cases) {
  cases.push_back({"stablehlo.select",
                   "f32",
                   {vector_of(kI1, {1, 0}), vector_of(kF32, {1, 2}), vector_of(kF32, {3, kNaN})},
                   {},
                   {vector_of(kF32, {1, kNaN})},
                   0,
                   {}});
  cases.push_back({"stablehlo.select",
                   "ScalarPredicate",
                   {numbers(kI1, {}, {0}), vector_of(kI8, {1, 2}), vector_of(kI8, {3, 4})},
                   {},
                   {vector_of(kI8, {3, 4})},
                   0,
                   {}});
  cases.push_back(
      {"stablehlo.clamp",
       "i32",
       {vector_of(kI32, {5, 10, 15}), vector_of(kI32, {3, 13, 23}), vector_of(kI32, {10, 15, 20})},
       {},
       {vector_of(kI32, {5, 13, 20})},
       0,
       {}});
  cases.push_back(
      {"stablehlo.clamp",
       "ScalarBoundsAndNaN",
       {numbers(kF32, {}, {-1}), vector_of(kF32, {-5, 0.5, kNaN, kInf}), numbers(kF32, {}, {1})},
       {},
       {vector_of(kF32, {-1, 0.5, kNaN, 1})},
       0,
       {}});
  cases.push_back({"stablehlo.clamp",
                   "CrossedBoundsGiveTheUpper",
                   {vector_of(kI32, {10}), vector_of(kI32, {7}), vector_of(kI32, {5})},
                   {},
                   {vector_of(kI32, {5})},
                   0,
                   {}});
}

void add_convert(std::vector<OpCase>& cases) {
  cases.push_back(convert("f32ToI8Saturates", vector_of(kF32, {-1.9, 1.9, 300, -300, kNaN, kInf}),
                          vector_of(kI8, {-1, 1, 127, -128, 0, 127})));
  cases.push_back(convert("f32ToUi32", vector_of(kF32, {-1, 3000000000.0, 1e20, kNaN}),
                          vector_of(kU32, {0, 3000000000.0, 4294967295.0, 0})));
  cases.push_back(convert("f32ToI32", vector_of(kF32, {2147483648.0, -2147483648.0}),
                          vector_of(kI32, {2147483647, -2147483648.0})));
  cases.push_back(convert("f32ToI1", vector_of(kF32, {-1, 0, -0.0, kNaN, 1e-40}),
                          vector_of(kI1, {1, 0, 0, 1, 1})));
  cases.push_back(convert("i1ToF16", vector_of(kI1, {0, 1}), vector_of(kF16, {0, 1})));
  cases.push_back(convert("i32ToI8Wraps", vector_of(kI32, {300, -129}), vector_of(kI8, {44, 127})));
  cases.push_back(convert("i8ToUi32", vector_of(kI8, {-1}), vector_of(kU32, {4294967295.0})));
  cases.push_back(convert("i32ToF32RoundsToEven", vector_of(kI32, {16777217, 16777219}),
                          vector_of(kF32, {16777216, 16777220})));
  cases.push_back(
      convert("i32ToF16", vector_of(kI32, {65519, 65520}), vector_of(kF16, {65504, kInf})));
  cases.push_back(convert(
      "f32ToF16",
      bits_of(kF32, {0x3f802000, 0x3f801000, 0x3f803000, 0x33000000, 0x33000001, 0x7f800001}),
      bits_of(kF16, {0x3c01, 0x3c00, 0x3c02, 0x0000, 0x0001, 0x7e00})));
  cases.push_back(
      {"chlo.next_after",
       "f16",
       {bits_of(kF16, {0x3c00, 0x3c00, 0x8000, 0x0001, 0x7bff, 0x7c00, 0x3c00, 0x0000}),
        bits_of(kF16, {0x4000, 0x0000, 0x3c00, 0x8000, 0x7c00, 0x0000, 0x7e00, 0x8000})},
       {},
       {bits_of(kF16, {0x3c01, 0x3bff, 0x0001, 0x0000, 0x7c00, 0x7bff, 0x7e00, 0x8000})},
       0,
       {}});
  // e5m10 and e5m0 as in stablehlo/tests/interpret/reduce_precision.mlir.
  cases.push_back(
      {"stablehlo.reduce_precision",
       "ToF16",
       {vector_of(kF32, {kInf, kNaN, 1e-45, 0.0, 65505.0, -65520.0, 0x1p-14, -0x1p-15})},
       {{"exponent_bits", std::int64_t{5}}, {"mantissa_bits", std::int64_t{10}}},
       {vector_of(kF32, {kInf, kNaN, 0.0, 0.0, 65504.0, -kInf, 0x1p-14, -0.0})},
       0,
       {}});
  cases.push_back({"stablehlo.reduce_precision",
                   "WithoutFraction",
                   {vector_of(kF32, {kNaN, 1.25, 1.5, 3.0, -3.5})},
                   {{"exponent_bits", std::int64_t{5}}, {"mantissa_bits", std::int64_t{0}}},
                   {vector_of(kF32, {kInf, 1.0, 2.0, 2.0, -4.0})},
                   0,
                   {}});
  cases.push_back({"stablehlo.bitcast_convert",
                   "f32ToUi32",
                   {vector_of(kF32, {1, -0.0})},
                   {},
                   {bits_of(kU32, {0x3f800000, 0x80000000})},
                   0,
                   {}});
  cases.push_back({"stablehlo.bitcast_convert",
                   "i16ToF16",
                   {vector_of(kI16, {0x3c00, -1024})},
                   {},
                   {bits_of(kF16, {0x3c00, 0xfc00})},
                   0,
                   {}});
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  std::vector<OpCase> cases;
  add_unary(cases);
  add_binary(cases);
  add_compare(cases);
  add_ternary(cases);
  add_convert(cases);
  return cases;
}

}  // namespace superstep
