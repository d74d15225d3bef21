// Expected values are worked out by hand.

#include <bit>
#include <cmath>

#include "compiler/ops/elements.h"
#include "tests/ops/op_case.h"
#include "tests/regions.h"

namespace superstep {
namespace {

using enum DType;

HostTensor complex_numbers(const std::vector<std::complex<double>>& values) {
  HostTensor tensor(TensorType{kC64, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) write_complex(tensor, i, values[i]);
  return tensor;
}

OpCase use(const std::string& op, const std::string& what, std::vector<HostTensor> operands,
           HostTensor expected, std::uint64_t ulp = 0) {
  return {"stablehlo." + op, what, std::move(operands), {}, {std::move(expected)}, ulp, {}};
}

void add_complex(std::vector<OpCase>& cases) {
  const HostTensor z = complex_numbers({{3, -4}, {0, 2}, {-1, 0}});
  const HostTensor w = complex_numbers({{1, 2}, {-3, 5}, {0.5, -8}});
  const HostTensor real = vector_of(kF32, {3, 0, -1}), imaginary = vector_of(kF32, {-4, 2, 0});
  cases.push_back(use("complex", "f32", {real, imaginary}, z));
  cases.push_back(use("real", "complex", {z}, real));
  cases.push_back(use("real", "f32", {real}, real));
  cases.push_back(use("imag", "complex", {z}, imaginary));
  cases.push_back(use("imag", "f32", {real}, vector_of(kF32, {0, 0, 0})));
  const HostTensor doubles = vector_of(kF64, {1 + 0x1p-40, -2, INFINITY});
  cases.push_back(use("real", "f64", {doubles}, doubles));
  cases.push_back(use("imag", "f64", {doubles}, vector_of(kF64, {0, 0, 0})));
  // A type without 0.
  cases.push_back(
      use("imag", "f8E8M0FNU", {bits_of(kF8E8M0FNU, {0x7f})}, bits_of(kF8E8M0FNU, {0xff})));
  cases.push_back(use("abs", "complex", {z}, vector_of(kF32, {5, 2, 1})));
  cases.push_back(use("add", "complex", {z, w}, complex_numbers({{4, -2}, {-3, 7}, {-0.5, -8}})));
  cases.push_back(
      use("multiply", "complex", {z, w}, complex_numbers({{11, 2}, {-10, -6}, {-0.5, 8}})));
  cases.push_back(use("divide", "complex",
                      {complex_numbers({{11, 2}, {-10, -6}}), complex_numbers({{1, 2}, {0, 2}})},
                      complex_numbers({{3, -4}, {-3, 5}})));
  // By the specification's order, real parts first; XLA on CPU looks at these alone.
  cases.push_back(use("clamp", "complex",
                      {complex_numbers({{1, 2}, {3, -1}, {0, 0}, {1, 1}, {1, 0}}),
                       complex_numbers({{1, 3}, {2, 9}, {0, -1}, {1, 0}, {9, -9}}),
                       complex_numbers({{2, 0}, {4, 0}, {0, 5}, {1, 2}, {9, -10}})},
                      complex_numbers({{1, 3}, {3, -1}, {0, 0}, {1, 1}, {9, -10}})));
  cases.push_back(use("sqrt", "complex", {complex_numbers({{-4, 0}, {3, -4}})},
                      complex_numbers({{0, 2}, {2, -1}})));
}

void add_integers(std::vector<OpCase>& cases) {
  const HostTensor a = bits_of(kI64, {0xffffffff, 0x7fffffffffffffff, 0, ~std::uint64_t{9}});
  const HostTensor b = bits_of(kI64, {1, 1, ~std::uint64_t{0}, 3});
  cases.push_back(
      use("add", "i64", {a, b},
          bits_of(kI64, {0x100000000, 0x8000000000000000, ~std::uint64_t{0}, ~std::uint64_t{6}})));
  cases.push_back(use("divide", "i64", {a, b},
                      bits_of(kI64, {0xffffffff, 0x7fffffffffffffff, 0, ~std::uint64_t{2}})));
  cases.push_back(use(
      "power", "i64",
      {bits_of(kI64, {3, ~std::uint64_t{2}, 0, 7, 1, ~std::uint64_t{0}, 2, 5}),
       bits_of(kI64, {40, 3, 0, 23, ~std::uint64_t{4}, ~std::uint64_t{2}, 63, ~std::uint64_t{0}})},
      bits_of(kI64, {12157665459056928801U, ~std::uint64_t{26}, 1, 8922003266371364727U, 1,
                     ~std::uint64_t{0}, 0x8000000000000000, 0})));
  cases.push_back(use("power", "ui64",
                      {bits_of(kU64, {10, 0xffffffff, 2}), bits_of(kU64, {19, 2, 64})},
                      bits_of(kU64, {10000000000000000000U, 0xfffffffe00000001, 0})));
  cases.push_back(
      use("divide", "ui64",
          {bits_of(kU64, {~std::uint64_t{0}, 10, 5}), bits_of(kU64, {0x100000000, 0, 7})},
          bits_of(kU64, {0xffffffff, ~std::uint64_t{0}, 0})));
  cases.push_back(
      use("convert", "f32_to_i64", {vector_of(kF32, {1e19, -2.75, NAN, 3e12})},
          bits_of(kI64, {0x7fffffffffffffff, ~std::uint64_t{1}, 0, std::uint64_t{3000000053248}})));
}

void add_floats(std::vector<OpCase>& cases) {
  // 1 + 2^-53 is half way to the next number, to even; with a little more it is that number.
  const double half = std::ldexp(1, -53);
  cases.push_back(use("add", "f64",
                      {vector_of(kF64, {1, 1, 0.1, INFINITY}),
                       vector_of(kF64, {half, std::nextafter(half, 1), 0.2, -INFINITY})},
                      vector_of(kF64, {1, 1 + 2 * half, 0.30000000000000004, NAN})));
  cases.push_back(use("sqrt", "f64", {vector_of(kF64, {2, -0.0, -1})},
                      vector_of(kF64, {1.4142135623730951, -0.0, NAN})));
  // 1 + 2^-8 is half way between two bf16, to even; 1.5 and 2^-7 fit together.
  cases.push_back(use("add", "bf16",
                      {bits_of(kBF16, {0x3f80, 0x3f81, 0x3fc0, 0x7f7f, 0x0001}),
                       bits_of(kBF16, {0x3b80, 0x3b80, 0x3c00, 0x7f7f, 0x0001})},
                      bits_of(kBF16, {0x3f80, 0x3f82, 0x3fc1, 0x7f80, 0x0002})));
  // Sums keep what bf16 cannot hold on the way.
  OpCase sum = use("reduce", "bf16", {vector_of(kBF16, {256, 1, 1, 1, 1}), numbers(kBF16, {}, {0})},
                   numbers(kBF16, {}, {260}));
  sum.attributes = {{"dimensions", std::vector<std::int64_t>{0}}};
  sum.regions = {binary_reducer("stablehlo.add", kBF16)};
  cases.push_back(std::move(sum));
}

}  // namespace

std::vector<OpCase> wide_cases() {
  std::vector<OpCase> cases;
  add_complex(cases);
  add_integers(cases);
  add_floats(cases);
  return cases;
}

}  // namespace superstep
