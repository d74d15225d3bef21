#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/float16.h"
#include "isa/values.h"

namespace superstep {

/// The common weights of a tile (CWEI): 16 channels x 4 words of 64 bits, kept as the f32 values
/// that the AMP instructions multiply with.
class Weights {
 public:
  static constexpr std::uint32_t kCount = 64;

  /// Writes CWEI_m_n, number 4 m + n.
  void set(std::uint32_t number, std::uint64_t value) {
    raw_[number] = value;
    const std::uint32_t channel = number / 4, slice = number % 4;
    const auto halves =
        std::bit_cast<Four>(floats_of_halves(std::bit_cast<std::array<std::uint16_t, 4>>(value)));
    // At once, and without a branch: words that are meant as f32 are NaN now and then.
    const auto is_number = std::bit_cast<FourBits>(halves == halves);
    const auto settled = std::bit_cast<std::array<float, 4>>(
        (std::bit_cast<FourBits>(halves) & is_number) | (kFloatNan & ~is_number));
    for (std::uint32_t k = 0; k < 4; ++k) halves_[slice][16 * k + channel] = settled[k];
    singles_[2 * slice][channel] = std::bit_cast<float>(isa::low(value));
    singles_[2 * slice + 1][channel] = std::bit_cast<float>(isa::high(value));
  }
  void clear() { *this = Weights(); }

  template <class Archive>
  void state(Archive& archive) {
    auto& [raw, halves, singles] = *this;
    archive(raw, halves, singles);
  }

  [[nodiscard]] std::uint64_t raw(std::uint32_t number) const { return raw_[number]; }
  /// Of one of 4 phases: input k, channel c at 16 k + c.
  [[nodiscard]] const float* halves(std::uint32_t phase) const { return halves_[phase].data(); }
  /// Of one of 8 phases, by channel.
  [[nodiscard]] const float* singles(std::uint32_t phase) const { return singles_[phase].data(); }

 private:
  using Four = float __attribute__((vector_size(16)));
  using FourBits = std::uint32_t __attribute__((vector_size(16)));

  std::array<std::uint64_t, kCount> raw_{};
  alignas(64) std::array<std::array<float, 64>, 4> halves_{};
  std::array<std::array<float, 16>, 8> singles_{};
};

}  // namespace superstep
