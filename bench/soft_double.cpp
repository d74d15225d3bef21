// Random pairs of doubles a second through the software arithmetic that tiles have for f64, each
// result compared with the host's.

#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <random>

#include "compiler/passes/split/host_word.h"
#include "compiler/passes/split/soft_double.h"

namespace superstep::split {
namespace {

std::uint64_t canonical_bits(double value) {
  return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value);
}

/// Pairs of any bits, and pairs of like exponents by turns.
void pairs(benchmark::State& state) {
  std::mt19937_64 random(static_cast<std::uint64_t>(state.range(0)));
  std::int64_t done = 0;
  for (auto _ : state) {
    const std::uint64_t a = random();
    std::uint64_t b = random();
    if (done++ % 2 == 1) {
      b = (b & 0x800fffffffffffff) | ((a + ((random() % 5) << 52)) & 0x7ff0000000000000);
    }
    const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
    const bool agrees = number(add_double(wide(a), wide(b))) == canonical_bits(x + y) &&
                        number(subtract_double(wide(a), wide(b))) == canonical_bits(x - y) &&
                        number(multiply_double(wide(a), wide(b))) == canonical_bits(x * y) &&
                        number(divide_double(wide(a), wide(b))) == canonical_bits(x / y) &&
                        number(sqrt_double(wide(a))) == canonical_bits(std::sqrt(x)) &&
                        below_double(wide(a), wide(b)).value == (x < y);
    if (!agrees) return state.SkipWithError("differs from the host");
  }
  state.SetItemsProcessed(done);
}
BENCHMARK(pairs)->Arg(1)->Iterations(100'000'000);

}  // namespace
}  // namespace superstep::split
