// Ops that are made of others. Values are worked out by hand.

#include <cmath>
#include <limits>

#include "compiler/ops/elements.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// With a variance of 1 the deviation is 2, with 13 it is 4.
constexpr double kEpsilonOfFirst = 3;

Attributes normalization(std::int64_t feature, double epsilon) {
  return {{"epsilon", epsilon}, {"feature_index", feature}};
}

OpCase is_inf(const std::string& name, DType dtype, const std::vector<double>& expected) {
  return {"chlo." + name,
          std::string(name_of(dtype)),
          {vector_of(dtype, {1, -0.0, kInf, -kInf, kNaN})},
          {},
          {vector_of(kI1, expected)},
          0,
          {}};
}

Attributes system(bool left, bool lower, bool unit, const std::string& transpose) {
  return {
      {"left_side", left}, {"lower", lower}, {"unit_diagonal", unit}, {"transpose_a", transpose}};
}

/// The published answers for counters and keys of no bits and of all bits (Random123,
/// tests/kat_vectors).
std::vector<OpCase> random_cases() {
  const auto draw = [](const std::string& what, const std::string& algorithm, std::uint64_t state,
                       const HostTensor& next, const HostTensor& bits) {
    return OpCase{"stablehlo.rng_bit_generator",
                  what,
                  {bits_of(kU64, {state, state})},
                  {{"rng_algorithm", algorithm}},
                  {next, bits},
                  0,
                  {}};
  };
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const HostTensor after_none = bits_of(kU64, {0, 1}), after_all = bits_of(kU64, {kAll, 0});
  return {
      draw("ThreefryOfNoBits", "THREE_FRY", 0, after_none, bits_of(kU32, {0x6b200159, 0x99ba4efe})),
      draw("ThreefryOfAllBits", "THREE_FRY", kAll, after_all,
           bits_of(kU32, {0x1cb996fc, 0xbb002be7})),
      draw("ThreefryWide", "THREE_FRY", 0, after_none, bits_of(kU64, {0x99ba4efe6b200159})),
      draw("PhiloxOfNoBits", "PHILOX", 0, after_none,
           bits_of(kU32, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8})),
      draw("PhiloxOfAllBits", "PHILOX", kAll, after_all,
           bits_of(kU32, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd})),
      draw("DefaultIsPhilox", "DEFAULT", 0, after_none,
           bits_of(kI64, {0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c})),
      {"stablehlo.rng_bit_generator",
       "PhiloxWithAWholeCounter",
       {bits_of(kU64, {kAll, kAll, kAll})},
       {{"rng_algorithm", std::string("PHILOX")}},
       {bits_of(kU64, {kAll, 0, 0}),
        bits_of(kU32, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd})},
       0,
       {}},
      draw("PhiloxNarrow", "PHILOX", 0, after_none, bits_of(kU8, {0xd5, 0x8d, 0x4c})),
  };
}

/// Factors and solutions of small numbers.
std::vector<OpCase> matrix_cases() {
  const HostTensor positive = numbers(kF32, {3, 3}, {4, 2, 6, 2, 10, 9, 6, 9, 14});
  const HostTensor lower = numbers(kF32, {3, 3}, {2, 0, 0, 1, 3, 0, 3, 2, 1});
  const HostTensor upper = numbers(kF32, {3, 3}, {2, 1, 3, 0, 3, 2, 0, 0, 1});
  // The second matrix of a pair has a pivot of 0.
  const HostTensor pair = numbers(kF32, {2, 2, 2}, {9, 3, 3, 2, 1, 1, 1, 1});
  const HostTensor factor_of_pair = numbers(kF32, {2, 2, 2}, {3, 0, 1, 1, kNaN, kNaN, kNaN, kNaN});
  const HostTensor column = numbers(kF32, {3, 1}, {2, 7, 8});
  const std::string as_lower = "{uplo = 76 : ui8}";
  return {
      {"stablehlo.cholesky", "Lower", {positive}, {{"lower", true}}, {lower}, 0, {}},
      {"stablehlo.cholesky", "Upper", {positive}, {{"lower", false}}, {upper}, 0, {}},
      {"stablehlo.cholesky",
       "ReadsOneTriangle",
       {numbers(kF16, {2, 2}, {4, 100, 2, 5})},
       {{"lower", true}},
       {numbers(kF16, {2, 2}, {2, 0, 1, 2})},
       0,
       {}},
      {"stablehlo.cholesky", "NotPositive", {pair}, {{"lower", true}}, {factor_of_pair}, 0, {}},
      {"stablehlo.custom_call",
       "Sharding",
       {positive},
       {{"call_target_name", std::string("Sharding")}},
       {positive},
       0,
       {}},
      {"stablehlo.custom_call",
       "LayoutConstraint",
       {positive},
       {{"call_target_name", std::string("LayoutConstraint")}},
       {positive},
       0,
       {}},
      {"stablehlo.custom_call",
       "Potrf",
       {positive},
       {{"call_target_name", std::string("lapack_spotrf_ffi")}, {"mhlo.backend_config", as_lower}},
       {lower, numbers(kI32, {}, {0})},
       0,
       {}},
      {"stablehlo.custom_call",
       "Trsm",
       {lower, column},
       {{"call_target_name", std::string("lapack_strsm_ffi")},
        {"mhlo.backend_config",
         std::string("{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}")}},
       {numbers(kF32, {3, 1}, {1, 2, 1})},
       2,
       {}},
      {"stablehlo.triangular_solve",
       "Lower",
       {lower, column},
       system(true, true, false, "NO_TRANSPOSE"),
       {numbers(kF32, {3, 1}, {1, 2, 1})},
       2,
       {}},
      {"stablehlo.triangular_solve",
       "UpperFromTheRight",
       {upper, numbers(kF32, {1, 3}, {2, 7, 8})},
       system(false, false, false, "NO_TRANSPOSE"),
       {numbers(kF32, {1, 3}, {1, 2, 1})},
       2,
       {}},
      {"stablehlo.triangular_solve",
       "UnitTransposed",
       {lower, numbers(kF32, {3, 1}, {6, 4, 1})},
       system(true, true, true, "TRANSPOSE"),
       {numbers(kF32, {3, 1}, {1, 2, 1})},
       0,
       {}},
      {"sdy.sharding_constraint", "Identity", {column}, {}, {column}, 0, {}},
  };
}

