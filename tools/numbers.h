#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"

namespace superstep {

/// 1234567 as 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t n);
[[nodiscard]] inline std::string grouped(Cycles n) { return grouped(n.value()); }

/// Cycles of a clock as time with a unit that fits: `5.4 us`; empty without a clock.
[[nodiscard]] std::string time_text(Cycles cycles, std::uint64_t clock_hz);

/// A number of bytes with a unit that fits: `96 B`, `1.5 KiB`.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace superstep
