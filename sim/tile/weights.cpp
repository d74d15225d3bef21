#include "sim/tile/weights.h"

#include <xmmintrin.h>

#include <bit>

#include "base/float16.h"

namespace superstep {

void Weights::spread() {
  const auto* const inputs = reinterpret_cast<const float*>(raw_.data());
  for (std::size_t channel = 0; channel < 16; channel += 4) {
    for (std::size_t input = 0; input < 8; input += 4) {
      const float* const from = inputs + 8 * channel + input;
      __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + 8), c = _mm_loadu_ps(from + 16),
             d = _mm_loadu_ps(from + 24);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_store_ps(&singles_[input][channel], a);
      _mm_store_ps(&singles_[input + 1][channel], b);
      _mm_store_ps(&singles_[input + 2][channel], c);
      _mm_store_ps(&singles_[input + 3][channel], d);
    }
  }
  has_halves_ = false;
}

void Weights::make_halves() const {
  for (std::uint32_t number = 0; number < kCount; ++number) {
    const auto halves = floats_of_halves(std::bit_cast<std::array<std::uint16_t, 4>>(raw_[number]));
    for (std::uint32_t k = 0; k < 4; ++k) {
      halves_[number % 4][16 * k + number / 4] = canonical(halves[k]);
    }
  }
  has_halves_ = true;
}

}  // namespace superstep
