#pragma once

#include <cstdint>

namespace superstep {

/// Input mux sources that are not a tile (osmarks/ipu-stack crates/ipu-target/src/exchange.rs).
constexpr std::uint32_t kMuxHost = 0x600;
constexpr std::uint32_t kMuxIdle = 0x640;

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

}  // namespace superstep
