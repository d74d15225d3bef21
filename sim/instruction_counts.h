#pragma once

#include <cstdint>

namespace superstep {

/// Instructions that workers issue, by class; a bundle counts as two.
struct InstructionCounts {
  std::uint64_t all = 0;
  std::uint64_t aux = 0;                ///< on the auxiliary pipe; all others are on the main pipe
  std::uint64_t amp = 0;                ///< of those of the auxiliary pipe: on the AMP units
  std::uint64_t loads = 0, stores = 0;  ///< of those of the main pipe; some are both
  std::uint64_t branches = 0;           ///< of those of the main pipe; taken or not

  [[nodiscard]] constexpr std::uint64_t main() const { return all - aux; }

  constexpr InstructionCounts& operator+=(const InstructionCounts& other) {
    all += other.all;
    aux += other.aux;
    amp += other.amp;
    loads += other.loads;
    stores += other.stores;
    branches += other.branches;
    return *this;
  }
  friend constexpr InstructionCounts operator-(const InstructionCounts& a,
                                               const InstructionCounts& b) {
    return {a.all - b.all,     a.aux - b.aux,       a.amp - b.amp,
            a.loads - b.loads, a.stores - b.stores, a.branches - b.branches};
  }
  friend constexpr InstructionCounts operator*(const InstructionCounts& a, std::uint64_t times) {
    return {a.all * times,   a.aux * times,    a.amp * times,
            a.loads * times, a.stores * times, a.branches * times};
  }
  bool operator==(const InstructionCounts&) const = default;
};

}  // namespace superstep
