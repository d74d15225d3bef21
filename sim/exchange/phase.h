#pragma once

#include <cstdint>
#include <vector>

#include "sim/exchange/fabric.h"

namespace superstep {

/// Fewer ports are not worth another thread.
inline constexpr std::size_t kPortsARange = 64;

/// Bytes that a phase copies from one tile memory into another, as offsets in them.
struct WordCopy {
  std::uint32_t source = 0;  ///< port
  std::uint32_t from = 0, to = 0;
  std::uint32_t bytes = 0;
  std::uint64_t sent = 0;  ///< cycle in which the first word leaves; the others follow it

  bool operator==(const WordCopy&) const = default;
};

/// What becomes of the port events of a phase. Its cycles count from the first of them, so that it
/// holds whenever they are given again.
struct ResolvedPhase {
  std::vector<PortResult> ports;
  std::vector<WordCopy> copies;         ///< by receiving port, then in order of arrival
  std::vector<std::size_t> copies_end;  ///< by port: past the last of its copies
  bool overwrites = false;              ///< a tile receives into bytes that it sends

  bool operator==(const ResolvedPhase&) const = default;
};

}  // namespace superstep
