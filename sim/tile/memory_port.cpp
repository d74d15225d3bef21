#include "sim/tile/memory_port.h"

#include <fmt/format.h>

#include <algorithm>

namespace superstep {

std::string named_at(const char* problem, std::uint32_t address) {
  return fmt::format("{}, {:#x}", problem, address);
}

std::string named_at(const char* problem, std::uint32_t one, std::uint32_t other) {
  return fmt::format("{}, {:#x} and {:#x}", problem, std::min(one, other), std::max(one, other));
}

}  // namespace superstep
