#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "isa/machine_config.h"

namespace superstep {

/// Steps of the trace are those of the program and, last, the code between steps.
constexpr std::string_view kControlStep = "control";
constexpr std::uint8_t kControlKind = 3;  ///< no StepInfo::Kind

// The names of enumerations.
inline constexpr std::string_view kStepKinds[] = {"compute", "exchange", "host", "control",
                                                  "loop",    "branch",   "arm"};
inline constexpr std::string_view kPipes[] = {"main", "aux"};
inline constexpr std::string_view kDirections[] = {"to_device", "to_host"};
inline constexpr std::string_view kEventKinds[] = {"warning", "limit", "trap", "oom",
                                                   "interrupted"};

/// A unit of machine files as traces have it.
[[nodiscard]] constexpr std::string_view symbol_of(Unit unit) {
  constexpr std::string_view kSymbols[] = {"1", "B", "B", "Hz", "ns", "B/s", "cycle", "1"};
  return kSymbols[static_cast<std::size_t>(unit)];
}

}  // namespace superstep
