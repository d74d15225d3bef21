#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace superstep::isa {

/// What a context can do with a control or status register.
enum class Access : std::uint8_t {
  kAbsent,      ///< the machine has no such register there
  kUnmodelled,  ///< it has; here reading and writing it are traps
  kRead,
  kReadWrite,
};

/// A control or status register.
struct ControlRegister {
  std::string_view name;  ///< without `$`
  std::uint32_t number = 0;
  Access worker = Access::kAbsent, supervisor = Access::kAbsent;
  std::string_view summary;

  /// Whether `uget` and `uput` reach it, not `get` and `put`.
  [[nodiscard]] constexpr bool is_upper() const { return number >= 256; }
};

/// All of them, by number. Names, numbers and who has them: graphcore/llvm-project-fork
/// llvm/test/MC/Colossus/csrs_ipu2.s and csrs_ipu21.s; osmarks/ipu-stack for SSR, CR, TILE_ID,
/// SCOUNT_L, SCOUNT_U, the worker bases and the registers of the exchange.
[[nodiscard]] std::span<const ControlRegister> control_registers();

/// What a worker can do with the register of a number; the supervisor.
[[nodiscard]] Access worker_access(std::uint32_t number);
[[nodiscard]] Access supervisor_access(std::uint32_t number);

/// Null when there is none of that name.
[[nodiscard]] const ControlRegister* find_control_register(std::string_view name);

}  // namespace superstep::isa