/// Elements of another width.
std::vector<OpCase> bitcast_cases() {
  const auto cast = [](const std::string& what, const HostTensor& from, const HostTensor& to) {
    return OpCase{"stablehlo.bitcast_convert", what, {from}, {}, {to}, 0, {}};
  };
  HostTensor bytes = bits_of(kU8, {0x01, 0x02, 0x03, 0x84, 0x05, 0x06, 0x07, 0x08});
  HostTensor halves = bits_of(kI16, {0x0201, 0x8403, 0x0605, 0x0807});
  HostTensor words = bits_of(kU32, {0x84030201, 0x08070605});
  const HostTensor wide = bits_of(kU64, {0x0807060584030201});
  const HostTensor scalar = numbers(kF32, {}, {1});
  const HostTensor its_words = bits_of(kU16, {0x0000, 0x3f80});
  bytes.type.shape = {2, 4};
  halves.type.shape = {1, 4};
  std::vector<OpCase> cases = {
      cast("BytesToWords", bytes, words),        cast("WordsToBytes", words, bytes),
      cast("WideToHalves", wide, halves),        cast("HalvesToWide", halves, wide),
      cast("ScalarToHalves", scalar, its_words), cast("HalvesToScalar", its_words, scalar)};
  words.type.shape = {1, 2};
  cases.push_back(cast("WideToWords", wide, words));
  cases.push_back(cast("WordsToWide", words, wide));
  // Booleans are bits, the lowest first.
  HostTensor flags = bits_of(kI1, {1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  flags.type.shape = {2, 8};
  const HostTensor pair = bits_of(kI8, {0x81, 0x03});
  cases.push_back(cast("BytesToBooleans", pair, flags));
  cases.push_back(cast("BooleansToBytes", flags, pair));
  const HostTensor their_wide = bits_of(kU64, {0x0807060504030201});
  HostTensor all({kI1, {1, 64}});
  for (std::size_t bit = 0; bit < 64; ++bit) {
    write_bits(all, bit, 0x0807060504030201U >> bit & 1);
  }
  cases.push_back(cast("WideToBooleans", their_wide, all));
  cases.push_back(cast("BooleansToWide", all, their_wide));
  return cases;
}

/// Of two dimensions, of which the second is real; a transform of nothing.
std::vector<OpCase> transform_cases() {
  const HostTensor x = numbers(kF32, {2, 4}, {1, 2, 3, 5, 8, 13, 21, 34});
  // Rows of real and imaginary parts.
  const std::vector<double> transform = {87, 0, -15, 24, -21, 0, -65, 0, 11, -18, 15, 0};
  HostTensor expected(TensorType{kC64, {2, 3}});
  for (std::size_t i = 0; i < 6; ++i) {
    write_complex(expected, i, {transform[2 * i], transform[2 * i + 1]});
  }
  const auto use = [](const std::string& what, const std::string& type, const HostTensor& operand,
                      std::vector<std::int64_t> lengths, const HostTensor& result) {
    return OpCase{
        "stablehlo.fft", what, {operand}, {{"fft_type", type}, {"fft_length", std::move(lengths)}},
        {result},        0,    {}};
  };
  return {use("BackFromHalf", "IRFFT", expected, {2, 4}, x),
          use("OfNothing", "FFT", HostTensor(TensorType{kC64, {3, 0}}), {0},
              HostTensor(TensorType{kC64, {3, 0}})),
          use("OfNoRows", "RFFT", HostTensor(TensorType{kF32, {0, 4}}), {4},
              HostTensor(TensorType{kC64, {0, 3}}))};
}

/// Upper halves of products.
std::vector<OpCase> mulhi_cases() {
  const auto multiply = [](DType dtype, const std::vector<std::uint64_t>& a,
                           const std::vector<std::uint64_t>& b,
                           const std::vector<std::uint64_t>& upper) {
    return OpCase{"chlo.mulhi",
                  std::string(name_of(dtype)),
                  {bits_of(dtype, a), bits_of(dtype, b)},
                  {},
                  {bits_of(dtype, upper)},
                  0,
                  {}};
  };
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 63, kAll = ~std::uint64_t{0};
  return {
      multiply(kI8, {64, 0xc0, 0xc0, 0x80}, {4, 4, 0xfc, 0x80}, {1, 0xff, 1, 0x40}),
      multiply(kU8, {240, 255}, {16, 255}, {15, 254}),
      multiply(kI16, {16384, 0xc000, 0x8000}, {8, 8, 0x8000}, {2, 0xfffe, 0x4000}),
      multiply(kU32, {0xffffffff, 3}, {0xffffffff, 5}, {0xfffffffe, 0}),
      multiply(kI32, {0x80000000, 0xffffffff}, {0x80000000, 3}, {0x40000000, 0xffffffff}),
      multiply(kU64, {kAll, kLeast, 0x123456789abcdef0}, {kAll, 6, 0xfedcba9876543210},
               {kAll - 1, 3, 0x121fa00ad77d7422}),
      multiply(kI64, {kLeast, kAll, kLeast, 5}, {kLeast, 3, kAll, 7},
               {std::uint64_t{1} << 62, kAll, 0, 0}),
  };
}

}  // namespace

std::vector<OpCase> expansion_cases() {
  // Two features along dimension 1 of three elements each.
  const HostTensor x = numbers(kF32, {3, 2}, {1, 3, 2, 5, 3, 7});
  const HostTensor scale = vector_of(kF32, {2, 3}), offset = vector_of(kF32, {10, 20});
  const HostTensor mean = vector_of(kF32, {2, 5}), variance = vector_of(kF32, {1, 1});
  // The features' own variances.
  const double first = 2.0 / 3, second = 8.0 / 3;
  const double down = 2 / std::sqrt(first + 0.5), wide = 6 / std::sqrt(second + 0.5);
  const HostTensor gradient = numbers(kF32, {3, 2}, {1, 0, 0, 0, 0, 3});
  std::vector<OpCase> cases = {
      is_inf("is_inf", kF32, {0, 0, 1, 1, 0}),
      is_inf("is_inf", kF16, {0, 0, 1, 1, 0}),
      is_inf("is_pos_inf", kF32, {0, 0, 1, 0, 0}),
      is_inf("is_neg_inf", kF16, {0, 0, 0, 1, 0}),
      {"stablehlo.batch_norm_inference",
       "LastFeature",
       {x, scale, offset, mean, variance},
       normalization(1, kEpsilonOfFirst),
       {numbers(kF32, {3, 2}, {9, 17, 10, 20, 11, 23})},
       0,
       {}},
      {"stablehlo.batch_norm_inference",
       "FirstFeatureF16",
       {numbers(kF16, {2, 2}, {1, 3, 5, 7}), vector_of(kF16, {2, 4}), vector_of(kF16, {0, 1}),
        vector_of(kF16, {2, 5}), vector_of(kF16, {1, 13})},
       normalization(0, kEpsilonOfFirst),
       {numbers(kF16, {2, 2}, {-1, 1, 1, 3})},
       0,
       {}},
      {"stablehlo.batch_norm_inference",
       "F64",
       {numbers(kF64, {2, 1}, {1 + 0x1p-40, 3}), vector_of(kF64, {1}), vector_of(kF64, {0}),
        vector_of(kF64, {0}), vector_of(kF64, {0.5})},
       normalization(1, 0.5),
       {numbers(kF64, {2, 1}, {1 + 0x1p-40, 3})},
       0,
       {}},
      {"stablehlo.batch_norm_training",
       "LastFeature",
       {x, scale, offset},
       normalization(1, 0.5),
       {numbers(kF32, {3, 2}, {10 - down, 20 - wide, 10, 20, 10 + down, 20 + wide}), mean,
        vector_of(kF32, {first, second})},
       2,
       {}},
      {"stablehlo.batch_norm_grad",
       "LastFeature",
       {x, scale, mean, variance, gradient},
       normalization(1, kEpsilonOfFirst),
       // Deviations of 2: normalised elements are -1/2, 0, 1/2 and -1, 0, 1; the gradients of the
       // scales -1/2 and 3.
       {numbers(kF32, {3, 2},
                {1 - (1 + 0.25) / 3.0, 1.5 * (0 - (3 - 3) / 3.0), -1 / 3.0, 1.5 * (0 - 3 / 3.0),
                 -(1 - 0.25) / 3.0, 1.5 * (3 - (3 + 3) / 3.0)}),
        vector_of(kF32, {-0.5, 3}), vector_of(kF32, {1, 3})},
       2,
       {}},
  };
  for (const std::vector<OpCase>& more :
       {random_cases(), matrix_cases(), bitcast_cases(), transform_cases(), mulhi_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace superstep
