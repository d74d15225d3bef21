#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/timing.h"
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

/// What a tile did in a visit that cannot be.
struct PortFault {
  std::uint64_t cycle = 0;
  std::uint32_t pc = 0;
  std::string cause;
};

/// What the exchange ports of a tile were told in a visit to the host. At its beginning the mux is
/// idle, as at that of a phase. No worker runs in a visit, so that memory still holds what was sent
/// until packets arrive.
class VisitPorts {
 public:
  /// Of a visit that begins at `opening`.
  VisitPorts(const ExchangeItem& item, std::span<const PortEvent> events, std::uint64_t opening);

  /// Whether each send went to the host, and all of them to what `expected` says.
  [[nodiscard]] std::optional<PortFault> check_sends(const std::vector<SentRange>& expected) const;
  /// Whether a packet can end in a cycle: the mux selects the host then. The cause begins with what
  /// the packet does.
  [[nodiscard]] std::optional<PortFault> check_arrival(std::uint64_t cycle) const;
  /// The cycle after the last of some words of tile memory has left; 0 when none of them does.
  [[nodiscard]] std::uint64_t sent_by(std::uint32_t address, std::uint32_t bytes) const;

  /// Takes the next `bytes` bytes that were sent; the cycle after the last of them.
  std::uint64_t take(std::uint32_t bytes);

 private:
  struct Send {
    std::uint64_t cycle = 0;
    std::uint32_t address = 0, words = 0;
  };
  struct Selection {
    std::uint64_t cycle = 0;
    std::uint32_t source = 0, pc = 0;
  };

  ExchangeItem item_;
  std::vector<Send> sends_;
  std::vector<Selection> selections_;
  std::optional<PortFault> fault_;  ///< the first send while the mux selects another source
  std::uint64_t last_cycle_;        ///< in which they were told something
  std::uint32_t last_pc_ = 0;
  std::size_t next_ = 0;     ///< send that is taken from
  std::uint32_t taken_ = 0;  ///< of its words
};

}  // namespace superstep
