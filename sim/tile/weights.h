#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "isa/values.h"

namespace superstep {

/// The common weights of a tile (CWEI): 16 channels x 4 words of 64 bits. The f32 values that the
/// AMP instructions multiply with are made when they are first needed.
class Weights {
 public:
  static constexpr std::uint32_t kCount = 64;

  /// Writes CWEI_m_n, number 4 m + n.
  void set(std::uint32_t number, std::uint64_t value) {
    raw_[number] = value;
    has_halves_ = has_singles_ = false;
  }
  /// Writes two, from `number` on.
  void set_two(std::uint32_t number, const isa::U128& values) {
    std::memcpy(&raw_[number], &values, sizeof(values));
    has_halves_ = has_singles_ = false;
  }
  void clear() { *this = Weights(); }

  template <class Archive>
  void state(Archive& archive) {
    auto& [raw, singles, halves, has_singles, has_halves] = *this;
    archive(raw);
    if constexpr (Archive::kReads) has_singles = has_halves = false;
  }

  [[nodiscard]] std::uint64_t raw(std::uint32_t number) const { return raw_[number]; }
  /// Of one of 4 phases: input k, channel c at 16 k + c.
  [[nodiscard]] const float* halves(std::uint32_t phase) const {
    if (!has_halves_) [[unlikely]]
      make_halves();
    return halves_[phase].data();
  }
  /// Of one of 8 phases, by channel.
  [[nodiscard]] const float* singles(std::uint32_t phase) const {
    if (!has_singles_) [[unlikely]]
      make_singles();
    return singles_[phase].data();
  }

 private:
  void make_singles() const;
  void make_halves() const;

  std::array<std::uint64_t, kCount> raw_{};
  alignas(64) mutable std::array<std::array<float, 16>, 8> singles_;  ///< if `has_singles_`
  mutable std::array<std::array<float, 64>, 4> halves_;               ///< if `has_halves_`
  mutable bool has_singles_ = false, has_halves_ = false;
};

}  // namespace superstep
