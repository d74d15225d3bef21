#pragma once

#include <cstdint>
#include <limits>

namespace superstep {

/// One timed action of a tile's exchange ports, in cycles since the run began.
struct PortEvent {
  enum class Kind : std::uint8_t {
    kSend,     ///< `words` words from `value` on the bus from `cycle`, item by item
    kMux,      ///< the input mux selects source `value` from `cycle`
    kPointer,  ///< the incoming pointer becomes address `value` at `cycle`
  };
  Kind kind = Kind::kSend;
  std::uint8_t direction = 0;  ///< as the instruction encodes it
  std::uint32_t pc = 0;
  std::uint64_t cycle = 0;
  std::uint32_t value = 0;
  std::uint32_t words = 0;

  /// Of what it sends, or where it has words received; the highest of all of a mux.
  [[nodiscard]] std::uint32_t lowest_address() const {
    return kind == Kind::kMux ? std::numeric_limits<std::uint32_t>::max() : value;
  }

  bool operator==(const PortEvent&) const = default;
};

/// A word as it left its tile, which may have written over it since.
struct SentWord {
  std::uint64_t cycle = 0;
  std::uint32_t address = 0;
  std::uint32_t value = 0;
};

}  // namespace superstep
