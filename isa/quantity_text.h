#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "isa/machine_config.h"

namespace superstep {

/// A number as a machine file has it: `"624 KiB"`, `0x4c000`, `6`.
[[nodiscard]] std::string quantity_text(Unit unit, std::uint64_t value);

/// Some number of a unit, for messages that ask for one.
[[nodiscard]] std::string example_of(Unit unit);

/// Reads "624 KiB"; an error text when it is no quantity of this unit.
[[nodiscard]] std::variant<double, std::string> parse_quantity(Unit unit, std::string_view text);

}  // namespace superstep
