#pragma once

#include <cstdint>

namespace superstep {

/// Bytes that this process can still take: what the host has available, within the limit of the
/// process's address space. UINT64_MAX where the host does not say.
[[nodiscard]] std::uint64_t available_memory();

/// Gives the main thread's allocations huge pages where the host has them, and keeps what is freed
/// until the process ends: for a process that takes much memory and ends soon.
void allocate_in_huge_pages();

}  // namespace superstep
