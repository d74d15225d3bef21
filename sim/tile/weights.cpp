#include "sim/tile/weights.h"

#include "base/float16.h"

namespace superstep {

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
