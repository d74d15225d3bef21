// Transforms of every kind and many lengths against their sums, term by term.

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "compiler/ops/elements.h"
#include "tests/ops/on_machine.h"
#include "tests/ops/op_case.h"

namespace superstep {
namespace {

using enum DType;
using Complex = std::complex<double>;

HostTensor random_numbers(const TensorType& type) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  HostTensor tensor(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    const double real = normal(random);
    write_number(tensor, i, Complex(real, normal(random)));
  }
  return tensor;
}

struct Transform {
  std::string kind;
  std::int64_t batch, length;

  [[nodiscard]] bool is_half() const { return kind == "IRFFT"; }
  [[nodiscard]] TensorType operand() const {
    return {kind == "RFFT" ? kF32 : kC64, {batch, is_half() ? length / 2 + 1 : length}};
  }
  [[nodiscard]] TensorType result() const {
    return {is_half() ? kF32 : kC64, {batch, kind == "RFFT" ? length / 2 + 1 : length}};
  }
  [[nodiscard]] OpCase use(const HostTensor& operand) const {
    return {"stablehlo.fft",
            "",
            {operand},
            {{"fft_type", kind}, {"fft_length", std::vector<std::int64_t>{length}}},
            {},
            0,
            {},
            {result()}};
  }
};

/// Element k of the transform of row `row`.
Complex sum_of(const Transform& transform, const HostTensor& operand, std::int64_t row,
               std::int64_t k) {
  const std::int64_t n = transform.length, columns = operand.type.shape[1];
  const bool is_inverse = transform.kind[0] == 'I';
  const auto element = [&](std::int64_t j) {
    return read_number(operand, static_cast<std::size_t>(row * columns + j));
  };
  Complex sum = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    Complex term = j < columns ? element(j) : std::conj(element(n - j));
    if (transform.is_half() && (2 * j == n || j == 0)) term = term.real();
    const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) /
                         static_cast<double>(n) * (is_inverse ? 1 : -1);
    sum += term * std::polar(1.0, angle);
  }
  return is_inverse ? sum / static_cast<double>(n) : sum;
}

/// |found - expected| by |expected|, of all elements together.
double distance(const HostTensor& found, const Transform& transform, const HostTensor& operand) {
  EXPECT_EQ(found.type, transform.result());
  double difference = 0, size = 0;
  const std::int64_t columns = found.type.shape[1];
  for (std::int64_t i = 0; i < found.type.elements(); ++i) {
    const Complex expected = sum_of(transform, operand, i / columns, i % columns);
    difference += std::norm(read_number(found, static_cast<std::size_t>(i)) - expected);
    size += std::norm(expected);
  }
  return std::sqrt(difference / size);
}

class Fourier : public ::testing::TestWithParam<const char*> {};

TEST_P(Fourier, IsTheSumForEveryLength) {
  // One product up to 64, and for primes up to 256; factors of both sorts; convolutions.
  for (const std::int64_t length :
       {1, 2, 3, 4, 5, 12, 63, 64, 65, 67, 70, 72, 81, 128, 134, 257, 514}) {
    const Transform transform{GetParam(), 2, length};
    const HostTensor operand = random_numbers(transform.operand());
    const Graph graph = graph_of(transform.use(operand));
    EXPECT_LT(distance(evaluate(graph, std::vector{operand})[0], transform, operand), 6e-8)
        << length;
    EXPECT_LT(distance(evaluate_split(graph, {operand})[0], transform, operand), 5e-7) << length;
  }
}

TEST_P(Fourier, IsTheSumOnMachines) {
  for (const std::int64_t length : {9, 67, 80, 257}) {
    const Transform transform{GetParam(), 3, length};
    const HostTensor operand = random_numbers(transform.operand());
    const Graph graph = graph_of(transform.use(operand));
    EXPECT_LT(distance(run_on("tiny4", graph, std::vector{operand})[0], transform, operand), 5e-7)
        << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Fourier, ::testing::Values("FFT", "IFFT", "RFFT", "IRFFT"),
                         [](const auto& info) { return std::string(info.param); });

TEST(FourierOfHalf, DoesNotReadImaginaryPartsOfTheEnds) {
  for (const std::int64_t length : {1, 2, 8, 130}) {
    const Transform transform{"IRFFT", 1, length};
    HostTensor operand = random_numbers(transform.operand()), changed = operand;
    const Graph graph = graph_of(transform.use(operand));
    const auto change = [&](std::int64_t k) {
      const auto i = static_cast<std::size_t>(k);
      write_complex(changed, i, {read_complex(operand, i).real(), NAN});
    };
    change(0);
    change(length / 2);
    const std::vector<HostTensor> expected = evaluate_split(graph, {operand});
    EXPECT_TRUE(close(evaluate_split(graph, {changed})[0], expected[0], 0)) << length;
    EXPECT_TRUE(close(evaluate(graph, std::vector{changed})[0],
                      evaluate(graph, std::vector{operand})[0], 0))
        << length;
  }
}

}  // namespace
}  // namespace superstep
