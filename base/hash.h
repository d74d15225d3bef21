#pragma once

#include <cstdint>

namespace superstep {

/// What a hash of 64 bits begins with.
inline constexpr std::uint64_t kFnv1aBasis = 0xcbf29ce484222325;

/// FNV-1a [Fowler, Noll, Vo: draft-eastlake-fnv, section 5]: the hash of one more unit, a byte as
/// published or a word, which is faster. Equal units give equal hashes on any host and for good:
/// codelets are named by it, in images and traces. The hashes of std and Boost may change with
/// their versions.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::uint64_t hash, std::uint64_t unit) {
  return (hash ^ unit) * 0x100000001b3;
}
/// The same in 32 bits.
[[nodiscard]] constexpr std::uint32_t fnv1a_32(std::uint32_t hash, std::uint32_t unit) {
  return (hash ^ unit) * 0x01000193;
}

}  // namespace superstep
