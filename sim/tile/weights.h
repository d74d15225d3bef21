#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "isa/values.h"

namespace superstep {

/// The common weights of a tile (CWEI): 16 channels x 4 words of 64 bits, kept also as the f32
/// values that the AMP instructions multiply with; those of f16 are made when they are first
/// needed.
class Weights {
 public:
  static constexpr std::uint32_t kCount = 64;

  /// Writes CWEI_m_n, number 4 m + n.
  void set(std::uint32_t number, std::uint64_t value) {
    raw_[number] = value;
    has_halves_ = false;
    const std::uint32_t channel = number / 4, slice = number % 4;
    singles_[2 * slice][channel] = std::bit_cast<float>(isa::low(value));
    singles_[2 * slice + 1][channel] = std::bit_cast<float>(isa::high(value));
  }
  /// Writes two of many, from `number` on; `spread` behind the last.
  void set_words(std::uint32_t number, const isa::U128& values) {
    std::memcpy(&raw_[number], &values, sizeof(values));
  }
  /// Makes the values of all words.
  void spread();
  void clear() { *this = Weights(); }

  template <class Archive>
  void state(Archive& archive) {
    auto& [raw, singles, halves, has_halves] = *this;
    archive(raw, singles);
    if constexpr (Archive::kReads) has_halves = false;
  }

  [[nodiscard]] std::uint64_t raw(std::uint32_t number) const { return raw_[number]; }
  /// Of one of 4 phases: input k, channel c at 16 k + c.
  [[nodiscard]] const float* halves(std::uint32_t phase) const {
    if (!has_halves_) [[unlikely]]
      make_halves();
    return halves_[phase].data();
  }
  /// Of one of 8 phases, by channel.
  [[nodiscard]] const float* singles(std::uint32_t phase) const { return singles_[phase].data(); }

 private:
  void make_halves() const;

  std::array<std::uint64_t, kCount> raw_{};
  alignas(64) std::array<std::array<float, 16>, 8> singles_{};
  mutable std::array<std::array<float, 64>, 4> halves_;  ///< of `raw_`, when `has_halves_`
  mutable bool has_halves_ = false;
};

}  // namespace superstep
