#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/exchange/port_event.h"

namespace superstep {

/// A run of bytes of tile memory.
struct SentRange {
  std::uint32_t address = 0;
  std::uint64_t bytes = 0;

  bool operator==(const SentRange&) const = default;
};

/// Adds bytes in the order in which they go; neighbours become one, so that how a row is cut into
/// sends does not matter.
void add_sent(std::vector<SentRange>& ranges, std::uint32_t address, std::uint64_t bytes);

/// What a tile did in a visit that the stream table does not say.
struct PortFault {
  std::uint64_t cycle = 0;
  std::uint32_t pc = 0;
  std::string cause;
};

/// Compares what a tile's ports did in a visit with what the stream table expects of it: what it
/// sends, and whether it receives.
[[nodiscard]] std::optional<PortFault> check_port(std::span<const PortEvent> events,
                                                  const std::vector<SentRange>& sends,
                                                  bool receives);

}  // namespace superstep
