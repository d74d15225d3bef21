#pragma once

#include <cstdint>

#include "isa/machine_config.h"

namespace superstep {

/// Input mux sources that are not a tile; machine code has them as `mux_code` says.
constexpr std::uint32_t kMuxHost = 0x2000;
constexpr std::uint32_t kMuxIdle = 0x2040;

/// What mk2 calls them (osmarks/ipu-stack crates/ipu-target/src/exchange.rs).
constexpr std::uint32_t kMk2MuxHost = 0x600;
constexpr std::uint32_t kMk2MuxIdle = 0x640;

/// A source as machine code names it, and back.
[[nodiscard]] constexpr std::uint32_t mux_code(Encoding encoding, std::uint32_t source) {
  if (encoding == Encoding::kWide || source < kMuxHost) return source;
  return source == kMuxHost ? kMk2MuxHost : kMk2MuxIdle;
}
[[nodiscard]] constexpr std::uint32_t mux_source(Encoding encoding, std::uint32_t code) {
  if (encoding == Encoding::kWide || code < kMk2MuxHost) return code;
  return code == kMk2MuxHost ? kMuxHost : code == kMk2MuxIdle ? kMuxIdle : code;
}

/// In the wide encoding what a word of mk2 has no room for goes into bits that mean little there:
/// the highest of a count is that of an address in the same word, or of the pointer in the next;
/// selectors are the highest of a pointer, a source or, where both change, an address.
constexpr unsigned kMk2PointerBits = 18, kMk2MuxBits = 13, kWideCountBits = 5;

/// Exchange CSRs of the supervisor (osmarks/ipu-stack crates/ipu-target/src/exchange.rs).
constexpr std::uint32_t kIncomingMuxCsr = 0xa0;
constexpr std::uint32_t kIncomingDcountCsr = 0xa6;
constexpr std::uint32_t kOutgoingBaseCsr = 0xa7;

/// Send control of an instruction: the directions its words take; 32-bit items.
constexpr std::uint32_t kSendNowhere = 0;
constexpr std::uint32_t kSendBothWays = 3;
constexpr std::uint32_t kSendPairedBit = 4;  ///< 64-bit items

/// Control selectors of `sendpic`.
constexpr std::uint32_t kSendPicMux = 0;
constexpr std::uint32_t kSendPicPointer = 2;

/// Field limits of the exchange instructions, in events and words.
constexpr std::uint32_t kMaxDelay = 1U << 19;
constexpr std::uint32_t kMaxPointerDelay = 1U << 7;
constexpr std::uint32_t kMaxMuxDelay = 1U << 12;
constexpr std::uint32_t kMaxSendOffset = 4096;
/// Words of one send that is no `sendoff`.
[[nodiscard]] constexpr std::uint32_t max_send(Encoding encoding) {
  return encoding == Encoding::kWide ? 1U << kWideCountBits : 64;
}

}  // namespace superstep
