#pragma once

#include <cstdint>

namespace superstep {

/// Bytes that this process can still take: what the host has available, within the limit of the
/// process's address space. UINT64_MAX where the host does not say.
[[nodiscard]] std::uint64_t available_memory();

}  // namespace superstep
