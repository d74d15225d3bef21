#pragma once

#include <cstdint>

namespace superstep::isa {

/// Of a word that is half of a bundle, unless its pattern has the bit.
inline constexpr std::uint32_t kCoIssue = 0x80000000;

}  // namespace superstep::isa
