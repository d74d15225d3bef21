#pragma once

#include <array>
#include <cstdint>

namespace superstep::supervisor {

// The main registers of a supervisor. Each has one use in a whole program, except between
// supersteps, where no launch but the next one is prepared.

/// Banks of registers that a launch takes, from register 0 on: one is set while another is used.
inline constexpr std::uint32_t kBanks = 2, kBankRegisters = 5;
/// Written where a row needs another word in front of it, and never read.
inline constexpr std::uint32_t kPadding = 10;
/// Where a procedure returns to.
inline constexpr std::uint32_t kLink = 12;
/// What scalars are computed in: those of the second bank, since the launch that is prepared takes
/// the first, 11 and 13; 14 cannot be written. In `main`, where nothing else has the link, that
/// too.
inline constexpr std::array<std::uint32_t, 7> kScalarsOfProcedures{5, 6, 7, 8, 9, 11, 13};
inline constexpr std::array<std::uint32_t, 8> kScalars{5, 6, 7, 8, 9, 11, kLink, 13};

static_assert(kBanks * kBankRegisters <= kPadding);
static_assert(kScalars.front() >= kBankRegisters);

}  // namespace superstep::supervisor
