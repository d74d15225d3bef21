#pragma once

#include <cstdint>

namespace superstep::supervisor {

// The main registers of a supervisor. Each has one use in a whole program; 14 has none.

/// Banks of registers that a launch takes, from register 0 on: one is set while another is used.
inline constexpr std::uint32_t kBanks = 2, kBankRegisters = 5;
/// Written where a row needs another word in front of it, and never read.
inline constexpr std::uint32_t kPadding = 10;
/// The address of the number of calls until the host has sent it, then the calls that follow.
inline constexpr std::uint32_t kTripCount = 11;
/// Where a procedure returns to.
inline constexpr std::uint32_t kLink = 12;
/// The word that decides where a loop or branch goes on.
inline constexpr std::uint32_t kControl = 13;

static_assert(kBanks * kBankRegisters <= kPadding);

}  // namespace superstep::supervisor
