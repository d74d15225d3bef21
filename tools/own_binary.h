#pragma once

#include <string>

namespace superstep {

/// A content hash of the binary that this process runs, to be compared with others: its build id,
/// which is what the linker hashed it to, else the SHA-256 of its file.
[[nodiscard]] std::string hash_of_own_binary();

}  // namespace superstep
