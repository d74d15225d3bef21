#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace superstep {

/// A sequence that is there several times, without overlaps.
struct Repeat {
  std::vector<std::size_t> begins;  ///< ascending
  std::size_t length = 0;

  [[nodiscard]] std::size_t times() const { return begins.size(); }
};

/// Which repeats are looked for.
enum class RepeatKind {
  kTandem,  ///< what follows itself
  kAny,     ///< what is anywhere
};

/// Repeated sequences of equal hashes.
[[nodiscard]] std::vector<Repeat> repeats_of(std::span<const std::uint64_t> hashes,
                                             RepeatKind kind);

}  // namespace superstep
