#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"

namespace superstep {

/// What is at fault, in one word (docs/report.md).
enum class TrapKind : std::uint8_t {
  kProgram,
  kUnmodelled,
  kMachine,
  kRace,
  kDeadlock,
  kLimit,
  kHost,
};

struct TrapKindInfo {
  std::string_view name, summary;
};
/// By number.
[[nodiscard]] std::span<const TrapKindInfo> trap_kinds();
[[nodiscard]] std::string_view name_of(TrapKind kind);

/// Why a tile stopped: names cycle, superstep, tile, context and pc.
struct Trap {
  Cycles cycle;
  std::uint64_t superstep = 0;
  TileId tile{};
  std::string context;  ///< `supervisor`, `worker 2`, `exchange`, `host link` (its packets), `host`
                        ///< (callbacks, feeds)
  std::uint32_t pc = 0;
  std::string cause;
  TrapKind kind = TrapKind::kProgram;

  [[nodiscard]] std::string text() const;
};

}  // namespace superstep
