#pragma once

#include <cstdint>

namespace superstep {

/// Bytes that this process can still take: what the host has available, within the limit of the
/// process's address space. UINT64_MAX where the host does not say.
[[nodiscard]] std::uint64_t available_memory();

/// Keeps what is freed for what is allocated next, also in large pieces: compiling takes and frees
/// the same memory many times, and each time the host would clear it. `malloc_trim` gives it back.
void keep_freed_memory();

}  // namespace superstep
